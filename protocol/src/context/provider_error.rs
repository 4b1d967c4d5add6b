//! `context.classify_error`.

use serde::{Deserialize, Serialize};

/// Params of `context.classify_error`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClassifyErrorParams {
    /// The provider's error message.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The window that the caller assumes, in tokens.
    pub current: Option<u64>,
    /// The session whose model returned the error. If the error names a window, herma remembers it
    /// for that model at that endpoint.
    pub session: Option<String>,
}

/// Result of `context.classify_error`. Sizes are in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClassifyErrorResult {
    /// The kind of error.
    pub kind: ErrorClass,
    /// The window that the error text names.
    pub context_limit: Option<u64>,
    /// The same window, if it is smaller than `current`.
    pub lower_limit: Option<u64>,
    /// Tokens left for the answer.
    pub available_output: Option<u64>,
    /// The largest usual window below `current`.
    pub next_tier: Option<u64>,
}

/// The kind of a provider's error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The prompt doesn't fit into the window.
    InputTooLong,
    /// The request reserved more tokens for the answer than are left.
    OutputCap,
    /// Something else.
    Other,
}
