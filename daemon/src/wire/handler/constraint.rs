//! `constraint.*`: rules of the user that survive every compression.

use herma_archive::Archive;
use herma_context::constraints::{self as engine, Constraint as Rule, State as Standing};
use herma_protocol::constraint::{
    AddParams, AddResult, Constraint, ListParams, ListResult, RemoveParams, RemoveResult, Scope, Source,
};

use super::session;
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::service::compression::rules;
use crate::wire::caller::Caller;
use crate::wire::state::State;

/// Most chars of a rule.
const CHARS: usize = 2_000;

/// Rules of one session that are in force at one time.
const MOST: usize = 500;

/// What became of an attempt to add a rule.
enum Added {
    Kept(String),
    TooMany,
}

pub(super) async fn add(state: &State, caller: &Caller, params: AddParams) -> Outcome<AddResult> {
    let text = params.text.trim();
    let chars = text.chars().count();
    if text.is_empty() || chars > CHARS {
        return Err(Error::param("text", format!("{chars} chars; 1 to {CHARS} are allowed")));
    }
    let session = session::ensure(state, caller, &params.session).await?;
    let scope = domain_scope(params.scope.unwrap_or_default());
    let rule = Rule::new(text, scope, engine::Source::Explicit, unix_now());
    let of = session.id.clone();
    let keep = move |archive: &mut Archive| {
        let known: Vec<Rule> = archive.reader().constraints(&of)?.into_iter().map(rules::read).collect();
        let others = known.iter().filter(|other| is_active(other) && other.id != rule.id).count();
        if others >= MOST {
            return Ok(Added::TooMany);
        }
        // One that holds already keeps its age.
        let before = known.into_iter().find(|other| is_active(other) && other.id == rule.id);
        let rule = Rule { at: before.map_or(rule.at, |before| before.at), ..rule };
        archive.save_constraint(&of, &rules::row(&rule))?;
        Ok(Added::Kept(rule.id))
    };
    match state.archive.call(keep).await? {
        Added::Kept(id) => {
            state.compressions.forget(&session.id);
            Ok(AddResult { id })
        }
        Added::TooMany => {
            let words = format!("session {:?} has {MOST} rules in force; remove one first", session.id);
            Err(Error::TooLarge(words))
        }
    }
}

pub(super) async fn list(state: &State, caller: &Caller, params: ListParams) -> Outcome<ListResult> {
    let session = session::ensure(state, caller, &params.session).await?;
    let active = rules::load(state, &session).await?.into_iter().filter(is_active);
    Ok(ListResult { constraints: active.map(wire).collect() })
}

pub(super) async fn remove(state: &State, caller: &Caller, params: RemoveParams) -> Outcome<RemoveResult> {
    let session = session::ensure(state, caller, &params.session).await?;
    let (of, id) = (session.id.clone(), params.id.clone());
    let remove = move |archive: &mut Archive| {
        let mut known = archive.reader().constraints(&of)?.into_iter().map(rules::read);
        let Some(rule) = known.find(|rule| is_active(rule) && rule.id == id) else { return Ok(false) };
        archive.save_constraint(&of, &rules::row(&Rule { state: Standing::Removed, ..rule }))?;
        Ok(true)
    };
    if !state.archive.call(remove).await? {
        let shown: String = params.id.chars().take(64).collect();
        let words =
            format!("session {:?} has no rule {shown:?} in force; constraint.list has those it has", session.id);
        return Err(Error::NotFound(words));
    }
    state.compressions.forget(&session.id);
    Ok(RemoveResult {})
}

fn is_active(rule: &Rule) -> bool {
    rule.state == Standing::Active
}

const fn domain_scope(scope: Scope) -> engine::Scope {
    match scope {
        Scope::Standing => engine::Scope::Standing,
        Scope::Once => engine::Scope::Once,
    }
}

fn wire(rule: Rule) -> Constraint {
    Constraint {
        id: rule.id,
        text: rule.text,
        scope: match rule.scope {
            engine::Scope::Standing => Scope::Standing,
            engine::Scope::Once => Scope::Once,
        },
        source: match rule.source {
            engine::Source::Explicit => Source::Explicit,
            engine::Source::Found => Source::Found,
        },
        at: rule.at,
    }
}
