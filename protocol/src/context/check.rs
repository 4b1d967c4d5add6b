//! `context.check` and `context.reset`.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `context.check`: `tokens`, or `messages` and what goes with them; without
/// either the last prompt counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckParams {
    /// The session's id.
    pub session: String,
    /// Tokens of the prompt, as the caller knows them.
    pub tokens: Option<u64>,
    /// Chat messages.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
    /// The system prompt sent beside them.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub system_prompt: Option<String>,
    /// The tools sent beside them.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub tools: Option<Vec<Json>>,
}

/// Result of `context.check`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckResult {
    /// Whether to compress before the next call.
    pub compress: bool,
    /// Why, or why not.
    pub reason: CheckReason,
    /// The estimate is over the threshold and the provider's own count may be waited for.
    pub defer: bool,
    /// Tokens that were compared with the threshold.
    pub tokens: u64,
    /// The threshold in tokens.
    pub threshold: u64,
    /// `tokens` as a fraction of the window.
    pub pressure: f64,
    /// Seconds until a compression is allowed; 0 when it is.
    pub wait_s: f64,
}

/// What decided about a compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckReason {
    /// The prompt is small enough.
    BelowThreshold,
    /// It is not.
    OverThreshold,
    /// Two weak runs in a row.
    BreakerOpen,
    /// Too many runs in an hour, or too little new text since the last one.
    RateLimited,
    /// The summarizer failed a moment ago.
    Cooldown,
    /// There is nothing between head and tail.
    NothingToCompress,
    /// It is switched off in the configuration.
    Disabled,
}

/// Params of `context.reset`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ResetParams {
    /// The session's id.
    pub session: String,
}
