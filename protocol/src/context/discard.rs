//! `context.discard`: outputs that the agent no longer needs.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `context.discard`. The outputs may be named in several ways at once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DiscardParams {
    /// The session's id.
    pub session: String,
    /// Positions of outputs or their calls in the messages appended to the session.
    pub positions: Option<Vec<u64>>,
    /// Handles that the outputs contain.
    pub handles: Option<Vec<String>>,
    /// Words of calls, such as a path or a command: the outputs of every call that contains one are discarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<String>>,
    /// The outputs themselves, as messages.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
    /// The reason; one line of up to 200 chars.
    pub reason: Option<String>,
}

/// Result of `context.discard`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DiscardResult {
    /// Number of outputs that the next compression reduces to one line.
    pub outputs: u64,
    /// Estimated tokens of these outputs now.
    pub tokens: u64,
}
