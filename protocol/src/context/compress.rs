//! `context.compress`, `context.resume` and `context.compact_ahead`.

mod form;

use serde::{Deserialize, Serialize};

use super::report::Report;
use crate::Json;
use crate::value::{TextOrOff, TokensOrConfigured};

/// Params of `context.compress`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompressParams {
    /// The session's id.
    pub session: String,
    /// The conversation.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
    /// The provider's token count, if known.
    pub current_tokens: Option<i64>,
    /// A topic to keep in most detail; false turns off the automatic topic too.
    pub focus: Option<TextOrOff>,
    /// Today's date, YYYY-MM-DD; false for none.
    pub today: Option<TextOrOff>,
    /// Whether to clear a cooldown first.
    pub force: Option<bool>,
    /// Whether the provider refused this list as too long. The list then has to become shorter, whatever the threshold.
    pub overflow: Option<bool>,
    /// Text that a memory provider adds for the summary, up to 6,000 chars; a longer one is cut in the middle.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub memory_context: Option<String>,
    /// A summarizer to use instead of the configured one.
    pub summarizer: Option<String>,
    /// Whether to return the new list or the edits; `messages` when absent.
    pub reply: Option<ReplyForm>,
    /// Whether to keep the session or to continue in a new one; `in_place` when absent.
    pub mode: Option<Mode>,
    /// How detailed the handoff is; `medium` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// A range `[from, to)` of positions; only messages in it may leave the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(u64, u64)>,
    /// Where the caller wants the request for a summary; `alone` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The most tokens that the new list should have; `true` for the configured number. When
    /// absent, the list only has to end below the threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TokensOrConfigured>,
    /// Which changes of the list the host accepts; all of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
}

/// Which changes of a list a host accepts. A host that keeps messages by a handle restores its own
/// form of them, so changes to them are lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Host {
    /// Whether the handoff may be put in front of the text of another message; true when absent. If
    /// false, it is a separate message with the role `user`, and two messages of one role may
    /// follow each other.
    pub merged_handoff: Option<bool>,
    /// Whether arguments of calls may be shortened; true when absent.
    pub short_calls: Option<bool>,
    /// Whether tool results may be shortened; true when absent.
    pub short_results: Option<bool>,
    /// The fewest messages that a compression must remove. If it removes fewer, the list is
    /// returned unchanged. 0 when absent.
    pub fewer_messages: Option<u64>,
}

/// Where the message that requests a summary goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SummaryPlace"))]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In a call of its own, which contains everything to read.
    #[default]
    Alone,
    /// After the unchanged list, so that the provider has the list in its cache from the last call.
    BehindList,
}

/// How detailed a handoff is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// At most half of the ordinary size.
    Low,
    /// The ordinary size.
    #[default]
    Medium,
    /// Up to twice the ordinary size.
    High,
}

/// What `context.compress` returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReplyForm {
    /// The whole list.
    Messages,
    /// The edits that make the new list from the old one.
    Edits,
}

/// What happens to the session in a compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "CompressMode"))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The session keeps its id; its generation increases by 1.
    InPlace,
    /// A new session, whose parent is this one.
    Continue,
}

/// Result of `context.compress` and `context.resume`.
#[derive(Debug, Clone, PartialEq)]
pub enum CompressResult {
    /// The compression is done, or there was nothing to do.
    Done(Box<Compressed>),
    /// The caller has to write the summary and then call `context.resume`.
    NeedsSummary(NeedsSummary),
}

impl CompressResult {
    /// Returns the compressed list; `None` if a summary is needed first.
    #[must_use]
    pub fn compressed(self) -> Option<Compressed> {
        match self {
            Self::Done(compressed) => Some(*compressed),
            Self::NeedsSummary(_) => None,
        }
    }
}

/// The list or the edits, as requested with `reply`, and the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Compressed {
    /// The new list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
    /// The edits that make the new list from the old one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edits: Option<Edits>,
    /// What the compression did.
    pub report: Report,
}

/// How to make the new list from the old one: take the kept ranges in order, use the replaced
/// messages in place of the old ones, and put each inserted message before position `at`. All
/// positions are of the input list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Edits {
    /// Ranges `[from, to)` of messages that stay, replaced ones included.
    pub keep: Vec<(u64, u64)>,
    /// Messages that stay with a changed text.
    pub replace: Vec<Replace>,
    /// New messages.
    pub insert: Vec<Insert>,
}

/// A message that stays with a changed text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ReplacedMessage"))]
pub struct Replace {
    /// Its position in the input list.
    pub index: u64,
    /// Its new form.
    pub message: Json,
}

/// A new message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "InsertedMessage"))]
pub struct Insert {
    /// The position in the input list before which to insert the message.
    pub at: u64,
    /// The message.
    pub message: Json,
}

/// A summary that the caller has to write with its own model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NeedsSummary {
    /// The ticket for `context.resume`; it works once.
    pub ticket: String,
    /// The model call to make.
    pub request: SummaryRequest,
}

/// A model call that writes a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SummaryRequest {
    /// The purpose of the call: `compression`.
    pub task: String,
    /// The model, if a summary model is set; null for the caller's own.
    pub model: Option<String>,
    /// Chat messages to send.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
    /// The most tokens that the answer may have.
    pub max_tokens: u64,
    /// Where the messages go; `alone` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

/// Params of `context.resume`: a summary, or the error of the call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ResumeParams {
    /// The ticket from `needs_summary`.
    pub ticket: String,
    /// The model's answer.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub summary: Option<String>,
    /// Why the model returned nothing.
    pub error: Option<ResumeError>,
}

/// A failed model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SummaryError"))]
#[serde(deny_unknown_fields)]
pub struct ResumeError {
    /// The error message of the provider or the library.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The kind of failure; when absent, herma derives it from text and status.
    pub kind: Option<FailureKind>,
}

/// The kind of failure of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No provider is configured.
    NoProvider,
    /// The answer was not JSON.
    Json,
    /// The connection failed or broke.
    Connection,
    /// The call timed out.
    Timeout,
    /// Anything else: herma derives the kind from text and status.
    Other,
}

/// Params of `context.compact_ahead`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompactAheadParams {
    /// The session's id.
    pub session: String,
    /// A topic to keep in most detail; false turns off the automatic topic too.
    pub focus: Option<TextOrOff>,
}

/// Result of `context.compact_ahead`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompactAheadResult {
    /// The job's id; empty if there is nothing to do.
    pub job: String,
    /// The state of the job.
    pub state: JobState,
}

/// The state of a compression in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "CompactAheadState"))]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// This call started it.
    Started,
    /// An earlier call started it.
    Running,
    /// `context.compress` can use its handoff.
    Ready,
    /// There is nothing to compress.
    Nothing,
}
