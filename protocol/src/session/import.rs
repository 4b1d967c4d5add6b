//! `session.import`: what another program kept of a conversation.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `session.import`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportParams {
    /// The session's id: 1 to 1,024 chars, no controls.
    pub session: String,
    /// The program that it was said in.
    pub agent: Option<String>,
    /// The file that it was read from; at most 4,096 chars.
    pub source: Option<String>,
    /// The folder that the agent worked in; at most 4,096 chars.
    pub cwd: Option<String>,
    /// The session that it came out of.
    pub parent: Option<String>,
    /// A title for people; a later one replaces it.
    pub title: Option<String>,
    /// The model that it was said to.
    pub model: Option<String>,
    /// Position of the first message in the session, from 0. A gap is `conflict`; messages whose
    /// place is taken are passed over.
    pub position: u64,
    /// The messages.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
    /// When each of them was said, in Unix seconds; where it is null or absent, as the one before, else now.
    pub times: Option<Vec<Option<f64>>>,
    /// Mask the secrets in the messages; false when absent.
    pub redact: Option<bool>,
}

/// Result of `session.import`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportResult {
    /// Position of the next message.
    pub position: u64,
}
