//! `context.classify_error`.

use serde::{Deserialize, Serialize};

/// Params of `context.classify_error`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClassifyErrorParams {
    /// What the provider said.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The window that the caller believes in, in tokens.
    pub current: Option<u64>,
    /// A session whose model gave the error: a window that the provider names is remembered
    /// for that model at that endpoint.
    pub session: Option<String>,
}

/// Result of `context.classify_error`. Sizes are in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClassifyErrorResult {
    /// What was wrong.
    pub kind: ErrorClass,
    /// The window that the text names.
    pub context_limit: Option<u64>,
    /// The same if it is smaller than `current`.
    pub lower_limit: Option<u64>,
    /// Tokens that are left for the answer.
    pub available_output: Option<u64>,
    /// The next smaller usual window below `current`.
    pub next_tier: Option<u64>,
}

/// What a provider's error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The prompt does not fit the window.
    InputTooLong,
    /// More tokens were asked for than are left for the answer.
    OutputCap,
    /// Something else.
    Other,
}
