//! The rules of a session's user, in the archive and in the engine.

use std::sync::Arc;

use herma_archive::constraint::ConstraintRow;
use herma_context::Message;
use herma_context::constraints::{self, Constraint, Scope, Source, State as Standing};

use super::CompressionService;
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::owners::archive::{ACTIVE, Added, REMOVED};
use crate::owners::blocking::blocking;
use crate::service::session::Session;

/// The longest rule, in chars.
const CHARS: usize = 2_000;

/// The largest number of rules that a session can have in force.
const MOST: usize = 500;

/// The words for the fields of a row.
const REVOKED: &str = "revoked";
const DONE: &str = "done";
const STANDING: &str = "standing";
const ONCE: &str = "once";
const EXPLICIT: &str = "explicit";
const FOUND: &str = "found";

impl CompressionService {
    /// Returns all rules that a session ever had; none without an archive.
    pub(super) async fn rules(&self, session: &Session) -> Outcome<Vec<Constraint>> {
        let rows = self.archive.constraints(session.id.clone()).await?;
        Ok(rows.into_iter().map(read).collect())
    }

    /// Returns the rules of a session that are in force.
    pub(crate) async fn active_constraints(&self, session: &Session) -> Outcome<Vec<Constraint>> {
        let mut rules = self.rules(session).await?;
        rules.retain(|rule| rule.state == Standing::Active);
        Ok(rules)
    }

    /// Stores the rules found in a list that is not compressed here, for clients that compact it in another way.
    pub(super) async fn keep_found_rules(&self, session: &Session, list: &Arc<[Message]>) {
        let kept = async {
            let known = self.rules(session).await?;
            let list = Arc::clone(list);
            let found = blocking("context.compress", move || {
                let update = constraints::update(&known, &list, unix_now());
                let is_new = |rule: &Constraint| known.iter().all(|known| known.id != rule.id);
                let found =
                    update.constraints.into_iter().filter(|rule| rule.state == Standing::Active && is_new(rule));
                Ok(found.collect::<Vec<Constraint>>())
            });
            for rule in found.await? {
                self.archive.add_constraint(session.id.clone(), row(&rule), MOST).await?;
            }
            Ok::<_, Error>(())
        };
        if let Err(error) = kept.await {
            tracing::debug!(session = session.id, "rules of a list that stays are not kept: {error}");
        }
    }

    /// Puts a rule in force, and returns its id.
    pub(crate) async fn add_constraint(&self, session: &Session, text: &str, scope: Scope) -> Outcome<String> {
        let text = text.trim();
        let chars = text.chars().count();
        if text.is_empty() || chars > CHARS {
            return Err(Error::param("text", format!("{chars} chars; 1 to {CHARS} are allowed")));
        }
        let rule = Constraint::new(text, scope, Source::Explicit, unix_now());
        match self.archive.add_constraint(session.id.clone(), row(&rule), MOST).await? {
            Added::Kept => {
                self.forget(&session.id);
                Ok(rule.id)
            }
            Added::TooMany => {
                let id = &session.id;
                Err(Error::TooLarge(format!("session {id:?} has {MOST} rules in force; remove one first")))
            }
        }
    }

    /// Removes a rule.
    pub(crate) async fn remove_constraint(&self, session: &Session, rule: &str) -> Outcome<()> {
        if !self.archive.remove_constraint(session.id.clone(), rule.to_owned()).await? {
            let shown: String = rule.chars().take(64).collect();
            let id = &session.id;
            let words = format!("session {id:?} has no rule {shown:?} in force; constraint.list has those it has");
            return Err(Error::NotFound(words));
        }
        self.forget(&session.id);
        Ok(())
    }
}

/// Converts a rule into a row.
pub(super) fn row(rule: &Constraint) -> ConstraintRow {
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

/// Converts a row into a rule. If another version wrote an unknown state, the rule is not in force here.
fn read(row: ConstraintRow) -> Constraint {
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
