//! `session.append` and `session.remove`: what a session said, kept and removed.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `session.append`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AppendParams {
    /// The session's id.
    pub session: String,
    /// The generation that the messages belong to; another one is `conflict`.
    pub generation: u64,
    /// Position of the first message in the session's list, from 0. A gap is
    /// `conflict`; messages that are there already are passed over.
    pub position: u64,
    /// The messages, exactly as the agent has them.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
}

/// Result of `session.append`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AppendResult {
    /// Position of the next message.
    pub position: u64,
}

/// Params of `session.remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveParams {
    /// The session's id.
    pub session: String,
}

/// Result of `session.remove`: what is gone for good.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveResult {
    /// Messages.
    pub messages: u64,
    /// Spilled outputs.
    pub outputs: u64,
    /// Bytes of both.
    pub bytes: u64,
}
