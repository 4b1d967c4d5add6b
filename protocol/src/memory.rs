//! Params and results of the memory methods.

use serde::{Deserialize, Serialize};

use crate::Json;
use crate::guard::Finding;

/// One of a profile's two stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// MEMORY.md: the agent's own notes.
    Memory,
    /// USER.md: notes about the user.
    User,
}

/// The prefix of an entry for one host only. If the store is shared, the entry never leaves its host.
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
    /// The session that writes.
    pub session: Option<String>,
    /// The agent that writes.
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
    /// The entry's text, or a part of it that occurs in no other entry.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub old_text: String,
    /// The new text of the entry.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub content: String,
    /// The session that writes.
    pub session: Option<String>,
    /// The agent that writes.
    pub agent: Option<String>,
    /// Refuse with `conflict` unless the store is at this revision.
    pub expected_revision: Option<u64>,
    /// Write even if an entry is longer than the whole limit.
    pub allow_drift: Option<bool>,
}

/// Params of `memory.remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveParams {
    /// The store.
    pub target: Target,
    /// The entry's text, or a part of it that occurs in no other entry.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub old_text: String,
    /// The session that writes.
    pub session: Option<String>,
    /// The agent that writes.
    pub agent: Option<String>,
    /// Refuse with `conflict` unless the store is at this revision.
    pub expected_revision: Option<u64>,
    /// Write even if an entry is longer than the whole limit.
    pub allow_drift: Option<bool>,
}

/// Params of `memory.batch`: does all operations or none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BatchParams {
    /// The store.
    pub target: Target,
    /// The operations, applied in order. Only the size after the last one is checked.
    pub operations: Vec<Operation>,
    /// Whether the batch may empty a store that has entries.
    pub allow_empty: Option<bool>,
    /// The session that writes.
    pub session: Option<String>,
    /// The agent that writes.
    pub agent: Option<String>,
    /// Refuse with `conflict` unless the store is at this revision.
    pub expected_revision: Option<u64>,
    /// Write even if an entry is longer than the whole limit.
    pub allow_drift: Option<bool>,
}

/// One operation of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// The kind of operation.
    pub action: Action,
    /// The new text, for add and replace.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub content: Option<String>,
    /// The entry, for replace and remove.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub old_text: Option<String>,
}

/// The kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Append an entry.
    Add,
    /// Replace the text of an entry.
    Replace,
    /// Remove an entry.
    Remove,
}

/// Params of `memory.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListParams {
    /// The store; both stores when absent.
    pub target: Option<Target>,
    /// Return the entries as they are on disk, including blocked ones. For people, not for a model.
    pub raw: Option<bool>,
}

/// Result of `memory.list`; a store that was not requested is null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListResult {
    /// MEMORY.md.
    pub memory: Option<StoreView>,
    /// USER.md.
    pub user: Option<StoreView>,
    /// Number of the profile's writes that wait for approval; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_count: Option<u64>,
}

/// The content of a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoreView {
    /// The entries in order.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub entries: Vec<String>,
    /// The revision of this content.
    pub revision: u64,
    /// `P% — C/L chars`.
    pub usage: String,
    /// Whether the store is longer than its limit.
    pub over_limit: bool,
    /// Seconds since a shared store was last known to match the database; -1 if that has not
    /// happened since the daemon started. Absent if the store is not shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_s: Option<f64>,
}

/// Params of `memory.tool`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolParams {
    /// The arguments from the model, unchanged.
    #[serde(deserialize_with = "crate::params::whole")]
    pub arguments: Json,
    /// The session that writes.
    pub session: Option<String>,
    /// The agent that writes.
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
    /// A paragraph about the tool for the system prompt.
    pub guidance: String,
}

/// Result of a write. A refused write is a result and not an error, because a model reads it.
/// Absent fields are left out of the JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WriteResult {
    /// Whether the store now contains the requested change.
    pub success: bool,
    /// The store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// All entries, after a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub entries: Option<Vec<String>>,
    /// `P% — C/L chars` after a success, `C/L` after an overflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<String>,
    /// Number of entries after a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry_count: Option<u64>,
    /// What the write did, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The store's revision after a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// The entry that a replace removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub replaced_entry: Option<String>,
    /// The entry that a remove removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub removed_entry: Option<String>,
    /// Why the write was refused, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// All entries, if the store is too full.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub current_entries: Option<Vec<String>>,
    /// Number of chars to remove before the same write fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_by: Option<u64>,
    /// The entries that match `old_text`, shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<Vec<String>>,
    /// The path of the backup copy of a drifted store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift_backup: Option<String>,
    /// What a person can do about the refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remediation: Option<String>,
    /// True after too many refusals in a row: the model should stop writing memory for now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<bool>,
    /// Findings of the guard in a refused text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<Finding>>,
    /// Findings of the guard that only warn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<Finding>>,
    /// Whether the write waits for a person's approval; the store is unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staged: Option<bool>,
    /// The id of the waiting write for `memory.approve` and `memory.reject`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_id: Option<String>,
    /// Number of the profile's writes that wait for approval; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_count: Option<u64>,
    /// For a shared store: whether the write is in the shared database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<bool>,
    /// For a shared store: whether the write concerns only entries that never leave this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_bound: Option<bool>,
    /// The id in `memory.queued` of a write that waits on this host until the shared database is back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_id: Option<String>,
}

/// Params of `memory.log`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogParams {
    /// The store; both stores when absent.
    pub target: Option<Target>,
    /// The most rows to return, 1 to 1,000; 50 when absent.
    pub limit: Option<u64>,
    /// Only rows with a revision below this one.
    pub before: Option<u64>,
    /// Only rows from this time on, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<f64>,
    /// Only rows before this time, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    /// Return the entries as they were on disk, including blocked ones. For people, not for a model.
    pub raw: Option<bool>,
}

/// Result of `memory.log`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogResult {
    /// The changes, newest first.
    pub rows: Vec<LogRow>,
    /// Whether there are older rows.
    pub more: bool,
    /// Number of damaged journal lines, which are left out.
    pub damaged: u64,
    /// Number of the profile's writes that wait for approval; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_count: Option<u64>,
}

/// One change of a store, as recorded in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogRow {
    /// The store.
    pub target: Target,
    /// The revision that the change created.
    pub revision: u64,
    /// When the change was made, in Unix seconds.
    pub time: f64,
    /// `add`, `replace`, `remove`, `batch`, `undo` or `restore`; `external` for a change by another
    /// program; `join` for entries that a host brought when it began to share.
    pub action: String,
    /// The session that wrote.
    pub session: Option<String>,
    /// The agent that wrote.
    pub agent: Option<String>,
    /// The host on which it was written, if several hosts share the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// All entries before the change.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub before: Vec<String>,
    /// All entries after the change.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub after: Vec<String>,
}

/// Params of `memory.undo`: the text before the newest revision becomes a new revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UndoParams {
    /// The store.
    pub target: Target,
    /// The session that writes.
    pub session: Option<String>,
    /// The agent that writes.
    pub agent: Option<String>,
    /// Refuse with `conflict` unless the store is at this revision.
    pub expected_revision: Option<u64>,
}

/// Params of `memory.restore`: the text of an earlier revision becomes a new revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RestoreParams {
    /// The store.
    pub target: Target,
    /// The revision to restore; one that is no longer kept is `not_found`.
    pub revision: u64,
    /// The session that writes.
    pub session: Option<String>,
    /// The agent that writes.
    pub agent: Option<String>,
    /// Refuse with `conflict` unless the store is at this revision.
    pub expected_revision: Option<u64>,
}

/// Params of `memory.revert`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RevertParams {
    /// The store.
    pub target: Target,
    /// The revision whose change to revert; one that is no longer kept is `not_found`.
    pub revision: u64,
    /// The session that writes.
    pub session: Option<String>,
    /// The agent that writes.
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
    /// The profile's writes that wait for approval, oldest first.
    pub pending: Vec<PendingWrite>,
}

/// A write that waits for a person's approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PendingWrite {
    /// Its id: 8 hex digits.
    pub id: String,
    /// The store.
    pub target: Target,
    /// `add`, `replace`, `remove` or `batch`.
    pub action: String,
    /// What it would change, in one or two lines.
    pub summary: String,
    /// When it was staged, in Unix seconds.
    pub created_at: f64,
    /// The session that requested it.
    pub session: Option<String>,
    /// The agent that requested it.
    pub agent: Option<String>,
    /// The params of the write.
    pub payload: Json,
}

/// Params of `memory.approve`: `ids`, or `all: true`, or `session` and `agent` or one of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ApproveParams {
    /// The writes to approve. If one is unknown, the error is `not_found` and nothing is done.
    pub ids: Option<Vec<String>>,
    /// Approve all waiting writes.
    pub all: Option<bool>,
    /// The writes that this session requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The writes that this agent requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The text to write instead of the requested one. For one id of a write that adds or replaces an entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// Result of `memory.approve`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ApproveResult {
    /// Approved writes that are now done and no longer wait.
    pub approved: Vec<Decided>,
    /// Writes that the store refused; they still wait.
    pub failed: Vec<Decided>,
}

/// The outcome of an approved write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Decided {
    /// The id of the write.
    pub id: String,
    /// The result of the write.
    pub result: WriteResult,
}

/// Params of `memory.reject`: as of `memory.approve`, without a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RejectParams {
    /// The writes to reject. If one is unknown, the error is `not_found` and nothing is done.
    pub ids: Option<Vec<String>>,
    /// Reject all waiting writes.
    pub all: Option<bool>,
    /// The writes that this session requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The writes that this agent requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Result of `memory.reject`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RejectResult {
    /// The ids of the discarded writes.
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
    /// The writes that wait on this host until the shared database is back, oldest first.
    pub queued: Vec<PendingWrite>,
}
