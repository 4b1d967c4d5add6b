//! `context.open` and `context.fold`: parts of a conversation that stand in its list again, and leave it.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `context.open`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpenParams {
    /// The session's id.
    pub session: String,
    /// A node of its map.
    pub node: String,
    /// The conversation by now; what was appended to the session, with what is open already, when absent.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
}

/// Result of `context.open`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpenResult {
    /// The node.
    pub node: String,
    /// The messages come before the message at this position of the list.
    pub at: u64,
    /// What the node stands for, byte for byte, with a mark before or behind it where two messages of one role
    /// would meet.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
    /// Their tokens, by estimate.
    pub tokens: u64,
    /// Tokens of the whole list with them.
    pub list_tokens: u64,
    /// Tokens from which compression is due; null where the session's window is not known.
    pub threshold: Option<u64>,
    /// All nodes that are open now, in the order of the conversation.
    pub open: Vec<String>,
}

/// Params of `context.fold`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FoldParams {
    /// The session's id.
    pub session: String,
    /// The open node to close; all of them when absent.
    pub node: Option<String>,
    /// The conversation by now; what was appended to the session, with what is open, when absent.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
}

/// Result of `context.fold`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FoldResult {
    /// The nodes that are closed now.
    pub folded: Vec<String>,
    /// Ranges `[from, to)` of positions that leave the list, in order.
    pub remove: Vec<(u64, u64)>,
    /// Tokens of the list without them, by estimate.
    pub list_tokens: u64,
    /// The nodes that are still open, in the order of the conversation.
    pub open: Vec<String>,
}
