//! Staging a write, and `memory.pending`, `memory.approve`, `memory.reject`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use herma_memory::change::{self, Change, Changes, Rules};
use herma_memory::entries::normalised;
use herma_memory::pending::{Pending, PendingWrite, StageError, StagedCall};
use herma_memory::render::shown;
use herma_memory::tool::Call;
use herma_memory::{Author, Edit, Refusal, View};
use herma_protocol::Json;
use herma_protocol::memory::{
    self as wire, ApproveParams, ApproveResult, Decided, PendingResult, RejectParams, RejectResult, WriteResult,
};
use serde_json::Value;

use super::{WriteRequest, pending_count, refused, warnings, wire_target, write};
use crate::data::error::{Error, Outcome};
use crate::owners::commit_token::CommitToken;
use crate::owners::store;
use crate::wire::caller::Caller;
use crate::wire::handler::blocking;
use crate::wire::state::State;

/// Keeps a write until a person decides. What no store would take is refused at
/// once.
pub(super) async fn stage(state: &Arc<State>, caller: &Caller, request: WriteRequest) -> Outcome<WriteResult> {
    let WriteRequest { target, changes, drift, expected_revision, author } = request;
    let policy = &state.config.guard.severity;
    let rules = Rules { target, limit: state.limit(caller.profile(), target), drift, policy };
    let found = match change::check(&changes, rules) {
        Ok(found) => found,
        Err(refusal) => return Ok(refused(&refusal, None)),
    };
    let view = state.store(caller.profile(), target)?.view().await?;
    store::check_revision(expected_revision, &view)?;
    if let Some(refusal) = too_long(&changes, &view) {
        return Ok(refused(&refusal, Some(&view)));
    }
    let waiting = waiting(state, caller)?;
    if !caller.token.take() {
        return Err(Error::Cancelled("nobody waits for the write any more"));
    }
    let call = StagedCall { call: Call { target, changes }, drift, expected_revision };
    let staged = blocking("staging a write", move || match lock(&waiting).stage(&call, &author, SystemTime::now()) {
        Ok(id) => Ok(Ok(id)),
        Err(StageError::Disk(error)) => Err(Error::from(error)),
        Err(full @ StageError::Full) => Ok(Err(Refusal::NotStaged(full.to_string()))),
    });
    Ok(match staged.await? {
        Ok(id) => {
            state.approvals.staged(caller.profile(), &id, caller.connection);
            WriteResult {
                success: true,
                staged: Some(true),
                message: Some(format!(
                    "The write waits for a person's approval as {id}; {} is unchanged until then. Go on with the task.",
                    target.file_name()
                )),
                pending_id: Some(id),
                warnings: warnings(&found),
                ..WriteResult::default()
            }
        }
        Err(refusal) => refused(&refusal, None),
    })
}

/// A text that is longer than a whole store fits into none.
fn too_long(changes: &Changes, view: &View) -> Option<Refusal> {
    let (Changes::Single(Change::Add { content } | Change::Replace { content, .. }), View { target, limit, .. }) =
        (changes, view)
    else {
        return None;
    };
    let total = normalised(content).chars().count();
    let adding = matches!(changes, Changes::Single(Change::Add { .. }));
    let current = view.usage().chars;
    (total > *limit).then_some(Refusal::Overflow { target: *target, current, total, limit: *limit, adding })
}

pub(in crate::wire::handler) async fn pending(state: &Arc<State>, caller: &Caller) -> Outcome<PendingResult> {
    let waiting = waiting(state, caller)?;
    let policy = Arc::clone(&state.config.guard.severity);
    let writes = listed(waiting).await?;
    let wire = |write: PendingWrite| {
        let target = write.target();
        let mut payload = Value::Object(write.payload);
        sanitise(&mut payload, &|text| shown(&policy, target, text));
        Ok(wire::PendingWrite {
            target: wire_target(target),
            summary: shown(&policy, target, &write.summary),
            payload: Json::from_value(&payload).map_err(|_| Error::internal("memory.pending"))?,
            id: write.id,
            action: shown(&policy, target, &write.action),
            created_at: write.created_at,
            session: write.session.map(|session| shown(&policy, target, &session)),
            agent: write.agent.map(|agent| shown(&policy, target, &agent)),
        })
    };
    Ok(PendingResult { pending: writes.into_iter().map(wire).collect::<Outcome<_>>()? })
}

pub(in crate::wire::handler) async fn approve(
    state: &Arc<State>,
    caller: &Caller,
    params: ApproveParams,
) -> Outcome<ApproveResult> {
    let (shared, caller) = (Arc::clone(state), undisturbed(caller));
    to_the_end(state, async move { approve_now(&shared, &caller, params).await }).await
}

async fn approve_now(state: &State, caller: &Caller, params: ApproveParams) -> Outcome<ApproveResult> {
    let waiting = waiting(state, caller)?;
    let writes = chosen(listed(Arc::clone(&waiting)).await?, params.ids, params.all)?;
    let profile = caller.profile();
    if let Some(own) = writes.iter().find(|write| state.approvals.is_own(profile, &write.id, caller.connection)) {
        return Err(Error::OwnWrite { id: own.id.clone() });
    }
    let mut result = ApproveResult { approved: Vec::new(), failed: Vec::new() };
    for staged in writes {
        let mut outcome = replay(state, caller, &staged)
            .await
            .unwrap_or_else(|error| WriteResult { error: Some(error.to_string()), ..WriteResult::default() });
        // What another program staged may be repeated in the words of a refusal.
        outcome.error = outcome.error.map(|words| shown(&state.config.guard.severity, staged.target(), &words));
        let decided = Decided { id: staged.id, result: outcome };
        if decided.result.success {
            result.approved.push(decided_and_discarded(state, caller, &waiting, decided).await);
        } else {
            result.failed.push(decided);
        }
    }
    let left = pending_count(state, caller);
    result.approved.iter_mut().chain(&mut result.failed).for_each(|decided| decided.result.pending_count = left);
    Ok(result)
}

/// A write that was done waits no more. If its file can't be removed, that is told
/// with it, for it would be done again.
async fn decided_and_discarded(
    state: &State,
    caller: &Caller,
    waiting: &Arc<Mutex<Pending>>,
    mut decided: Decided,
) -> Decided {
    if let Err(error) = discard(state, caller, waiting, &decided.id).await {
        tracing::error!(id = decided.id, "a write was done and still waits: {}", error.to_string());
        let told = decided.result.message.take().unwrap_or_default();
        decided.result.message = Some(format!(
            "{told} It still waits, for its file can't be removed; reject it later: {}",
            error.to_string()
        ));
    }
    decided
}

pub(in crate::wire::handler) async fn reject(
    state: &Arc<State>,
    caller: &Caller,
    params: RejectParams,
) -> Outcome<RejectResult> {
    let (shared, caller) = (Arc::clone(state), undisturbed(caller));
    to_the_end(state, async move { reject_now(&shared, &caller, params).await }).await
}

async fn reject_now(state: &State, caller: &Caller, params: RejectParams) -> Outcome<RejectResult> {
    let waiting = waiting(state, caller)?;
    let mut rejected = Vec::new();
    for write in chosen(listed(Arc::clone(&waiting)).await?, params.ids, params.all)? {
        discard(state, caller, &waiting, &write.id).await?;
        rejected.push(write.id);
    }
    Ok(RejectResult { rejected })
}

/// The caller, whose going away changes nothing.
fn undisturbed(caller: &Caller) -> Caller {
    Caller { token: CommitToken::default(), ..caller.clone() }
}

/// Decides alone, and to the end also when the caller goes away: a write that was
/// done must not go on waiting.
async fn to_the_end<T: Send + 'static>(
    state: &Arc<State>,
    decide: impl Future<Output = Outcome<T>> + Send + 'static,
) -> Outcome<T> {
    let state = Arc::clone(state);
    let work = tokio::spawn(async move {
        let _alone = state.approvals.deciding().await;
        decide.await
    });
    work.await.unwrap_or_else(|_| Err(Error::internal("deciding about pending writes")))
}

async fn replay(state: &State, caller: &Caller, staged: &PendingWrite) -> Outcome<WriteResult> {
    match staged.call() {
        Ok(StagedCall { call: Call { target, changes }, drift, expected_revision }) => {
            let author = Author { session: staged.session.clone(), agent: staged.agent.clone() };
            write(state, caller, target, Edit::Change { changes, drift }, expected_revision, author).await
        }
        Err(refusal) => Ok(refused(&refusal, None)),
    }
}

fn waiting(state: &State, caller: &Caller) -> Outcome<Arc<Mutex<Pending>>> {
    let folder = state.profiles.existing(caller.profile())?;
    Ok(state.approvals.of(caller.profile(), &folder))
}

async fn listed(waiting: Arc<Mutex<Pending>>) -> Outcome<Vec<PendingWrite>> {
    blocking("pending writes", move || match lock(&waiting).list_anew(SystemTime::now()) {
        Ok(writes) => Ok(writes.to_vec()),
        Err(error) => Err(Error::from(error)),
    })
    .await
}

async fn discard(state: &State, caller: &Caller, waiting: &Arc<Mutex<Pending>>, id: &str) -> Outcome<()> {
    let (waiting, name) = (Arc::clone(waiting), id.to_owned());
    blocking("a pending write", move || lock(&waiting).discard(&name).map_err(Error::from)).await?;
    state.approvals.forget(caller.profile(), id);
    Ok(())
}

/// The writes that were named, or all, oldest first.
fn chosen(writes: Vec<PendingWrite>, ids: Option<Vec<String>>, all: Option<bool>) -> Outcome<Vec<PendingWrite>> {
    match (ids, all.unwrap_or(false)) {
        (None, true) => Ok(writes),
        (Some(ids), false) => {
            if let Some(unknown) = ids.iter().find(|id| !writes.iter().any(|write| write.id == **id)) {
                let shown: String = unknown.chars().take(80).collect();
                return Err(Error::NoPendingWrite { id: shown });
            }
            Ok(writes.into_iter().filter(|write| ids.contains(&write.id)).collect())
        }
        _ => Err(Error::param("ids", "either ids or all: true is needed")),
    }
}

/// Renders every text for a model: files of other programs are listed too.
fn sanitise(value: &mut Value, render: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = render(text),
        Value::Array(items) => items.iter_mut().for_each(|item| sanitise(item, render)),
        Value::Object(fields) => {
            let old = std::mem::take(fields);
            fields.extend(old.into_iter().map(|(name, mut field)| {
                sanitise(&mut field, render);
                (render(&name), field)
            }));
        }
        _ => {}
    }
}

fn lock(waiting: &Mutex<Pending>) -> std::sync::MutexGuard<'_, Pending> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
