//! The rules of a session's user, as they are kept and as the engine knows them.

use herma_archive::constraint::ConstraintRow;
use herma_context::constraints::{Constraint, Scope, Source, State as Standing};

use crate::data::error::Outcome;
use crate::service::session::Session;
use crate::wire::state::State;

/// The words for what a row has.
const ACTIVE: &str = "active";
const REMOVED: &str = "removed";
const REVOKED: &str = "revoked";
const DONE: &str = "done";
const STANDING: &str = "standing";
const ONCE: &str = "once";
const EXPLICIT: &str = "explicit";
const FOUND: &str = "found";

/// All rules that a session ever had. Without an archive it has none.
pub(crate) async fn load(state: &State, session: &Session) -> Outcome<Vec<Constraint>> {
    if !state.archive.is_in_use() {
        return Ok(Vec::new());
    }
    let id = session.id.clone();
    let rows = state.archive.read(move |reader| reader.constraints(&id)).await?;
    Ok(rows.into_iter().map(read).collect())
}

/// A rule as it is kept.
pub(crate) fn row(rule: &Constraint) -> ConstraintRow {
    let scope = match rule.scope {
        Scope::Standing => STANDING,
        Scope::Once => ONCE,
    };
    let source = match rule.source {
        Source::Explicit => EXPLICIT,
        Source::Found => FOUND,
    };
    let state = match rule.state {
        Standing::Active => ACTIVE,
        Standing::Removed => REMOVED,
        Standing::Revoked => REVOKED,
        Standing::Done => DONE,
    };
    let [scope, source, state] = [scope, source, state].map(str::to_owned);
    ConstraintRow { id: rule.id.clone(), text: rule.text.clone(), scope, source, at: rule.at, state }
}

/// A rule that was kept. One whose state another version named is not in force here.
pub(crate) fn read(row: ConstraintRow) -> Constraint {
    Constraint {
        id: row.id,
        text: row.text,
        scope: if row.scope == ONCE { Scope::Once } else { Scope::Standing },
        source: if row.source == EXPLICIT { Source::Explicit } else { Source::Found },
        at: row.at,
        state: match row.state.as_str() {
            ACTIVE => Standing::Active,
            REVOKED => Standing::Revoked,
            DONE => Standing::Done,
            _ => Standing::Removed,
        },
    }
}

/// Whether a person removed it.
pub(crate) fn is_removed(row: &ConstraintRow) -> bool {
    row.state == REMOVED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_comes_back_as_it_was_kept() {
        for state in [Standing::Active, Standing::Removed, Standing::Revoked, Standing::Done] {
            for (scope, source) in [(Scope::Standing, Source::Found), (Scope::Once, Source::Explicit)] {
                let rule = Constraint { state, ..Constraint::new("never push", scope, source, 1.5) };
                assert_eq!(read(row(&rule)), rule);
            }
        }
    }
}
