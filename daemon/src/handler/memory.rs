//! `memory.*`.

use herma_memory::change::{Change, Changes, Done, Drift, Emptying};
use herma_memory::render::{all_shown, shown};
use herma_memory::{Applied, Refusal, Target, View, tool};
use herma_protocol::memory::{
    self as wire, Action, AddParams, BatchParams, ListParams, ListResult, RemoveParams, ReplaceParams, SchemaResult,
    StoreView, ToolParams, WriteResult,
};
use herma_protocol::{ErrorKind, Json, RpcError, limits};

use super::guard::wire_finding;
use super::{check_names, wide};
use crate::caller::Caller;
use crate::fail::{self, Outcome};
use crate::owner::{Write, Written};
use crate::state::State;
use crate::streaks::Writer;

pub(super) async fn add(state: &State, caller: &Caller, params: AddParams) -> Outcome<WriteResult> {
    check_names(&[("session", params.session.as_ref()), ("agent", params.agent.as_ref())])?;
    let changes = Changes::Single(Change::Add { content: params.content });
    let write = write(caller, changes, Drift::Refused, params.expected_revision);
    apply(state, caller, domain_target(params.target), write, params.session).await
}

pub(super) async fn replace(state: &State, caller: &Caller, params: ReplaceParams) -> Outcome<WriteResult> {
    check_names(&[("session", params.session.as_ref()), ("agent", params.agent.as_ref())])?;
    let changes = Changes::Single(Change::Replace { old_text: params.old_text, content: params.content });
    let write = write(caller, changes, drift(params.allow_drift), params.expected_revision);
    apply(state, caller, domain_target(params.target), write, params.session).await
}

pub(super) async fn remove(state: &State, caller: &Caller, params: RemoveParams) -> Outcome<WriteResult> {
    check_names(&[("session", params.session.as_ref()), ("agent", params.agent.as_ref())])?;
    let changes = Changes::Single(Change::Remove { old_text: params.old_text });
    let write = write(caller, changes, drift(params.allow_drift), params.expected_revision);
    apply(state, caller, domain_target(params.target), write, params.session).await
}

pub(super) async fn batch(state: &State, caller: &Caller, params: BatchParams) -> Outcome<WriteResult> {
    check_names(&[("session", params.session.as_ref()), ("agent", params.agent.as_ref())])?;
    let count = params.operations.len();
    if count > limits::BATCH_OPERATIONS {
        return Err(fail::invalid("operations", format!("{count}; at most {} are allowed", limits::BATCH_OPERATIONS)));
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
    let write = Write {
        changes: Changes::Batch { changes: changes.collect(), emptying },
        drift: drift(params.allow_drift),
        expected_revision: params.expected_revision,
        claim: caller.claim.clone(),
    };
    apply(state, caller, domain_target(params.target), write, params.session).await
}

pub(super) async fn tool(state: &State, caller: &Caller, params: ToolParams) -> Outcome<WriteResult> {
    check_names(&[("session", params.session.as_ref()), ("agent", params.agent.as_ref())])?;
    match tool::read(params.arguments.get()) {
        Ok(call) => {
            let write = Write {
                changes: call.changes,
                drift: Drift::Refused,
                expected_revision: None,
                claim: caller.claim.clone(),
            };
            apply(state, caller, call.target, write, params.session).await
        }
        Err(refusal) => Ok(refused(state, writer(caller, params.session), &refusal, None)),
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
                entries: if params.raw.unwrap_or(false) { view.entries } else { all_shown(target, &view.entries) },
            });
        }
    }
    let [memory, user] = views;
    Ok(ListResult { memory, user })
}

pub(super) fn schema() -> Outcome<SchemaResult> {
    let tool = Json::from_value(&tool::schema()).map_err(|_| fail::internal("memory.schema"))?;
    Ok(SchemaResult { tool, guidance: tool::GUIDANCE.into() })
}

fn write(caller: &Caller, changes: Changes, drift: Drift, expected_revision: Option<u64>) -> Write {
    Write { changes, drift, expected_revision, claim: caller.claim.clone() }
}

async fn apply(
    state: &State,
    caller: &Caller,
    target: Target,
    write: Write,
    session: Option<String>,
) -> Outcome<WriteResult> {
    check_length(&write.changes)?;
    let Written { view, outcome } = state.store(caller.profile(), target)?.write(write).await?;
    let writer = writer(caller, session);
    Ok(match outcome {
        Ok(applied) => {
            state.streaks.forget(&writer);
            succeeded(&view, &applied)
        }
        Err(refusal) => refused(state, writer, &refusal, Some(&view)),
    })
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
        return Err(RpcError::new(ErrorKind::TooLarge, words));
    }
    Ok(())
}

fn succeeded(view: &View, applied: &Applied) -> WriteResult {
    let file = view.target.file_name();
    let mut result = WriteResult {
        success: true,
        target: Some(wire_target(view.target)),
        entries: Some(all_shown(view.target, &view.entries)),
        usage: Some(view.usage().to_string()),
        entry_count: Some(wide(view.entries.len())),
        revision: Some(view.revision),
        ..WriteResult::default()
    };
    let message = match &applied.done {
        Done::Added => format!("Entry added to {file}."),
        Done::AlreadyThere => format!("{file} has this entry already; no duplicate added."),
        Done::Replaced(before) => {
            result.replaced_entry = Some(shown(view.target, before));
            format!("Entry replaced in {file}.")
        }
        Done::Removed(before) => {
            result.removed_entry = Some(shown(view.target, before));
            format!("Entry removed from {file}.")
        }
        Done::Batch(count) => format!("{count} operations applied to {file}."),
    };
    result.message = Some(message);
    result
}

fn refused(state: &State, writer: Writer, refusal: &Refusal, view: Option<&View>) -> WriteResult {
    let mut result = WriteResult {
        error: Some(refusal.to_string()),
        usage: refusal.usage().map(herma_memory::usage::Usage::fraction),
        over_by: refusal.over_by().map(wide),
        remediation: refusal.remediation(),
        ..WriteResult::default()
    };
    match refusal.root() {
        Refusal::Overflow { .. } | Refusal::NoMatch { .. } => {
            result.current_entries = view.map(|view| all_shown(view.target, &view.entries));
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
    if state.streaks.refused(writer) {
        result.done = Some(true);
        let why = refusal.to_string();
        result.error = Some(format!(
            "This is final after several refusals in a row: leave memory alone for now and go on with the task. The reason was: {why}"
        ));
    }
    result
}

fn writer(caller: &Caller, session: Option<String>) -> Writer {
    session.map_or(Writer::Connection(caller.connection), Writer::Session)
}

fn drift(allowed: Option<bool>) -> Drift {
    if allowed.unwrap_or(false) { Drift::Allowed } else { Drift::Refused }
}

const fn domain_target(target: wire::Target) -> Target {
    match target {
        wire::Target::Memory => Target::Memory,
        wire::Target::User => Target::User,
    }
}

pub(super) const fn wire_target(target: Target) -> wire::Target {
    match target {
        Target::Memory => wire::Target::Memory,
        Target::User => wire::Target::User,
    }
}
