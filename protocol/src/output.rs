//! Params and results of the output methods.

pub mod search;
pub mod shelf;

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Json;
use crate::value::{Content, Size};

/// Budgets for one call. Absent fields come from the daemon's configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "OutputConfig"))]
#[serde(deny_unknown_fields)]
pub struct BudgetConfig {
    /// The most chars of a result that is not spilled.
    pub default_result_size: Option<u64>,
    /// The most chars of all results of one turn together.
    pub turn_budget: Option<u64>,
    /// Chars of the preview that stays in the conversation.
    pub preview_size: Option<u64>,
    /// Chars of the tail in the preview; 0 for none.
    pub preview_tail_size: Option<u64>,
    /// Size limits in chars for individual tools.
    pub tool_overrides: Option<BTreeMap<String, Size>>,
}

/// Params of `output.admit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AdmitParams {
    /// The session's id.
    pub session: String,
    /// The tool that returned the result.
    pub tool: String,
    /// The call's id.
    pub id: String,
    /// The result.
    pub content: Content,
    /// The size limit in chars; overrides those of the tool and the configuration.
    pub threshold: Option<Size>,
    /// Budgets for this call.
    pub config: Option<BudgetConfig>,
}

/// Result of `output.admit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AdmitResult {
    /// The content for the conversation.
    pub content: Content,
    /// Whether the full text was written to disk.
    pub spilled: bool,
    /// The handle of the spilled output.
    pub handle: Option<String>,
    /// The path of the spilled output.
    pub path: Option<String>,
    /// Chars of the full text.
    pub chars: u64,
    /// Lines of the full text.
    pub lines: u64,
    /// SHA-256 of the full text in UTF-8, in hex.
    pub sha256: String,
    /// Why the text could not be stored; `content` is then cut.
    pub failure: Option<Failure>,
}

/// Why an output could not be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "OutputFailure"))]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The disk is full.
    StorageFull,
    /// A write or sync failed.
    StorageFailed,
    /// The folder is not writable.
    PermissionDenied,
}

/// Params of `output.settle_turn`: either `results` or `messages`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SettleTurnParams {
    /// The session's id.
    pub session: String,
    /// The results of one assistant message.
    pub results: Option<Vec<TurnResult>>,
    /// The same results as chat messages.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
    /// Budgets for this call.
    pub config: Option<BudgetConfig>,
}

/// One tool result of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TurnResult {
    /// The call's id; `budget_<index>` when absent.
    pub id: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// The result.
    pub content: Content,
}

/// Result of `output.settle_turn`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SettleTurnResult {
    /// The results to replace, and their new content.
    pub replacements: Vec<Replacement>,
    /// Chars of all results after the replacements.
    pub total: u64,
}

/// A result that gets new content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Replacement {
    /// Position in the given list.
    pub index: u64,
    /// Its new content.
    pub content: Content,
    /// The handle of the spilled output; null if it could not be stored.
    pub handle: Option<String>,
    /// The path of the spilled output.
    pub path: Option<String>,
}

/// Params of `output.preview`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PreviewParams {
    /// The text.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub content: String,
    /// Chars of the head; 1,500 when absent.
    pub max: Option<u64>,
    /// Chars of the tail; none when absent.
    pub tail: Option<u64>,
}

/// Result of `output.preview`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PreviewResult {
    /// The head. It ends at a line end if that keeps more than half of it.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// Whether there is more than the head.
    pub has_more: bool,
    /// The tail, if one was requested and there is more than the head.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub tail: Option<String>,
}

/// Params of `output.read`: `handle` or `path`, and one way to choose the part. Without one the page starts at line 1.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReadParams {
    /// The handle of the output.
    pub handle: Option<String>,
    /// The path of the output, instead of the handle. It must be inside the outputs folder.
    pub path: Option<String>,
    /// First line, from 1.
    pub line: Option<u64>,
    /// Number of lines; 200 when absent.
    pub lines: Option<u64>,
    /// First char, from 0.
    pub offset: Option<u64>,
    /// Number of chars; 20,000 when absent.
    pub limit: Option<u64>,
    /// Number of last lines to return.
    pub tail: Option<u64>,
    /// The form of the text; `raw` when absent.
    pub view: Option<View>,
}

/// The form in which an output is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// The original text.
    Raw,
    /// Indented JSON.
    Json,
}

/// Result of `output.read`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReadResult {
    /// The requested part.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// Where the next page begins; null at the end.
    pub next: Option<Next>,
    /// Number of lines of the whole output.
    pub total_lines: u64,
    /// Number of chars of the whole output.
    pub total_chars: u64,
}

/// Where the next page begins, in the unit of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Place"))]
#[serde(rename_all = "lowercase")]
pub enum Next {
    /// At this line.
    Line(u64),
    /// At this char.
    Offset(u64),
}

impl<'de> Deserialize<'de> for Next {
    /// Ignores members that this build doesn't know, as for every object in a result.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Members {
            line: Option<u64>,
            offset: Option<u64>,
        }
        match Members::deserialize(deserializer)? {
            Members { line: Some(line), .. } => Ok(Self::Line(line)),
            Members { offset: Some(offset), .. } => Ok(Self::Offset(offset)),
            Members { line: None, offset: None } => Err(D::Error::missing_field("line")),
        }
    }
}
