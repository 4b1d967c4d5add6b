//! `session.append` and `session.remove`: store and remove a session's messages.

use serde::{Deserialize, Serialize};

use crate::Json;
use crate::guard::SecretCount;

/// Params of `session.append`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AppendParams {
    /// The session's id.
    pub session: String,
    /// The generation that the messages belong to; a different one is `conflict`.
    pub generation: u64,
    /// Position of the first message in the session's list, from 0. A gap is `conflict`; messages
    /// that are already stored are skipped.
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
    /// The masked secrets of a captured session by kind; absent if there was none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretCount>,
}

/// Params of `session.remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveParams {
    /// The session's id.
    pub session: String,
}

/// Result of `session.remove`: counts of what was deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveResult {
    /// Deleted messages.
    pub messages: u64,
    /// Deleted spilled outputs.
    pub outputs: u64,
    /// Bytes of both.
    pub bytes: u64,
}
