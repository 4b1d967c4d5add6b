//! What calls of models used, in tokens.

use serde::{Deserialize, Serialize};

/// Params of `session.usage`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UsageParams {
    /// Only of this session.
    pub session: Option<String>,
    /// Only calls since then, in Unix seconds.
    pub since: Option<f64>,
    /// What makes a row; `session` when absent.
    pub by: Option<By>,
}

/// What makes a row of `session.usage`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "UsageBy"))]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// A session.
    Session,
    /// A model.
    Model,
    /// An agent.
    Agent,
    /// A day in the daemon's time zone.
    Day,
}

/// Result of `session.usage`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UsageResult {
    /// Most tokens first; days in their order.
    pub rows: Vec<UsageRow>,
    /// All rows together.
    pub total: Totals,
}

/// Calls that belong together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UsageRow {
    /// The session, the model, the agent or the day (YYYY-MM-DD).
    pub key: String,
    /// Calls of a model.
    pub calls: u64,
    /// Tokens that were sent and not cached.
    pub input: u64,
    /// Tokens that came back.
    pub output: u64,
    /// Tokens read from a prompt cache.
    pub cache_read: u64,
    /// Tokens written to a prompt cache.
    pub cache_write: u64,
    /// Tokens of reasoning, part of `output`.
    pub reasoning: u64,
    /// `input`, `cache_read` and `cache_write` together.
    pub prompt: u64,
    /// `prompt` and `output` together.
    pub total: u64,
}

/// The same without a key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Totals {
    /// Calls of a model.
    pub calls: u64,
    /// Tokens that were sent and not cached.
    pub input: u64,
    /// Tokens that came back.
    pub output: u64,
    /// Tokens read from a prompt cache.
    pub cache_read: u64,
    /// Tokens written to a prompt cache.
    pub cache_write: u64,
    /// Tokens of reasoning, part of `output`.
    pub reasoning: u64,
    /// `input`, `cache_read` and `cache_write` together.
    pub prompt: u64,
    /// `prompt` and `output` together.
    pub total: u64,
}
