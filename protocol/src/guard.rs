//! Params and results of the guard.

pub mod scrub;

use serde::{Deserialize, Serialize};

/// How many patterns a scan uses; each scope includes the ones before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "GuardScope"))]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Attacks in any text.
    All,
    /// Attacks in a text that enters a model's context.
    #[default]
    Context,
    /// Attacks in a memory entry.
    Strict,
}

/// Whether a finding makes the daemon refuse a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The text is refused.
    Block,
    /// The finding is only reported.
    Warn,
}

/// A match of a guard pattern in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// The id of the pattern, such as `prompt_injection`.
    pub id: String,
    /// Start of the match, in chars of the original text.
    pub start: u64,
    /// End of the match (exclusive), in chars of the original text.
    pub end: u64,
    /// Whether it was found only after folding look-alike characters.
    pub folded: bool,
    /// Whether the text is refused.
    pub severity: Severity,
}

/// Params of `guard.scan`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ScanParams {
    /// The text; null counts as empty.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: Option<String>,
    /// Which patterns to use; `context` when absent.
    pub scope: Option<Scope>,
}

/// Result of `guard.scan`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ScanResult {
    /// At most one finding for each id.
    pub findings: Vec<Finding>,
    /// A message about the first finding; null if there is none.
    pub message: Option<String>,
}

/// Params of `guard.redact`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RedactParams {
    /// The text; null stays null.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: Option<String>,
    /// Redact even if `enabled` or the configuration turns it off.
    pub force: Option<bool>,
    /// Whether the text is source code, in which assignments and JSON fields stay.
    pub code: Option<bool>,
    /// Whether to redact; overrides the configuration.
    pub enabled: Option<bool>,
    /// Whether to change the text as captured messages are changed: parts marked as private are left out, and secrets
    /// are masked as `archive.redact` in the configuration says. The other params have no effect then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<bool>,
}

/// The number of masked secrets of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SecretCount {
    /// The kind, such as `key`.
    pub kind: String,
    /// The number.
    pub count: u64,
}

/// Result of `guard.redact`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RedactResult {
    /// The text with secrets masked.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: Option<String>,
    /// Number of masked secrets.
    pub count: u64,
}
