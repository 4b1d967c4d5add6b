//! Params and results of the memory methods.

use serde::{Deserialize, Serialize};

use crate::Json;
use crate::guard::Finding;

/// Which of a profile's two stores is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// MEMORY.md: the agent's own notes.
    Memory,
    /// USER.md: who the user is.
    User,
}

/// What an entry begins with that is for one host only: where its store is shared with other hosts it never leaves its
/// own.
pub const HOST_BOUND: &str = "[host-bound]";

/// Params of `memory.add`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AddParams {
    /// The store.
    pub target: Target,
    /// The new entry.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub content: String,
    /// Who writes: the session.
    pub session: Option<String>,
    /// Who writes: the agent.
    pub agent: Option<String>,
    /// Refuse with `conflict` unless the store is at this revision.
    pub expected_revision: Option<u64>,
}

/// Params of `memory.replace`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReplaceParams {
    /// The store.
    pub target: Target,
    /// The entry's text, or a part of it that no other entry has.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub old_text: String,
    /// What stands in its place.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub content: String,
    /// Who writes: the session.
    pub session: Option<String>,
    /// Who writes: the agent.
    pub agent: Option<String>,
    /// Refuse with `conflict` unless the store is at this revision.
    pub expected_revision: Option<u64>,
    /// Go ahead although an entry is longer than the whole limit.
    pub allow_drift: Option<bool>,
}

/// Params of `memory.remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveParams {
    /// The store.
    pub target: Target,
    /// The entry's text, or a part of it that no other entry has.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub old_text: String,
    /// Who writes: the session.
    pub session: Option<String>,
    /// Who writes: the agent.
    pub agent: Option<String>,
    /// Refuse with `conflict` unless the store is at this revision.
    pub expected_revision: Option<u64>,
    /// Go ahead although an entry is longer than the whole limit.
    pub allow_drift: Option<bool>,
}

/// Params of `memory.batch`: all operations or none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BatchParams {
    /// The store.
    pub target: Target,
    /// Applied in order; only the size after the last one is judged.
    pub operations: Vec<Operation>,
    /// The batch may leave a store empty that was not.
    pub allow_empty: Option<bool>,
    /// Who writes: the session.
    pub session: Option<String>,
    /// Who writes: the agent.
    pub agent: Option<String>,
    /// Refuse with `conflict` unless the store is at this revision.
    pub expected_revision: Option<u64>,
    /// Go ahead although an entry is longer than the whole limit.
    pub allow_drift: Option<bool>,
}

/// One step of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// What to do.
    pub action: Action,
    /// For add and replace: the new text.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub content: Option<String>,
    /// For replace and remove: which entry.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub old_text: Option<String>,
}

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Append an entry.
    Add,
    /// Put another text in an entry's place.
    Replace,
    /// Take an entry out.
    Remove,
}

/// Params of `memory.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListParams {
    /// One store; both when absent.
    pub target: Option<Target>,
    /// The entries as they are on disk, poisoned ones too: for people, not for
    /// a model.
    pub raw: Option<bool>,
}

/// Result of `memory.list`: null for a store that wasn't asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListResult {
    /// MEMORY.md.
    pub memory: Option<StoreView>,
    /// USER.md.
    pub user: Option<StoreView>,
    /// How many writes of the profile wait for approval; absent when none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_count: Option<u64>,
}

/// One store, read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoreView {
    /// The entries in their order.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub entries: Vec<String>,
    /// The revision that this is.
    pub revision: u64,
    /// `P% — C/L chars`.
    pub usage: String,
    /// The store is longer than its limit.
    pub over_limit: bool,
    /// Of a store that several hosts share: seconds since it was known to be as the others have it; -1 where
    /// it never was since the daemon started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_s: Option<f64>,
}

/// Params of `memory.tool`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolParams {
    /// The arguments that the model gave, as they came.
    #[serde(deserialize_with = "crate::params::whole")]
    pub arguments: Json,
    /// Who writes: the session.
    pub session: Option<String>,
    /// Who writes: the agent.
    pub agent: Option<String>,
}

/// Params of `memory.schema`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SchemaParams {}

/// Result of `memory.schema`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SchemaResult {
    /// The function schema of the `memory` tool.
    pub tool: Json,
    /// The paragraph for the system prompt.
    pub guidance: String,
}

/// What a write came to. A refused write is a result, not an error, for a
/// model reads it. Absent fields are left out on the JSON wire.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WriteResult {
    /// Whether the store now holds what was asked for.
    pub success: bool,
    /// The store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// All entries after a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub entries: Option<Vec<String>>,
    /// `P% — C/L chars` after a success, `C/L` after an overflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<String>,
    /// Number of entries after a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry_count: Option<u64>,
    /// What was done, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The store's revision after a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// The entry that a replace took out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub replaced_entry: Option<String>,
    /// The entry that a remove took out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub removed_entry: Option<String>,
    /// Why the write was refused, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// All entries, when the store is too full.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub current_entries: Option<Vec<String>>,
    /// How many chars must go before the same write fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_by: Option<u64>,
    /// The entries that `old_text` could mean, shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<Vec<String>>,
    /// Where a copy of a drifted store was put.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift_backup: Option<String>,
    /// What a person can do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remediation: Option<String>,
    /// Too many refusals in a row: leave memory alone for now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<bool>,
    /// What the guard found in a refused text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<Finding>>,
    /// What the guard only warns of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<Finding>>,
    /// The write waits for a person's approval; the store is as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staged: Option<bool>,
    /// What `memory.approve` and `memory.reject` call that write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_id: Option<String>,
    /// How many writes of the profile wait for approval; absent when none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_count: Option<u64>,
    /// Of a store that several hosts share: whether all of them have the write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<bool>,
    /// Of a store that several hosts share: the write is of entries that never leave this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_bound: Option<bool>,
    /// What `memory.queued` calls a write that is kept here until the shared database is back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_id: Option<String>,
}

/// Params of `memory.log`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogParams {
    /// One store; both when absent.
    pub target: Option<Target>,
    /// Rows at most, 1 to 1,000; 50 when absent.
    pub limit: Option<u64>,
    /// Only rows of revisions below this one.
    pub before: Option<u64>,
    /// The entries as they were on disk, poisoned ones too: for people, not for
    /// a model.
    pub raw: Option<bool>,
}

/// Result of `memory.log`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogResult {
    /// The changes, newest first.
    pub rows: Vec<LogRow>,
    /// Older rows are kept that were not asked for.
    pub more: bool,
    /// Lines of the journal that are damaged and left out.
    pub damaged: u64,
    /// How many writes of the profile wait for approval; absent when none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_count: Option<u64>,
}

/// One change of a store, as the journal has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogRow {
    /// The store.
    pub target: Target,
    /// The revision that the change made.
    pub revision: u64,
    /// When, in Unix seconds.
    pub time: f64,
    /// `add`, `replace`, `remove`, `batch`, `undo`, `restore`, `external` for
    /// a change by another program, or `join` for what a host brought that began to share.
    pub action: String,
    /// Who wrote: the session.
    pub session: Option<String>,
    /// Who wrote: the agent.
    pub agent: Option<String>,
    /// Where it was written: the host, of a store that several share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// All entries before it.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub before: Vec<String>,
    /// All entries after it.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub after: Vec<String>,
}

/// Params of `memory.undo`: the text before the newest revision becomes a new
/// revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UndoParams {
    /// The store.
    pub target: Target,
    /// Who writes: the session.
    pub session: Option<String>,
    /// Who writes: the agent.
    pub agent: Option<String>,
    /// Refuse with `conflict` unless the store is at this revision.
    pub expected_revision: Option<u64>,
}

/// Params of `memory.restore`: the text of an earlier revision becomes a new
/// revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RestoreParams {
    /// The store.
    pub target: Target,
    /// The revision whose text is put back; one that is not kept any more is
    /// `not_found`.
    pub revision: u64,
    /// Who writes: the session.
    pub session: Option<String>,
    /// Who writes: the agent.
    pub agent: Option<String>,
    /// Refuse with `conflict` unless the store is at this revision.
    pub expected_revision: Option<u64>,
}

/// Params of `memory.pending`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PendingParams {}

/// Result of `memory.pending`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PendingResult {
    /// The writes of the profile that wait for approval, oldest first.
    pub pending: Vec<PendingWrite>,
}

/// A write that waits for a person's approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PendingWrite {
    /// Its name: 8 hex digits.
    pub id: String,
    /// The store.
    pub target: Target,
    /// `add`, `replace`, `remove` or `batch`.
    pub action: String,
    /// What it would do, in one or two lines.
    pub summary: String,
    /// When it was staged, in Unix seconds.
    pub created_at: f64,
    /// Who wants it: the session.
    pub session: Option<String>,
    /// Who wants it: the agent.
    pub agent: Option<String>,
    /// The write itself.
    pub payload: Json,
}

/// Params of `memory.approve`: `ids`, or `all: true`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ApproveParams {
    /// These; one that is unknown is `not_found`, and nothing is done.
    pub ids: Option<Vec<String>>,
    /// All that wait.
    pub all: Option<bool>,
}

/// Result of `memory.approve`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ApproveResult {
    /// Those that were written, and wait no more.
    pub approved: Vec<Decided>,
    /// Those that the store refused; they wait on.
    pub failed: Vec<Decided>,
}

/// What an approved write came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Decided {
    /// The pending write.
    pub id: String,
    /// Its write result.
    pub result: WriteResult,
}

/// Params of `memory.reject`: `ids`, or `all: true`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RejectParams {
    /// These; one that is unknown is `not_found`, and nothing is done.
    pub ids: Option<Vec<String>>,
    /// All that wait.
    pub all: Option<bool>,
}

/// Result of `memory.reject`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RejectResult {
    /// Those that were thrown away.
    pub rejected: Vec<String>,
}

/// Params of `memory.queued`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct QueuedParams {}

/// Result of `memory.queued`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct QueuedResult {
    /// The writes that are kept here until the shared database is back, oldest first.
    pub queued: Vec<PendingWrite>,
}
