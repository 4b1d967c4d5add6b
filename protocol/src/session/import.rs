//! `session.import`: imports a conversation that another program stored.

use serde::{Deserialize, Serialize};

use super::usage::Call;
use crate::Json;
use crate::guard::SecretCount;

/// Params of `session.import`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportParams {
    /// The session's id: 1 to 1,024 chars without control characters.
    pub session: String,
    /// The program that the conversation is from.
    pub agent: Option<String>,
    /// The file that the conversation was read from; at most 4,096 chars.
    pub source: Option<String>,
    /// The working directory of the agent; at most 4,096 chars.
    pub cwd: Option<String>,
    /// The parent session.
    pub parent: Option<String>,
    /// A title for people; a later import replaces it.
    pub title: Option<String>,
    /// The model of the conversation; a later import replaces it.
    pub model: Option<String>,
    /// The model's window in tokens, at least 1; a later import replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_length: Option<u64>,
    /// The branch of the working directory's repository; a later import replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Position of the first message in the session, from 0. A gap is `conflict`; messages at
    /// existing positions are skipped.
    pub position: u64,
    /// The messages.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
    /// The time of each message, in Unix seconds. Where it is null or absent, the previous message's time, else now.
    pub times: Option<Vec<Option<f64>>>,
    /// The model calls of the conversation as the provider reported them; at most 10,000. A repeated id is recorded only
    /// once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<Call>>,
    /// Whether to mask secrets in the messages; when absent, as `archive.redact` in the configuration says.
    pub redact: Option<bool>,
}

/// Result of `session.import`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportResult {
    /// Position of the next message.
    pub position: u64,
    /// Number of messages in which a secret was masked or a private part left out; absent if there was none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub masked: u64,
    /// The masked secrets by kind; absent if there was none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretCount>,
}

const fn is_zero(count: &u64) -> bool {
    *count == 0
}
