//! `session.*`: opening, snapshots and closing. The other methods have their own files.

mod lineage;
mod lock;
mod messages;
mod transcript;
mod usage;

use std::sync::Arc;

use herma_archive::session::SnapshotRow;
use herma_protocol::session::{
    CloseParams, CloseResult, OpenParams, OpenResult, RefreshParams, Revisions, Snapshot, SnapshotParams, UpdateParams,
    UpdateResult,
};

use herma_protocol::{Method, Prepared, Reply};
use serde_json::value::to_raw_value;

pub(super) use lineage::{list, next_title, resume_target, show, tip};
pub(super) use lock::{lock, lock_holder, unlock};
pub(super) use messages::messages;
pub(super) use transcript::{append, import, remove};
pub(super) use usage::{group_by, reported, usage};

use crate::data::error::Outcome;
use crate::service::caller::Caller;
use crate::service::sessions::{Opened, Opening};
use crate::service::snapshot::Frozen;
use crate::wire::services::Services;

pub(super) async fn open(services: &Services, caller: &Caller, params: OpenParams) -> Outcome<OpenResult> {
    let opening = Opening {
        session: params.session,
        agent: params.agent,
        parent: params.parent,
        title: params.title,
        model: params.model,
        context_length: params.context_length,
        cwd: params.cwd,
        branch: params.branch,
        is_host_bound: params.host_bound == Some(true),
        is_captured: params.captured == Some(true),
    };
    let Opened { session, resumed, moved_from } = services.sessions.open(caller, opening).await?;
    Ok(OpenResult {
        session: session.id.clone(),
        generation: session.generation(),
        resumed,
        snapshot: wire(&session.snapshot().blocks),
        moved_from,
    })
}

/// Answers for a session in memory, without a task, because clients request it before every turn.
pub(super) fn snapshot_in_memory(
    services: &Services,
    caller: &Caller,
    params: &SnapshotParams,
) -> Option<Outcome<Reply>> {
    let session = services.sessions.inspected_in_memory(caller, &params.session)?;
    Some(session.map(|session| answer(&session.snapshot())))
}

pub(super) async fn snapshot(services: &Services, caller: &Caller, params: &SnapshotParams) -> Outcome<Reply> {
    Ok(answer(&*services.sessions.snapshot(caller, &params.session).await?))
}

fn answer(frozen: &Frozen) -> Reply {
    match frozen.answer(|blocks| to_raw_value(&wire(blocks)).ok().map(Arc::from)) {
        Some(json) => Reply::Prepared(Prepared { method: Method::SessionSnapshot, json }),
        None => Reply::SessionSnapshot(wire(&frozen.blocks)),
    }
}

pub(super) async fn refresh(services: &Services, caller: &Caller, params: &RefreshParams) -> Outcome<Snapshot> {
    Ok(wire(&services.sessions.refresh(caller, &params.session).await?.blocks))
}

pub(super) async fn update(services: &Services, caller: &Caller, params: UpdateParams) -> Outcome<UpdateResult> {
    let UpdateParams { session, title, model, context_length, cwd, branch } = params;
    let update = Opening { session, title, model, context_length, cwd, branch, ..Opening::default() };
    services.sessions.update(caller, update).await?;
    Ok(UpdateResult {})
}

pub(super) async fn close(services: &Services, caller: &Caller, params: CloseParams) -> Outcome<CloseResult> {
    services.sessions.close(caller, &params.session, params.reason).await?;
    Ok(CloseResult {})
}

fn wire(snapshot: &SnapshotRow) -> Snapshot {
    let SnapshotRow { memory, user, sha256, memory_revision, user_revision } = snapshot.clone();
    Snapshot { memory, user, sha256, revision: Revisions { memory: memory_revision, user: user_revision } }
}
