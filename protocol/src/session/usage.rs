//! Token usage of model calls.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `session.usage`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UsageParams {
    /// Only this session.
    pub session: Option<String>,
    /// Only calls since this time, in Unix seconds.
    pub since: Option<f64>,
    /// What to group rows by; `session` when absent.
    pub by: Option<By>,
}

/// What the rows of `session.usage` and `ledger.read` are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "UsageBy"))]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// By session.
    Session,
    /// By model.
    Model,
    /// By agent.
    Agent,
    /// By day, in the daemon's time zone.
    Day,
}

/// Result of `session.usage`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UsageResult {
    /// The rows by descending number of tokens, or days in order.
    pub rows: Vec<UsageRow>,
    /// The sum of all rows.
    pub total: Totals,
}

/// The usage of one group of calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UsageRow {
    /// The session, model, agent or day (YYYY-MM-DD).
    pub key: String,
    /// Number of model calls.
    pub calls: u64,
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
    /// Sum of `input`, `cache_read` and `cache_write`.
    pub prompt: u64,
    /// Sum of `prompt` and `output`.
    pub total: u64,
}

/// The usage of several calls together, without a key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Totals {
    /// Number of model calls.
    pub calls: u64,
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
    /// Sum of `input`, `cache_read` and `cache_write`.
    pub prompt: u64,
    /// Sum of `prompt` and `output`.
    pub total: u64,
}

/// A model call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerCall"))]
pub struct Call {
    /// The call's id: 1 to 1,024 chars without control characters. A repeated id is recorded only once.
    pub id: String,
    /// When the call was made, in Unix seconds.
    pub time: f64,
    /// The model; the session's when absent.
    pub model: Option<String>,
    /// The provider.
    pub provider: Option<String>,
    /// The protocol of the endpoint.
    pub api_mode: Option<String>,
    /// The provider's usage report, unchanged.
    pub usage: Json,
}
