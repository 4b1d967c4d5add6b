//! `memory.*`.

mod approval;
mod history;
mod written;

use herma_memory::change::{Change, Changes, Drift, Emptying};
use herma_memory::tool::{self, Call};
use herma_memory::{Author, Target};
use herma_protocol::memory::{
    self as wire, Action, AddParams, BatchParams, ListParams, ListResult, RemoveParams, ReplaceParams, SchemaResult,
    StoreView, ToolParams, WriteResult,
};
use herma_protocol::{Json, limits};

pub(super) use approval::{approve, pending, queued, reject};
pub(super) use history::{log, restore, revert, undo};
use written::{strings, written};

use crate::data::error::{Error, Outcome};
use crate::data::names;
use crate::service::caller::Caller;
use crate::service::memory::WriteRequest;
use crate::wire::services::Services;

pub(super) async fn add(services: &Services, caller: &Caller, params: AddParams) -> Outcome<WriteResult> {
    let request = WriteRequest {
        target: domain_target(params.target),
        changes: Changes::Single(Change::Add { content: params.content }),
        drift: Drift::Refused,
        expected_revision: params.expected_revision,
        author: author(params.session, params.agent)?,
    };
    submit(services, caller, request).await
}

pub(super) async fn replace(services: &Services, caller: &Caller, params: ReplaceParams) -> Outcome<WriteResult> {
    let request = WriteRequest {
        target: domain_target(params.target),
        changes: Changes::Single(Change::Replace { old_text: params.old_text, content: params.content }),
        drift: drift(params.allow_drift),
        expected_revision: params.expected_revision,
        author: author(params.session, params.agent)?,
    };
    submit(services, caller, request).await
}

pub(super) async fn remove(services: &Services, caller: &Caller, params: RemoveParams) -> Outcome<WriteResult> {
    let request = WriteRequest {
        target: domain_target(params.target),
        changes: Changes::Single(Change::Remove { old_text: params.old_text }),
        drift: drift(params.allow_drift),
        expected_revision: params.expected_revision,
        author: author(params.session, params.agent)?,
    };
    submit(services, caller, request).await
}

pub(super) async fn batch(services: &Services, caller: &Caller, params: BatchParams) -> Outcome<WriteResult> {
    let count = params.operations.len();
    if count > limits::BATCH_OPERATIONS {
        return Err(Error::param("operations", format!("{count}; at most {} are allowed", limits::BATCH_OPERATIONS)));
    }
    let emptying = if params.allow_empty.unwrap_or(false) { Emptying::Allowed } else { Emptying::Refused };
    let changes = params.operations.into_iter().map(|operation| match operation.action {
        Action::Add => Change::Add { content: operation.content.unwrap_or_default() },
        Action::Replace => Change::Replace {
            old_text: operation.old_text.unwrap_or_default(),
            content: operation.content.unwrap_or_default(),
        },
        Action::Remove => Change::Remove { old_text: operation.old_text.unwrap_or_default() },
    });
    let request = WriteRequest {
        target: domain_target(params.target),
        changes: Changes::Batch { changes: changes.collect(), emptying },
        drift: drift(params.allow_drift),
        expected_revision: params.expected_revision,
        author: author(params.session, params.agent)?,
    };
    submit(services, caller, request).await
}

pub(super) async fn tool(services: &Services, caller: &Caller, params: ToolParams) -> Outcome<WriteResult> {
    let author = author(params.session, params.agent)?;
    match tool::read(params.arguments.get()) {
        Ok(Call { target, changes }) => {
            let request = WriteRequest { target, changes, drift: Drift::Refused, expected_revision: None, author };
            submit(services, caller, request).await
        }
        Err(refusal) => Ok(written(services, services.memory.refuse(caller, author, refusal))),
    }
}

pub(super) async fn list(services: &Services, caller: &Caller, params: &ListParams) -> Outcome<ListResult> {
    let mut views = [None, None];
    for (slot, target) in views.iter_mut().zip(Target::ALL) {
        if params.target.is_none_or(|wanted| domain_target(wanted) == target) {
            let view = services.memory.view(caller.profile(), target).await?;
            *slot = Some(StoreView {
                usage: view.usage().to_string(),
                revision: view.revision,
                over_limit: view.over_limit(),
                stale_s: services.memory.stale_s(caller.profile(), target).map(|age| age.unwrap_or(-1.0)),
                entries: strings(if params.raw.unwrap_or(false) { &view.entries } else { &view.shown }),
            });
        }
    }
    let [memory, user] = views;
    Ok(ListResult { memory, user, pending_count: services.memory.pending_count(caller.profile()) })
}

pub(super) fn schema(services: &Services) -> Outcome<SchemaResult> {
    let tool = Json::from_value(&tool::schema(services.sharing.is_configured()))
        .map_err(|_| Error::internal("memory.schema"))?;
    Ok(SchemaResult { tool, guidance: tool::GUIDANCE.into() })
}

async fn submit(services: &Services, caller: &Caller, request: WriteRequest) -> Outcome<WriteResult> {
    services.memory.submit(caller, request).await.map(|report| written(services, report))
}

pub(super) fn author(session: Option<String>, agent: Option<String>) -> Outcome<Author> {
    names::check_all(&[("session", session.as_ref()), ("agent", agent.as_ref())])?;
    Ok(Author { session, agent, host: None })
}

fn drift(allowed: Option<bool>) -> Drift {
    if allowed.unwrap_or(false) { Drift::Allowed } else { Drift::Refused }
}

pub(in crate::wire) const fn domain_target(target: wire::Target) -> Target {
    match target {
        wire::Target::Memory => Target::Memory,
        wire::Target::User => Target::User,
    }
}

/// Returns a store's name on the wire.
pub(in crate::wire) const fn wire_target(target: Target) -> wire::Target {
    match target {
        Target::Memory => wire::Target::Memory,
        Target::User => wire::Target::User,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn both_sides_mark_what_is_for_one_host_alike() {
        assert_eq!(herma_protocol::memory::HOST_BOUND, herma_memory::bound::MARK);
    }
}
