//! Events in the daemon about which it can notify clients.

use std::sync::Arc;

use herma_archive::session::SessionNames;
use herma_context::ledger::Change;
use herma_memory::files::{FileAction, FilePath};
use herma_memory::{Action, Author, Refusal, Target};
use herma_protocol::context::report::Report;
use herma_spill::Reason;
use herma_spill::outputs::Expired;

/// An event.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    /// A store has a new revision.
    MemoryChanged(MemoryChange),
    /// The memory files of a profile have a new revision.
    FilesChanged(Arc<FilesChange>),
    /// An output was removed.
    OutputExpired(Arc<Expired>),
    /// A session was removed.
    SessionExpired(Arc<GoneSession>),
    /// A compression entered its next phase.
    CompressionProgress {
        /// The session.
        session: String,
        /// The phase that begins.
        phase: Phase,
    },
    /// A compression ended.
    CompressionDone(Arc<Report>),
    /// A session was opened, resumed, updated or closed.
    SessionChanged(Arc<SessionChange>),
    /// Messages of a session were archived.
    MessagesAppended(Arc<Append>),
    /// An output was spilled.
    OutputSpilled(Arc<SpilledOutput>),
    /// A write of a store was refused.
    MemoryRefused(Arc<RefusedWrite>),
    /// herma changed the window of a session.
    WindowChanged(Arc<WindowChange>),
}

/// A store's new revision.
#[derive(Debug, Clone)]
pub(crate) struct MemoryChange {
    /// The profile of the store.
    pub profile: String,
    /// The store.
    pub target: Target,
    /// Its new revision.
    pub revision: u64,
    /// The kind of change that made it.
    pub action: Action,
    /// The session that wrote, if the request named one.
    pub session: Option<String>,
    /// The agent that wrote, if the request named one.
    pub agent: Option<String>,
}

/// A new revision of memory files.
#[derive(Debug, Clone)]
pub(crate) struct FilesChange {
    /// The profile.
    pub profile: String,
    /// Their new revision.
    pub revision: u64,
    /// The kind of change that made it.
    pub action: FileAction,
    /// The files that changed.
    pub paths: Vec<FilePath>,
    /// The session that wrote, if the request named one.
    pub session: Option<String>,
    /// The agent that wrote, if the request named one.
    pub agent: Option<String>,
}

/// A write of a store that was refused.
#[derive(Debug, Clone)]
pub(crate) struct RefusedWrite {
    /// The profile.
    pub profile: String,
    /// The store, if the request named one.
    pub target: Option<Target>,
    /// The session and the agent that wrote.
    pub author: Author,
    /// The rule that it breaks.
    pub refusal: Refusal,
}

/// A change of a session.
#[derive(Debug, Clone)]
pub(crate) struct SessionChange {
    /// The session.
    pub session: String,
    /// Its profile.
    pub profile: String,
    /// What happened.
    pub state: SessionState,
    /// The names that the request gave.
    pub names: SessionNames,
}

/// What happened to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionState {
    /// It is new.
    Opened,
    /// It existed, and a client opened it again.
    Resumed,
    /// More is known of it.
    Updated,
    /// It was closed.
    Closed,
}

/// Messages that were archived.
#[derive(Debug, Clone)]
pub(crate) struct Append {
    /// Their session.
    pub session: String,
    /// The generation of its list.
    pub generation: u64,
    /// The position of the next message.
    pub position: u64,
}

/// An output that was spilled.
#[derive(Debug, Clone)]
pub(crate) struct SpilledOutput {
    /// Its handle.
    pub handle: String,
    /// The session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The call's id.
    pub id: String,
    /// Its length in chars.
    pub chars: u64,
    /// SHA-256 of its UTF-8 text, in hex.
    pub sha256: String,
}

/// herma's changes to the context window of a session.
#[derive(Debug, Clone)]
pub(crate) struct WindowChange {
    /// The session.
    pub session: String,
    /// The changes that the client recorded.
    pub changes: Vec<Change>,
}

/// A session that was removed, with all its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GoneSession {
    /// Its id.
    pub session: String,
    /// The number of its messages.
    pub messages: u64,
    /// The size of their JSON texts, in bytes.
    pub bytes: u64,
    /// Why it was removed.
    pub reason: Reason,
}

/// The phase of a compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It shortens old tool outputs.
    Prune,
    /// A summarizer writes the summary.
    Summarise,
    /// It checks the summary.
    Check,
    /// It builds the new list, and archives the messages that leave the old one.
    Assemble,
}
