//! `output.list`, `output.remove` and `output.gc`: the stored outputs and their retention.

use serde::{Deserialize, Serialize};

/// Params of `output.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListParams {
    /// Only outputs of this session.
    pub session: Option<String>,
    /// The most rows to return, up to 100,000; 100 when absent.
    pub limit: Option<u64>,
    /// Only outputs whose handle begins so.
    pub prefix: Option<String>,
}

/// Result of `output.list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListResult {
    /// The outputs, newest first.
    pub outputs: Vec<Row>,
}

/// A stored or expired output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "OutputRow"))]
pub struct Row {
    /// Its handle.
    pub handle: String,
    /// The session.
    pub session: String,
    /// The tool; empty if it is no longer known.
    pub tool: String,
    /// The call's id.
    pub id: String,
    /// Its path, or its former path.
    pub path: String,
    /// Its size in chars.
    pub chars: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// SHA-256 of its UTF-8 text, in hex.
    pub sha256: String,
    /// When it was stored, in Unix seconds.
    pub created_at: f64,
    /// Whether it is still stored.
    pub state: State,
    /// When it was removed, in Unix seconds.
    pub expired_at: Option<f64>,
    /// Why it was removed.
    pub reason: Option<Reason>,
}

/// Whether an output is still stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "OutputState"))]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The output is stored.
    Kept,
    /// Its text was removed; only its metadata is left.
    Expired,
}

/// Why an output was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Gone"))]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// It was older than `output.ttl`.
    Ttl,
    /// All outputs together exceeded `output.quota`.
    Quota,
    /// A caller removed it.
    Removed,
}

/// Params of `output.remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveParams {
    /// The handle of the output.
    pub handle: String,
}

/// Result of `output.remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveResult {
    /// Its size in bytes.
    pub bytes: u64,
}

/// Params of `output.gc`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GcParams {
    /// Whether to only report what would be removed.
    pub dry_run: Option<bool>,
}

/// Result of `output.gc`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GcResult {
    /// The outputs that were removed, or would be.
    pub expired: Vec<Expired>,
    /// Bytes that were freed, or would be.
    pub freed: u64,
    /// Number of remaining outputs.
    pub files: u64,
    /// Bytes of the remaining outputs; identical content counts once.
    pub bytes: u64,
}

/// A removed output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ExpiredOutput"))]
pub struct Expired {
    /// Its handle.
    pub handle: String,
    /// The session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The call's id.
    pub id: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Why it was removed.
    pub reason: Reason,
}
