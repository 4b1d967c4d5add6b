//! Events in the daemon about which it can notify clients.

use std::sync::Arc;

use herma_context::engine::{AuxFailure, Over, Scored};
use herma_memory::files::{FileAction, FilePath};
use herma_memory::{Action, Target};
use herma_spill::Reason;
use herma_spill::outputs::Expired;

use super::summarizer_kind::Kind;

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
    CompressionDone(Arc<CompressionReport>),
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

/// The result of a compression, or why it changed nothing.
#[derive(Debug, Clone)]
pub(crate) struct CompressionReport {
    /// Why the input was returned unchanged; `None` if it was compressed.
    pub reason: Option<String>,
    /// The session with which the client continues.
    pub session: String,
    /// The session's generation after the compression.
    pub generation: u64,
    /// The size of the list before the compression.
    pub before: Size,
    /// The size of the list after it.
    pub after: Size,
    /// Messages kept at the front.
    pub head: usize,
    /// Messages kept at the end.
    pub tail: usize,
    /// Messages that pruning changed.
    pub pruned: usize,
    /// Messages that the handoff replaced.
    pub dropped: usize,
    /// Rules quoted in the handoff.
    pub constraints: usize,
    /// Exact values indexed in the handoff.
    pub anchors: usize,
    /// The reference to the archived messages, and their number.
    pub archived: Option<(String, usize)>,
    /// The summarizer that wrote the summary. If nothing was compressed, the one that would have.
    pub summarizer: Kind,
    /// Whether a summarizer other than the configured one wrote it.
    pub fallback: bool,
    /// Whether the run gave up.
    pub aborted: bool,
    /// The summary model that failed, so that the run went on without it.
    pub aux_failure: Option<AuxFailure>,
    /// Why the summary failed.
    pub error: Option<String>,
    /// The tokens saved, in percent of the tokens before.
    pub savings_pct: f64,
    /// The number of compressions in a row that saved too little.
    pub ineffective_count: u32,
    /// The number of compressions of the session so far.
    pub compression_count: u64,
    /// Seconds until the daemon tries a failed summarizer again.
    pub cooldown_s: f64,
    /// Quotations that do not occur in the source of the summary.
    pub unverified: Vec<String>,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
    /// The duration, in seconds.
    pub elapsed_s: f64,
    /// Why the list is still over the threshold, if it is.
    pub over: Option<Over>,
    /// Messages between head and tail that are kept word for word.
    pub verbatim: Vec<Scored>,
    /// Outputs of the tail that were shortened to make room for the handoff.
    pub shortened: Vec<Scored>,
    /// Tokens of the old list that are no longer of use in a prompt cache.
    pub invalidated_tokens: u64,
    /// The number of calls after which the compression pays for itself if prompts are cached; `None` if it never does.
    pub pays_after_calls: Option<u64>,
    /// Messages that remain in the list because they or their pairs are pinned.
    pub pinned: usize,
    /// Outputs that are now only one line in the list, because the agent was done with them.
    pub discarded: usize,
    /// Closed episodes from which messages left the list.
    pub episodes: usize,
    /// Nodes that were open in the list and are now closed.
    pub folded: Vec<String>,
}

/// The size of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// The number of its messages.
    pub messages: usize,
    /// The number of their chars.
    pub chars: usize,
    /// The estimated number of their tokens.
    pub tokens: u64,
}
