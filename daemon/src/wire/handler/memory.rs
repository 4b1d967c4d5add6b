//! `memory.*`.

mod approval;
mod history;

use std::sync::Arc;
use std::time::SystemTime;

use herma_guard::Policy;
use herma_memory::change::{Applied, Change, Changes, Done, Drift, Emptying};
use herma_memory::render::shown;
use herma_memory::tool::{self, Call};
use herma_memory::{Author, Edit, Entry, Refusal, Target, View};
use herma_protocol::guard::Finding;
use herma_protocol::memory::{
    self as wire, Action, AddParams, BatchParams, ListParams, ListResult, RemoveParams, ReplaceParams, SchemaResult,
    StoreView, ToolParams, WriteResult,
};
use herma_protocol::{Json, limits};

pub(super) use approval::{approve, pending, reject};
pub(super) use history::{log, restore, undo};

use super::guard::wire_finding;
use super::{check_names, wide};
use crate::data::error::{Error, Outcome};
use crate::owners::store::{Write, Written};
use crate::service::refusals::Writer;
use crate::wire::caller::Caller;
use crate::wire::state::State;

pub(super) async fn add(state: &Arc<State>, caller: &Caller, params: AddParams) -> Outcome<WriteResult> {
    let request = WriteRequest {
        target: domain_target(params.target),
        changes: Changes::Single(Change::Add { content: params.content }),
        drift: Drift::Refused,
        expected_revision: params.expected_revision,
        author: author(params.session, params.agent)?,
    };
    submit(state, caller, request).await
}

pub(super) async fn replace(state: &Arc<State>, caller: &Caller, params: ReplaceParams) -> Outcome<WriteResult> {
    let request = WriteRequest {
        target: domain_target(params.target),
        changes: Changes::Single(Change::Replace { old_text: params.old_text, content: params.content }),
        drift: drift(params.allow_drift),
        expected_revision: params.expected_revision,
        author: author(params.session, params.agent)?,
    };
    submit(state, caller, request).await
}

pub(super) async fn remove(state: &Arc<State>, caller: &Caller, params: RemoveParams) -> Outcome<WriteResult> {
    let request = WriteRequest {
        target: domain_target(params.target),
        changes: Changes::Single(Change::Remove { old_text: params.old_text }),
        drift: drift(params.allow_drift),
        expected_revision: params.expected_revision,
        author: author(params.session, params.agent)?,
    };
    submit(state, caller, request).await
}

pub(super) async fn batch(state: &Arc<State>, caller: &Caller, params: BatchParams) -> Outcome<WriteResult> {
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
    submit(state, caller, request).await
}

pub(super) async fn tool(state: &Arc<State>, caller: &Caller, params: ToolParams) -> Outcome<WriteResult> {
    let author = author(params.session, params.agent)?;
    match tool::read(params.arguments.get()) {
        Ok(Call { target, changes }) => {
            let request = WriteRequest { target, changes, drift: Drift::Refused, expected_revision: None, author };
            submit(state, caller, request).await
        }
        Err(refusal) => {
            let mut result = refused(&refusal, None);
            count_refusal(state, caller, &author, &mut result);
            result.pending_count = pending_count(state, caller);
            Ok(result)
        }
    }
}

pub(super) async fn list(state: &State, caller: &Caller, params: &ListParams) -> Outcome<ListResult> {
    let mut views = [None, None];
    for (slot, target) in views.iter_mut().zip(Target::ALL) {
        if params.target.is_none_or(|wanted| domain_target(wanted) == target) {
            let view = state.store(caller.profile(), target)?.view().await?;
            *slot = Some(StoreView {
                usage: view.usage().to_string(),
                revision: view.revision,
                over_limit: view.over_limit(),
                entries: strings(if params.raw.unwrap_or(false) { &view.entries } else { &view.shown }),
            });
        }
    }
    let [memory, user] = views;
    Ok(ListResult { memory, user, pending_count: pending_count(state, caller) })
}

pub(super) fn schema() -> Outcome<SchemaResult> {
    let tool = Json::from_value(&tool::schema()).map_err(|_| Error::internal("memory.schema"))?;
    Ok(SchemaResult { tool, guidance: tool::GUIDANCE.into() })
}

/// A change that is asked for, and its conditions.
pub(super) struct WriteRequest {
    pub target: Target,
    pub changes: Changes,
    pub drift: Drift,
    pub expected_revision: Option<u64>,
    pub author: Author,
}

/// Writes, or keeps the write until a person approves it where the configuration
/// says so.
async fn submit(state: &Arc<State>, caller: &Caller, request: WriteRequest) -> Outcome<WriteResult> {
    check_length(&request.changes)?;
    let author = request.author.clone();
    let mut result = if state.config.memory.approval {
        approval::stage(state, caller, request).await?
    } else {
        let edit = Edit::Change { changes: request.changes, drift: request.drift };
        write(state, caller, request.target, edit, request.expected_revision, request.author).await?
    };
    count_refusal(state, caller, &author, &mut result);
    result.pending_count = pending_count(state, caller);
    Ok(result)
}

/// Changes a store now.
async fn write(
    state: &State,
    caller: &Caller,
    target: Target,
    edit: Edit,
    expected_revision: Option<u64>,
    author: Author,
) -> Outcome<WriteResult> {
    let write = Write { edit, author, expected_revision, token: caller.token.clone() };
    let Written { view, outcome } = state.store(caller.profile(), target)?.write(write).await?;
    Ok(match outcome {
        Ok(applied) => succeeded(&state.config.guard.severity, &view, &applied),
        Err(refusal) => refused(&refusal, Some(&view)),
    })
}

/// How many writes of the profile wait for approval; `None` when none does.
fn pending_count(state: &State, caller: &Caller) -> Option<u64> {
    let folder = state.profiles.existing(caller.profile()).ok()?;
    let pending = state.approvals.of(caller.profile(), &folder);
    // Somebody who stages a write just now holds it while a disk is waited for.
    let count = match pending.try_lock() {
        Ok(mut pending) => {
            let count = pending.list(SystemTime::now()).ok()?.len();
            state.approvals.counted(caller.profile(), count);
            count
        }
        Err(_) => state.approvals.last_count(caller.profile()),
    };
    (count > 0).then(|| wide(count))
}

/// Texts that are beyond every store are not even scanned.
fn check_length(changes: &Changes) -> Outcome<()> {
    let changes = match changes {
        Changes::Single(change) => std::slice::from_ref(change),
        Changes::Batch { changes, .. } => changes,
    };
    let texts = changes.iter().flat_map(|change| match change {
        Change::Add { content } => [content.as_str(), ""],
        Change::Replace { old_text, content } => [old_text.as_str(), content.as_str()],
        Change::Remove { old_text } => [old_text.as_str(), ""],
    });
    let bytes: usize = texts.map(str::len).sum();
    if bytes > limits::ENTRY {
        let words = format!("the texts of a memory write have {bytes} bytes; at most {} are taken", limits::ENTRY);
        return Err(Error::TooLarge(words));
    }
    Ok(())
}

fn succeeded(policy: &Policy, view: &View, applied: &Applied) -> WriteResult {
    let file = view.target.file_name();
    let mut result = WriteResult {
        success: true,
        target: Some(wire_target(view.target)),
        entries: Some(strings(&view.shown)),
        usage: Some(view.usage().to_string()),
        entry_count: Some(wide(view.entries.len())),
        revision: Some(view.revision),
        warnings: warnings(&applied.warnings),
        ..WriteResult::default()
    };
    let message = match &applied.done {
        Done::Added => format!("Entry added to {file}."),
        Done::AlreadyThere => format!("{file} has this entry already; no duplicate added."),
        Done::Replaced(before) => {
            result.replaced_entry = Some(shown(policy, view.target, before));
            format!("Entry replaced in {file}.")
        }
        Done::Removed(before) => {
            result.removed_entry = Some(shown(policy, view.target, before));
            format!("Entry removed from {file}.")
        }
        Done::Batch(count) => format!("{count} operations applied to {file}."),
        Done::PutBack(revision) => format!("{file} holds the text of revision {revision} again."),
    };
    result.message = Some(message);
    result
}

fn refused(refusal: &Refusal, view: Option<&View>) -> WriteResult {
    let mut result = WriteResult {
        error: Some(refusal.to_string()),
        usage: refusal.usage().map(herma_memory::usage::Usage::fraction),
        over_by: refusal.over_by().map(wide),
        remediation: refusal.remediation(),
        ..WriteResult::default()
    };
    match refusal.root() {
        Refusal::Overflow { .. } | Refusal::NoMatch { .. } => {
            result.current_entries = view.map(|view| strings(&view.shown));
        }
        Refusal::Several { matches, .. } => result.matches = Some(matches.clone()),
        Refusal::Poisoned { findings, .. } => result.findings = Some(findings.iter().map(wire_finding).collect()),
        Refusal::Drift { backup: Some(backup), .. } => {
            result.drift_backup = Some(match backup {
                Ok(path) => path.display().to_string(),
                Err(reason) => format!("no copy could be made: {reason}"),
            });
        }
        _ => {}
    }
    result
}

/// Counts refusals in a row, and makes one too many final.
fn count_refusal(state: &State, caller: &Caller, author: &Author, result: &mut WriteResult) {
    let writer = author.session.clone().map_or(Writer::Connection(caller.connection), Writer::Session);
    if result.success {
        state.refusals.forget(&writer);
    } else if state.refusals.refused(writer) {
        result.done = Some(true);
        let why = result.error.take().unwrap_or_default();
        result.error = Some(format!(
            "This is final after several refusals in a row: leave memory alone for now and go on with the task. The reason was: {why}"
        ));
    }
}

fn warnings(findings: &[herma_guard::Finding]) -> Option<Vec<Finding>> {
    (!findings.is_empty()).then(|| findings.iter().map(wire_finding).collect())
}

fn strings(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| entry.to_string()).collect()
}

fn author(session: Option<String>, agent: Option<String>) -> Outcome<Author> {
    check_names(&[("session", session.as_ref()), ("agent", agent.as_ref())])?;
    Ok(Author { session, agent })
}

fn drift(allowed: Option<bool>) -> Drift {
    if allowed.unwrap_or(false) { Drift::Allowed } else { Drift::Refused }
}

pub(crate) const fn domain_target(target: wire::Target) -> Target {
    match target {
        wire::Target::Memory => Target::Memory,
        wire::Target::User => Target::User,
    }
}

/// A store's name on the wire.
pub(crate) const fn wire_target(target: Target) -> wire::Target {
    match target {
        Target::Memory => wire::Target::Memory,
        Target::User => wire::Target::User,
    }
}
