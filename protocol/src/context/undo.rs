//! `context.undo`: the list as it was before a compression.

use serde::{Deserialize, Serialize};

use crate::Json;

use super::Archived;

/// Params of `context.undo`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UndoParams {
    /// The session's id.
    pub session: String,
    /// The generation whose list is wanted; that before the newest compression when absent. With `dry_run` also
    /// the current one.
    pub generation: Option<u64>,
    /// The conversation by now; what was appended to the session when absent.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
    /// Only look: give the list and what it costs, and change nothing.
    pub dry_run: Option<bool>,
}

/// Result of `context.undo`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UndoResult {
    /// The session's id.
    pub session: String,
    /// Its generation by now: one more than before, unless it was only looked.
    pub generation: u64,
    /// The generation whose list came back.
    pub restored: u64,
    /// Handles of the compressions that are undone, newest first.
    pub undone: Vec<String>,
    /// Where what left the list by it is kept; null where it was only looked.
    pub archived: Option<Archived>,
    /// The list, byte for byte as it was, and behind it what was said since.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
    /// How many of its last messages were said since.
    pub since: u64,
    /// Its chars.
    pub chars: u64,
    /// What it costs, in tokens, by estimate.
    pub tokens: u64,
    /// Tokens from which compression is due; null where the session's window is not known.
    pub threshold: Option<u64>,
    /// The window in tokens, if known.
    pub context_length: Option<u64>,
    /// The list is over the threshold: the next check will call for a compression.
    pub over_threshold: bool,
}
