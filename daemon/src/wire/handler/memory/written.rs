//! The answer to a writer, in words on which a model can act.

use herma_guard::Policy;
use herma_memory::change::{Applied, Done};
use herma_memory::render::shown;
use herma_memory::{Entry, Refusal, View};
use herma_protocol::guard::Finding;
use herma_protocol::memory::WriteResult;

use super::wire_target;
use crate::data::numbers::to_u64;
use crate::service::memory::{Reach, WriteOutcome, WriteReport};
use crate::wire::handler::guard::wire_finding;
use crate::wire::services::Services;

/// Returns the answer for a write.
pub(super) fn written(services: &Services, report: WriteReport) -> WriteResult {
    let mut result = outcome(services.memory.policy(), report.outcome);
    if report.is_final {
        result.done = Some(true);
        let why = result.error.take().unwrap_or_default();
        result.error = Some(format!(
            "This is final after several refusals in a row: leave memory alone for now and go on with the task. The reason was: {why}"
        ));
    }
    result.pending_count = report.pending;
    result
}

/// Returns the answer for an outcome, without facts about the writer.
pub(super) fn outcome(policy: &Policy, outcome: WriteOutcome) -> WriteResult {
    match outcome {
        WriteOutcome::Done { view, applied, reach } => {
            let mut result = done(policy, &view, &applied);
            result.shared = (reach != Reach::Alone).then_some(reach == Reach::Shared);
            if reach == Reach::HostBound {
                result.host_bound = Some(true);
                result.message = result.message.map(|message| format!("{message} It stays on this host."));
            }
            result
        }
        WriteOutcome::Queued { id, target, findings, why } => WriteResult {
            success: true,
            shared: Some(false),
            message: Some(format!(
                "The write is kept on this machine as {id} and not shared yet: {} is unchanged until the shared \
                 database is back. Then it is done, or a person is asked if what it changes has changed meanwhile. Go \
                 on with the task. ({why})",
                target.file_name()
            )),
            queued_id: Some(id),
            warnings: warnings(&findings),
            ..WriteResult::default()
        },
        WriteOutcome::Staged { id, target, findings } => WriteResult {
            success: true,
            staged: Some(true),
            message: Some(format!(
                "The write waits for a person's approval as {id}; {} is unchanged until then. Go on with the task.",
                target.file_name()
            )),
            pending_id: Some(id),
            warnings: warnings(&findings),
            ..WriteResult::default()
        },
        WriteOutcome::Refused { refusal, view } => refused(&refusal, view.as_deref()),
    }
}

fn done(policy: &Policy, view: &View, applied: &Applied) -> WriteResult {
    let file = view.target.file_name();
    let mut result = WriteResult {
        success: true,
        target: Some(wire_target(view.target)),
        entries: Some(strings(&view.shown)),
        usage: Some(view.usage().to_string()),
        entry_count: Some(to_u64(view.entries.len())),
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
        Done::Batch(1) => format!("1 operation applied to {file}."),
        Done::Batch(count) => format!("{count} operations applied to {file}."),
        Done::Reverted(revision) => format!("The change of revision {revision} is reverted in {file}."),
        Done::PutBack(revision) => format!("{file} holds the text of revision {revision} again."),
    };
    result.message = Some(message);
    result
}

fn refused(refusal: &Refusal, view: Option<&View>) -> WriteResult {
    let mut result = WriteResult {
        error: Some(refusal.to_string()),
        usage: refusal.usage().map(herma_memory::usage::Usage::fraction),
        over_by: refusal.over_by().map(to_u64),
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

fn warnings(findings: &[herma_guard::Finding]) -> Option<Vec<Finding>> {
    (!findings.is_empty()).then(|| findings.iter().map(wire_finding).collect())
}

pub(super) fn strings(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| entry.to_string()).collect()
}
