//! `constraint.*`: rules of the user that survive every compression.

use herma_archive::Archive;
use herma_archive::constraint::ConstraintRow;
use herma_protocol::constraint::{
    AddParams, AddResult, Constraint, ListParams, ListResult, RemoveParams, RemoveResult, Scope, Source,
};
use herma_protocol::{ErrorKind, RpcError};
use sha2::{Digest, Sha256};

use super::session;
use crate::caller::Caller;
use crate::fail::{self, Outcome};
use crate::state::{State, unix_now};

/// Most chars of a rule.
const CHARS: usize = 2_000;

/// Rules of one session that are in force at one time.
const MOST: usize = 500;

/// What an id begins with, and its hex digits.
const PREFIX: &str = "c_";
const DIGITS: usize = 12;

/// The words for what a row has.
const ACTIVE: &str = "active";
const REMOVED: &str = "removed";
const STANDING: &str = "standing";
const ONCE: &str = "once";
const EXPLICIT: &str = "explicit";

/// What became of an attempt to add a rule.
enum Added {
    Kept(String),
    TooMany,
}

pub(super) async fn add(state: &State, caller: &Caller, params: AddParams) -> Outcome<AddResult> {
    let text = params.text.trim();
    let chars = text.chars().count();
    if text.is_empty() || chars > CHARS {
        return Err(fail::invalid("text", format!("{chars} chars; 1 to {CHARS} are allowed")));
    }
    let session = session::ensure(state, caller, &params.session).await?;
    let row = ConstraintRow {
        id: id_of(text),
        text: text.to_owned(),
        scope: scope_name(params.scope.unwrap_or_default()).to_owned(),
        source: EXPLICIT.to_owned(),
        at: unix_now(),
        state: ACTIVE.to_owned(),
    };
    let of = session.id.clone();
    let keep = move |archive: &mut Archive| {
        let known = archive.reader().constraints(&of)?;
        let others = known.iter().filter(|other| other.state == ACTIVE && other.id != row.id).count();
        if others >= MOST {
            return Ok(Added::TooMany);
        }
        // One that holds already keeps its age.
        let before = known.into_iter().find(|other| other.id == row.id && other.state == ACTIVE);
        let row = ConstraintRow { at: before.map_or(row.at, |before| before.at), ..row };
        archive.save_constraint(&of, &row)?;
        Ok(Added::Kept(row.id))
    };
    match state.archive.call(keep).await? {
        Added::Kept(id) => {
            state.compressions.forget(&session.id);
            Ok(AddResult { id })
        }
        Added::TooMany => {
            let words = format!("session {:?} has {MOST} rules in force; remove one first", session.id);
            Err(RpcError::new(ErrorKind::TooLarge, words))
        }
    }
}

pub(super) async fn list(state: &State, caller: &Caller, params: ListParams) -> Outcome<ListResult> {
    let session = session::ensure(state, caller, &params.session).await?;
    let id = session.id.clone();
    let rows = state.archive.read(move |reader| reader.constraints(&id)).await?;
    let active = rows.into_iter().filter(|row| row.state == ACTIVE);
    Ok(ListResult { constraints: active.map(wire).collect() })
}

pub(super) async fn remove(state: &State, caller: &Caller, params: RemoveParams) -> Outcome<RemoveResult> {
    let session = session::ensure(state, caller, &params.session).await?;
    let (of, id) = (session.id.clone(), params.id.clone());
    let remove = move |archive: &mut Archive| {
        let known = archive.reader().constraints(&of)?;
        let Some(row) = known.into_iter().find(|row| row.id == id && row.state == ACTIVE) else { return Ok(false) };
        archive.save_constraint(&of, &ConstraintRow { state: REMOVED.to_owned(), ..row })?;
        Ok(true)
    };
    if !state.archive.call(remove).await? {
        let shown: String = params.id.chars().take(64).collect();
        let words =
            format!("session {:?} has no rule {shown:?} in force; constraint.list has those it has", session.id);
        return Err(RpcError::new(ErrorKind::NotFound, words));
    }
    state.compressions.forget(&session.id);
    Ok(RemoveResult {})
}

/// The same words, however they are spaced, have the same id.
fn id_of(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let hex: String = Sha256::digest(words.join(" ").as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{PREFIX}{}", hex.get(..DIGITS).unwrap_or(&hex))
}

const fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Standing => STANDING,
        Scope::Once => ONCE,
    }
}

fn wire(row: ConstraintRow) -> Constraint {
    Constraint {
        id: row.id,
        text: row.text,
        scope: if row.scope == ONCE { Scope::Once } else { Scope::Standing },
        source: if row.source == EXPLICIT { Source::Explicit } else { Source::Found },
        at: row.at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_the_words_and_not_their_spacing() {
        assert_eq!(id_of("never  push\nto main"), id_of("never push to main"));
        assert_ne!(id_of("never push to main"), id_of("Never push to main"));
        let id = id_of("a");
        assert_eq!((id.len(), id.starts_with(PREFIX)), (PREFIX.len() + DIGITS, true));
    }
}
