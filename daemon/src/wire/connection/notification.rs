//! What an event of the daemon is on the wire.

use std::sync::Arc;

use herma_archive::session::SessionNames;
use herma_memory::Action;
use herma_memory::files::FileAction;
use herma_protocol::context::Report;
use herma_protocol::notification::{
    Cause, CompressionDone, CompressionProgress, FilesChanged, MemoryChanged, MemoryRefused, MessagesAppended,
    OutputExpired, OutputSpilled, Phase as WirePhase, SessionChange as WireState, SessionChanged, SessionExpired,
    WindowChanged,
};
use herma_protocol::{Notification, Topic};

use crate::data::event::{Append, Event, Phase, SessionChange, SessionState, SpilledOutput, WindowChange};
use crate::wire::handler::ledger::wire_change;
use crate::wire::handler::memory::wire_target;
use crate::wire::handler::output::reason;

/// The largest number of paths in one notification.
const PATHS: usize = 1_000;

/// Returns the topic of an event.
pub(super) const fn topic(event: &Event) -> Topic {
    match event {
        Event::MemoryChanged(_) => Topic::MemoryChanged,
        Event::FilesChanged(_) => Topic::FilesChanged,
        Event::OutputExpired(_) => Topic::OutputExpired,
        Event::SessionExpired(_) => Topic::SessionExpired,
        Event::CompressionProgress { .. } => Topic::CompressionProgress,
        Event::CompressionDone(_) => Topic::CompressionDone,
        Event::SessionChanged(_) => Topic::SessionChanged,
        Event::MessagesAppended(_) => Topic::MessagesAppended,
        Event::OutputSpilled(_) => Topic::OutputSpilled,
        Event::MemoryRefused(_) => Topic::MemoryRefused,
        Event::WindowChanged(_) => Topic::WindowChanged,
    }
}

/// Returns the notification of an event.
pub(super) fn notification(event: Event) -> Notification {
    match event {
        Event::MemoryChanged(change) => Notification::MemoryChanged(MemoryChanged {
            profile: change.profile,
            target: wire_target(change.target),
            revision: change.revision,
            cause: match change.action {
                Action::External => Cause::External,
                Action::Undo | Action::Revert => Cause::Undo,
                Action::Restore => Cause::Restore,
                _ => Cause::Write,
            },
            session: change.session,
            agent: change.agent,
        }),
        Event::FilesChanged(change) => Notification::FilesChanged(FilesChanged {
            profile: change.profile.clone(),
            revision: change.revision,
            cause: match change.action {
                FileAction::External | FileAction::Found => Cause::External,
                FileAction::Undo => Cause::Undo,
                FileAction::Restore => Cause::Restore,
                _ => Cause::Write,
            },
            paths: change.paths.iter().take(PATHS).map(ToString::to_string).collect(),
            session: change.session.clone(),
            agent: change.agent.clone(),
        }),
        Event::OutputExpired(gone) => Notification::OutputExpired(OutputExpired {
            handle: gone.handle.to_string(),
            session: gone.session.clone(),
            tool: gone.tool.clone(),
            id: gone.id.clone(),
            bytes: gone.bytes,
            sha256: base16ct::lower::encode_string(&gone.sha256),
            reason: reason(gone.reason),
        }),
        Event::SessionExpired(gone) => Notification::SessionExpired(SessionExpired {
            session: gone.session.clone(),
            messages: gone.messages,
            bytes: gone.bytes,
            reason: reason(gone.reason),
        }),
        Event::CompressionProgress { session, phase } => {
            let (phase, done) = match phase {
                Phase::Prune => (WirePhase::Prune, 0.0),
                Phase::Summarise => (WirePhase::Summarise, 0.2),
                Phase::Check => (WirePhase::Check, 0.7),
                Phase::Assemble => (WirePhase::Assemble, 0.8),
            };
            Notification::CompressionProgress(CompressionProgress { session, phase, done })
        }
        Event::CompressionDone(done) => {
            let report = Report::clone(&done);
            Notification::CompressionDone(Box::new(CompressionDone { session: report.session.clone(), report }))
        }
        Event::SessionChanged(change) => {
            let SessionChange { session, profile, state, names } = Arc::unwrap_or_clone(change);
            let SessionNames { agent, title, cwd, .. } = names;
            let change = wire_state(state);
            Notification::SessionChanged(SessionChanged { session, profile, change, agent, title, cwd })
        }
        Event::MessagesAppended(appended) => {
            let Append { session, generation, position } = Arc::unwrap_or_clone(appended);
            Notification::MessagesAppended(MessagesAppended { session, generation, position })
        }
        Event::OutputSpilled(spilled) => {
            let SpilledOutput { handle, session, tool, id, chars, sha256 } = Arc::unwrap_or_clone(spilled);
            Notification::OutputSpilled(OutputSpilled { handle, session, tool, id, chars, sha256 })
        }
        Event::MemoryRefused(refused) => Notification::MemoryRefused(MemoryRefused {
            profile: refused.profile.clone(),
            target: refused.target.map(wire_target),
            session: refused.author.session.clone(),
            agent: refused.author.agent.clone(),
            error: refused.refusal.to_string(),
        }),
        Event::WindowChanged(change) => {
            let WindowChange { session, changes } = Arc::unwrap_or_clone(change);
            let changes = changes.iter().map(wire_change).collect();
            Notification::WindowChanged(WindowChanged { session, changes })
        }
    }
}

const fn wire_state(state: SessionState) -> WireState {
    match state {
        SessionState::Opened => WireState::Opened,
        SessionState::Resumed => WireState::Resumed,
        SessionState::Updated => WireState::Updated,
        SessionState::Closed => WireState::Closed,
    }
}
