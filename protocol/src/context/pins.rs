//! `context.pin`, `context.pins` and `context.unpin`: messages that compressions keep in the list.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `context.pin`. `position`, `handle` or `message` names the message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PinParams {
    /// The session's id.
    pub session: String,
    /// Its position in the messages appended to the session.
    pub position: Option<u64>,
    /// A handle in its text; if several messages contain it, the newest one.
    pub handle: Option<String>,
    /// The message itself.
    pub message: Option<Json>,
    /// When the pin ends, in Unix seconds; when absent, it stays until `context.unpin`.
    pub until: Option<f64>,
}

/// A pinned message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Pin {
    /// Its id, unique within its session.
    pub id: String,
    /// The role of the message.
    pub role: String,
    /// The beginning of its text without secrets, at most 200 chars.
    pub text: String,
    /// Tokens kept because of this pin, including the message's pair; estimated when it was pinned.
    pub tokens: u64,
    /// When it was pinned, in Unix seconds.
    pub at: f64,
    /// When the pin ends, in Unix seconds; when absent, it stays until `context.unpin`.
    pub until: Option<f64>,
}

/// Params of `context.pins`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PinsParams {
    /// The session's id.
    pub session: String,
}

/// Result of `context.pins`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PinsResult {
    /// The pins in force, oldest first.
    pub pins: Vec<Pin>,
    /// The most tokens that all pins may keep together; absent if the session's window is unknown.
    pub most_tokens: Option<u64>,
}

/// Params of `context.unpin`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnpinParams {
    /// The session's id.
    pub session: String,
    /// The pin's id.
    pub id: String,
}

/// Result of `context.unpin`: empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnpinResult {}
