//! `context.undo`: restores the list from before a compression.

use serde::{Deserialize, Serialize};

use crate::Json;

use super::Archived;

/// Params of `context.undo`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UndoParams {
    /// The session's id.
    pub session: String,
    /// The generation whose list to restore; the one before the newest compression when absent.
    /// With `dry_run`, the current generation is allowed too.
    pub generation: Option<u64>,
    /// The current conversation; the messages appended to the session when absent.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
    /// Whether to only return the list and its cost, and change nothing.
    pub dry_run: Option<bool>,
}

/// Result of `context.undo`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UndoResult {
    /// The session's id.
    pub session: String,
    /// Its current generation: one more than before, or unchanged with `dry_run`.
    pub generation: u64,
    /// The generation whose list was restored.
    pub restored: u64,
    /// Handles of the undone compressions, newest first.
    pub undone: Vec<String>,
    /// Where the messages that left the list are archived; null with `dry_run`.
    pub archived: Option<Archived>,
    /// The restored list, byte for byte, followed by the messages since then.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
    /// Number of messages at its end that are newer than the compression.
    pub since: u64,
    /// Chars of the list.
    pub chars: u64,
    /// Estimated tokens of the list.
    pub tokens: u64,
    /// The threshold for compression in tokens; null if the session's window is unknown.
    pub threshold: Option<u64>,
    /// The window in tokens, if known.
    pub context_length: Option<u64>,
    /// Whether the list is over the threshold, so that the next check asks for a compression.
    pub over_threshold: bool,
}
