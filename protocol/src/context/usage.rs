//! `context.record_usage`.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `context.record_usage`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RecordUsageParams {
    /// The session that called the model.
    pub session: Option<String>,
    /// What the provider reported, as it came; null counts as nothing.
    pub usage: Option<Json>,
    /// The provider.
    pub provider: Option<String>,
    /// How the endpoint was spoken to.
    pub api_mode: Option<String>,
    /// The model; the session's when absent.
    pub model: Option<String>,
}

/// Result of `context.record_usage`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RecordUsageResult {
    /// The same for every provider.
    pub usage: Buckets,
    /// With a configured session: whether to compress now.
    pub should_compress: Option<bool>,
    /// With a configured session: prompt tokens as a fraction of the window.
    pub pressure: Option<f64>,
    /// With a configured session: a sentence for people when the window fills.
    pub warning: Option<String>,
}

/// Tokens of one call of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Buckets {
    /// Sent and not cached.
    pub input: u64,
    /// Came back.
    pub output: u64,
    /// Read from a prompt cache.
    pub cache_read: u64,
    /// Written to a prompt cache.
    pub cache_write: u64,
    /// Reasoning, part of `output`.
    pub reasoning: u64,
    /// Calls: 1.
    pub request_count: u64,
    /// `input`, `cache_read` and `cache_write` together.
    pub prompt: u64,
    /// `prompt` and `output` together.
    pub total: u64,
}
