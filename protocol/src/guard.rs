//! Params and results of the guard.

use serde::{Deserialize, Serialize};

/// How much is looked for; each scope holds the ones before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "GuardScope"))]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// What is an attack anywhere.
    All,
    /// What is an attack in a text that enters a model's context.
    #[default]
    Context,
    /// What is an attack in a memory entry.
    Strict,
}

/// Whether a finding refuses a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It does.
    Block,
    /// It is only told.
    Warn,
}

/// Something that the guard found in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// Which pattern, such as `prompt_injection`.
    pub id: String,
    /// Where it begins, in chars of the original text.
    pub start: u64,
    /// Where it ends (exclusive), in chars of the original text.
    pub end: u64,
    /// Found only after folding look-alikes.
    pub folded: bool,
    /// What it means for the text.
    pub severity: Severity,
}

/// Params of `guard.scan`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ScanParams {
    /// The text; null counts as empty.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: Option<String>,
    /// How much to look for; `context` when absent.
    pub scope: Option<Scope>,
}

/// Result of `guard.scan`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ScanResult {
    /// At most one finding for each id.
    pub findings: Vec<Finding>,
    /// What to tell about the first one; null when clean.
    pub message: Option<String>,
}

/// Params of `guard.redact`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RedactParams {
    /// The text; null stays null.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: Option<String>,
    /// Redact even where `enabled` or the configuration says no.
    pub force: Option<bool>,
    /// The text is source code: assignments and JSON fields stay.
    pub code: Option<bool>,
    /// Overrides the configuration.
    pub enabled: Option<bool>,
}

/// Result of `guard.redact`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RedactResult {
    /// The text with secrets masked.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: Option<String>,
    /// How many were masked.
    pub count: u64,
}
