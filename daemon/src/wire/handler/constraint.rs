//! `constraint.*`: rules of the user that survive every compression.

use herma_context::constraints::{self as engine, Constraint as Rule};
use herma_protocol::constraint::{
    AddParams, AddResult, Constraint, ListParams, ListResult, RemoveParams, RemoveResult, Scope, Source,
};

use crate::data::error::Outcome;
use crate::service::caller::Caller;
use crate::wire::services::Services;

pub(super) async fn add(services: &Services, caller: &Caller, params: AddParams) -> Outcome<AddResult> {
    let session = services.sessions.ensure(caller, &params.session).await?;
    let scope = domain_scope(params.scope.unwrap_or_default());
    Ok(AddResult { id: services.compression.add_constraint(&session, &params.text, scope).await? })
}

pub(super) async fn list(services: &Services, caller: &Caller, params: ListParams) -> Outcome<ListResult> {
    let session = services.sessions.inspected(caller, &params.session).await?;
    let active = services.compression.active_constraints(&session).await?;
    Ok(ListResult { constraints: active.into_iter().map(wire).collect() })
}

pub(super) async fn remove(services: &Services, caller: &Caller, params: RemoveParams) -> Outcome<RemoveResult> {
    let session = services.sessions.ensure(caller, &params.session).await?;
    services.compression.remove_constraint(&session, &params.id).await?;
    Ok(RemoveResult {})
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
