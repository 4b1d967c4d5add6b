//! `context.open` and `context.fold`: put archived parts of a conversation back into its list, and remove them again.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `context.open`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpenParams {
    /// The session's id.
    pub session: String,
    /// The id of a node of the session's map.
    pub node: String,
    /// The current conversation. When absent, the messages appended to the session and all open nodes.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
}

/// Result of `context.open`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpenResult {
    /// The node.
    pub node: String,
    /// The position in the list before which the messages go.
    pub at: u64,
    /// The messages that the node covers, byte for byte. Where two messages of one role would meet,
    /// a mark is added before or after them.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
    /// Their estimated tokens.
    pub tokens: u64,
    /// Estimated tokens of the whole list with them.
    pub list_tokens: u64,
    /// The threshold for compression in tokens; null if the session's window is unknown.
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
    /// The open node to close; all open nodes when absent.
    pub node: Option<String>,
    /// The current conversation. When absent, the messages appended to the session and all open nodes.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
}

/// Result of `context.fold`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FoldResult {
    /// The nodes that this call closed.
    pub folded: Vec<String>,
    /// Ranges `[from, to)` of positions to remove from the list, in order.
    pub remove: Vec<(u64, u64)>,
    /// Estimated tokens of the list without them.
    pub list_tokens: u64,
    /// The nodes that are still open, in the order of the conversation.
    pub open: Vec<String>,
}
