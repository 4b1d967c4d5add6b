//! Params and results of the output methods.

pub mod search;
pub mod shelf;

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Json;
use crate::value::{Content, Size};

/// Budgets for one call; what is absent comes from the daemon's configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "OutputConfig"))]
#[serde(deny_unknown_fields)]
pub struct BudgetConfig {
    /// Chars that a result may have before it is spilled.
    pub default_result_size: Option<u64>,
    /// Chars that all results of one turn may have together.
    pub turn_budget: Option<u64>,
    /// Chars of the preview that stays in the conversation.
    pub preview_size: Option<u64>,
    /// Chars of the tail that stays with it; 0 for none.
    pub preview_tail_size: Option<u64>,
    /// Chars by tool.
    pub tool_overrides: Option<BTreeMap<String, Size>>,
}

/// Params of `output.admit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AdmitParams {
    /// The session's id.
    pub session: String,
    /// The tool that gave the result.
    pub tool: String,
    /// The call's id.
    pub id: String,
    /// The result.
    pub content: Content,
    /// Chars, instead of what tool and configuration say.
    pub threshold: Option<Size>,
    /// Budgets for this call.
    pub config: Option<BudgetConfig>,
}

/// Result of `output.admit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AdmitResult {
    /// What goes into the conversation.
    pub content: Content,
    /// The full text went to disk.
    pub spilled: bool,
    /// Names the spilled output.
    pub handle: Option<String>,
    /// Where it is.
    pub path: Option<String>,
    /// Chars of the full text.
    pub chars: u64,
    /// Lines of the full text.
    pub lines: u64,
    /// Hex, of the full text in UTF-8.
    pub sha256: String,
    /// Why the text could not be kept; `content` is then a truncation.
    pub failure: Option<Failure>,
}

/// Why an output could not be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "OutputFailure"))]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The disk is full.
    StorageFull,
    /// A write or sync failed.
    StorageFailed,
    /// The folder may not be written.
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
    /// The same as chat messages.
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
    /// What to put in the place of which results.
    pub replacements: Vec<Replacement>,
    /// Chars of all results after the replacements.
    pub total: u64,
}

/// One result that gets another content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Replacement {
    /// Position in the list that was given.
    pub index: u64,
    /// Its new content.
    pub content: Content,
    /// Names the spilled output; null when it could not be kept.
    pub handle: Option<String>,
    /// Where it is.
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
    /// The head, cut after a line where that keeps more than half.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// There is more than the head.
    pub has_more: bool,
    /// The tail, when one was asked for and there is more than the head.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub tail: Option<String>,
}

/// Params of `output.read`: `handle` or `path`, then one way to say which part.
/// Without any the page starts at line 1.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReadParams {
    /// Names the output.
    pub handle: Option<String>,
    /// Or where it is, inside the outputs folder only.
    pub path: Option<String>,
    /// First line, from 1.
    pub line: Option<u64>,
    /// How many lines; 200 when absent.
    pub lines: Option<u64>,
    /// First char, from 0.
    pub offset: Option<u64>,
    /// How many chars; 20,000 when absent.
    pub limit: Option<u64>,
    /// That many last lines.
    pub tail: Option<u64>,
    /// How to show it; `raw` when absent.
    pub view: Option<View>,
}

/// How to show an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// As it is.
    Raw,
    /// JSON, indented.
    Json,
}

/// Result of `output.read`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReadResult {
    /// The page.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// Where the next page begins; null at the end.
    pub next: Option<Next>,
    /// Lines of the whole output.
    pub total_lines: u64,
    /// Chars of the whole output.
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
    /// Passes over members that this build doesn't know, as for every object of a result.
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
