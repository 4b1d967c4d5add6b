//! `output.list`, `output.remove` and `output.gc`: what is kept, and for how long.

use serde::{Deserialize, Serialize};

/// Params of `output.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListParams {
    /// Only of this session.
    pub session: Option<String>,
    /// Rows at most; 100 when absent, up to 100,000.
    pub limit: Option<u64>,
}

/// Result of `output.list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListResult {
    /// The outputs, newest first.
    pub outputs: Vec<Row>,
}

/// An output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "OutputRow"))]
pub struct Row {
    /// Names it.
    pub handle: String,
    /// The session.
    pub session: String,
    /// The tool; empty when that is not known any more.
    pub tool: String,
    /// The call's id.
    pub id: String,
    /// Where it is, or was.
    pub path: String,
    /// Its chars.
    pub chars: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Hex, of its text in UTF-8.
    pub sha256: String,
    /// When it was kept, in Unix seconds.
    pub created_at: f64,
    /// Whether it is still there.
    pub state: State,
    /// When it went, in Unix seconds.
    pub expired_at: Option<f64>,
    /// Why it went.
    pub reason: Option<Reason>,
}

/// Whether an output is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "OutputState"))]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is.
    Kept,
    /// Only what it was is known.
    Expired,
}

/// Why an output went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Gone"))]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// It was older than `output.ttl`.
    Ttl,
    /// All together were larger than `output.quota`.
    Quota,
    /// Somebody removed it.
    Removed,
}

/// Params of `output.remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveParams {
    /// Names the output.
    pub handle: String,
}

/// Result of `output.remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveResult {
    /// Its bytes.
    pub bytes: u64,
}

/// Params of `output.gc`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GcParams {
    /// Only say what would go.
    pub dry_run: Option<bool>,
}

/// Result of `output.gc`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GcResult {
    /// What went, or would go.
    pub expired: Vec<Expired>,
    /// Bytes that are free now, or would be.
    pub freed: u64,
    /// Outputs that stay.
    pub files: u64,
    /// Their bytes; identical content counts once.
    pub bytes: u64,
}

/// An output that went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ExpiredOutput"))]
pub struct Expired {
    /// Names it.
    pub handle: String,
    /// The session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The call's id.
    pub id: String,
    /// Its bytes.
    pub bytes: u64,
    /// Why.
    pub reason: Reason,
}
