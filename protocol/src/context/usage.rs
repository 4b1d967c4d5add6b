//! `context.record_usage`.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `context.record_usage`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RecordUsageParams {
    /// The session that called the model.
    pub session: Option<String>,
    /// The provider's usage report, unchanged; null counts as empty.
    pub usage: Option<Json>,
    /// The provider.
    pub provider: Option<String>,
    /// The protocol of the endpoint.
    pub api_mode: Option<String>,
    /// The model; the session's when absent.
    pub model: Option<String>,
}

/// Result of `context.record_usage`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RecordUsageResult {
    /// The usage in a form that is the same for every provider.
    pub usage: Buckets,
    /// Whether to compress now. Only with a configured session.
    pub should_compress: Option<bool>,
    /// Prompt tokens as a fraction of the window. Only with a configured session.
    pub pressure: Option<f64>,
    /// A warning for the user when the window fills up. Only with a configured session.
    pub warning: Option<String>,
}

/// Tokens of one model call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Buckets {
    /// Input tokens not served by a cache.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Tokens read from a prompt cache.
    pub cache_read: u64,
    /// Tokens written to a prompt cache.
    pub cache_write: u64,
    /// Reasoning tokens; they are part of `output`.
    pub reasoning: u64,
    /// Number of calls: 1.
    pub request_count: u64,
    /// Sum of `input`, `cache_read` and `cache_write`.
    pub prompt: u64,
    /// Sum of `prompt` and `output`.
    pub total: u64,
}
