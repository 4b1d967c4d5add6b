//! `context.check` and `context.reset`.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `context.check`: `tokens`, or `messages` with their system prompt and tools. Without
/// either, the last prompt counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckParams {
    /// The session's id.
    pub session: String,
    /// Tokens of the prompt, if the caller knows them.
    pub tokens: Option<u64>,
    /// Chat messages.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
    /// The system prompt sent with the messages.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub system_prompt: Option<String>,
    /// The tools sent with the messages.
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
    /// Whether the caller may wait for the provider's own count although the estimate is over the threshold.
    pub defer: bool,
    /// The number of tokens that was compared with the threshold.
    pub tokens: u64,
    /// The threshold in tokens.
    pub threshold: u64,
    /// `tokens` as a fraction of the window.
    pub pressure: f64,
    /// Seconds until a compression is allowed; 0 if it is allowed now.
    pub wait_s: f64,
}

/// The reason for the result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckReason {
    /// The prompt is below the threshold.
    BelowThreshold,
    /// The prompt is over the threshold.
    OverThreshold,
    /// Automatic compression is paused, because two runs in a row saved too little.
    BreakerOpen,
    /// Too many runs in the last hour, or too little new text since the last run.
    RateLimited,
    /// The summarizer failed recently.
    Cooldown,
    /// There is nothing between head and tail.
    NothingToCompress,
    /// Compression is turned off in the configuration.
    Disabled,
}

/// Params of `context.reset`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ResetParams {
    /// The session's id.
    pub session: String,
}
