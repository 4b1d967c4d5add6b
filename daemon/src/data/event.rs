//! What happens in the daemon that a client may want to know without asking.

use std::sync::Arc;

use herma_context::engine::{AuxFailure, Over, Scored};
use herma_memory::files::{FileAction, FilePath};
use herma_memory::{Action, Target};
use herma_spill::Reason;
use herma_spill::outputs::Expired;

use super::summarizer_kind::Kind;

/// Something that happened.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    /// A store has a new revision.
    MemoryChanged(MemoryChange),
    /// The memory files of a profile have a new revision.
    FilesChanged(Arc<FilesChange>),
    /// An output is gone.
    OutputExpired(Arc<Expired>),
    /// A session is gone.
    SessionExpired(Arc<GoneSession>),
    /// A compression has come to its next phase.
    CompressionProgress {
        /// The session.
        session: String,
        /// What it does now.
        phase: Phase,
    },
    /// A compression is over.
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
    /// What made it.
    pub action: Action,
    /// The session that wrote, where one was named.
    pub session: Option<String>,
}

/// A new revision of memory files.
#[derive(Debug, Clone)]
pub(crate) struct FilesChange {
    /// The profile.
    pub profile: String,
    /// Their new revision.
    pub revision: u64,
    /// What made it.
    pub action: FileAction,
    /// The files that changed.
    pub paths: Vec<FilePath>,
    /// The session that wrote, where one was named.
    pub session: Option<String>,
}

/// A session that is gone, with all that was kept of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GoneSession {
    /// Its id.
    pub session: String,
    /// Its messages.
    pub messages: u64,
    /// Bytes of their JSON texts.
    pub bytes: u64,
    /// Why.
    pub reason: Reason,
}

/// What a compression does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Old tool outputs are made shorter.
    Prune,
    /// A summarizer writes.
    Summarise,
    /// What it wrote is checked.
    Check,
    /// The new list is put together, and what leaves the old one is archived.
    Assemble,
}

/// What a compression did, or why it did nothing.
#[derive(Debug, Clone)]
pub(crate) struct CompressionReport {
    /// Why the input came back; `None` where it was compressed.
    pub reason: Option<String>,
    /// The session to go on with.
    pub session: String,
    /// Its generation after it.
    pub generation: u64,
    /// The list before.
    pub before: Size,
    /// The list after.
    pub after: Size,
    /// Messages kept at the front.
    pub head: usize,
    /// Messages kept at the end.
    pub tail: usize,
    /// Messages that pruning changed.
    pub pruned: usize,
    /// Messages that the handoff replaces.
    pub dropped: usize,
    /// Rules quoted in the handoff.
    pub constraints: usize,
    /// Exact things indexed in the handoff.
    pub anchors: usize,
    /// Names what left the list, with the number of its messages.
    pub archived: Option<(String, usize)>,
    /// What wrote the summary; where nothing was compressed, what would have.
    pub summarizer: Kind,
    /// Another summarizer than the configured one wrote it.
    pub fallback: bool,
    /// The run gave up.
    pub aborted: bool,
    /// The summary model that failed and was left.
    pub aux_failure: Option<AuxFailure>,
    /// Why the summary failed.
    pub error: Option<String>,
    /// What was saved, in percent of the tokens before.
    pub savings_pct: f64,
    /// Compressions in a row that saved too little.
    pub ineffective_count: u32,
    /// Compressions of the session so far.
    pub compression_count: u64,
    /// Seconds until a failed summarizer is asked again.
    pub cooldown_s: f64,
    /// Quotations that don't occur in what the summary came from.
    pub unverified: Vec<String>,
    /// What the caller should know.
    pub warnings: Vec<String>,
    /// Seconds that it took.
    pub elapsed_s: f64,
    /// What keeps the list over the threshold, if it is.
    pub over: Option<Over>,
    /// Messages between head and tail that stay word for word.
    pub verbatim: Vec<Scored>,
    /// Outputs of the tail that became short to make room for the handoff.
    pub shortened: Vec<Scored>,
    /// Tokens of the list of before that a prompt cache has no use for any more.
    pub invalidated_tokens: u64,
    /// Calls after which it has paid for itself where prompts are cached, if it ever does.
    pub pays_after_calls: Option<u64>,
    /// Messages of the list that stay because they or their pairs are pinned.
    pub pinned: usize,
    /// Outputs of the list that are only a line any more because the agent was done with them.
    pub discarded: usize,
    /// Closed episodes of which messages left the list.
    pub episodes: usize,
    /// Nodes that were open in the list, and are closed.
    pub folded: Vec<String>,
}

/// How large a list is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// Its messages.
    pub messages: usize,
    /// Their chars.
    pub chars: usize,
    /// Their tokens, estimated.
    pub tokens: u64,
}
