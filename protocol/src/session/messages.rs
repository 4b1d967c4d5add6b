//! `session.messages`: the messages of a session, page by page.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `session.messages`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SessionMessagesParams"))]
pub struct MessagesParams {
    /// The session's id.
    pub session: String,
    /// The number of the first message, from 0; below 0 it counts from the end. 0 when absent.
    pub first: Option<i64>,
    /// The most messages, up to 1,000; 50 when absent.
    pub limit: Option<u64>,
    /// Only messages of these roles, which are numbered among themselves.
    pub roles: Option<Vec<String>>,
    /// Whether each message comes whole, byte for byte; false when absent.
    pub whole: Option<bool>,
}

/// Result of `session.messages`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SessionMessages"))]
pub struct MessagesResult {
    /// The messages in the order in which they were said.
    pub messages: Vec<Kept>,
    /// The number of the first one.
    pub first: u64,
    /// How many there are in all, of these roles.
    pub total: u64,
}

/// A message of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SessionMessage"))]
pub struct Kept {
    /// The handle for `recall.expand`.
    pub handle: String,
    /// Its role; null if it has none.
    pub role: Option<String>,
    /// When it was kept, in Unix seconds.
    pub time: f64,
    /// Its text with the names and the arguments of its calls, at most the first 2,000 chars.
    pub text: String,
    /// The chars of the whole text, if it is longer than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chars: Option<u64>,
    /// The compression that removed it from the list; null while it is in it.
    pub left_by: Option<String>,
    /// The whole message, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Json>,
}
