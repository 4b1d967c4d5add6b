//! `context.pin`, `context.pins` and `context.unpin`: messages that a compression leaves in the list.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `context.pin`. The message is named in one of three ways.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PinParams {
    /// The session's id.
    pub session: String,
    /// Its position in what was appended to the session.
    pub position: Option<u64>,
    /// A handle that it names; of several messages the newest.
    pub handle: Option<String>,
    /// The message itself.
    pub message: Option<Json>,
    /// Until when, in Unix seconds; until it is unpinned when absent.
    pub until: Option<f64>,
}

/// A pinned message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Pin {
    /// Names it within its session.
    pub id: String,
    /// Who said it.
    pub role: String,
    /// How its text begins, 200 chars at the most, without secrets.
    pub text: String,
    /// Tokens of what stays because of it, its pair included; estimated when it was pinned.
    pub tokens: u64,
    /// Since when, in Unix seconds.
    pub at: f64,
    /// Until when, in Unix seconds; until it is unpinned when absent.
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
    /// Those in force, oldest first.
    pub pins: Vec<Pin>,
    /// Tokens that they may take together; absent where the session's window is not known.
    pub most_tokens: Option<u64>,
}

/// Params of `context.unpin`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnpinParams {
    /// The session's id.
    pub session: String,
    /// Names the pin.
    pub id: String,
}

/// Result of `context.unpin`: nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnpinResult {}
