//! `context.discard`: outputs that the agent is done with.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `context.discard`. The outputs are named in one way or in several.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DiscardParams {
    /// The session's id.
    pub session: String,
    /// Positions in what was appended to the session, of the outputs or of their calls.
    pub positions: Option<Vec<u64>>,
    /// Handles that the outputs name.
    pub handles: Option<Vec<String>>,
    /// Words of calls, such as a path or a command: every call that names one has its outputs discarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<String>>,
    /// The outputs themselves, as messages.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
    /// Why; up to 200 chars of one line.
    pub reason: Option<String>,
}

/// Result of `context.discard`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DiscardResult {
    /// Outputs that the next compression leaves a line of.
    pub outputs: u64,
    /// Tokens that they take now, by estimate.
    pub tokens: u64,
}
