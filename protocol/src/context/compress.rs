//! `context.compress`, `context.resume` and `context.compact_ahead`.

mod form;

use serde::{Deserialize, Serialize};

use super::AuxFailure;
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
    /// What the provider counted, if known.
    pub current_tokens: Option<i64>,
    /// A topic to keep most of; false for no automatic one either.
    pub focus: Option<TextOrOff>,
    /// Today's date, YYYY-MM-DD; false for none.
    pub today: Option<TextOrOff>,
    /// Clear a cooldown first.
    pub force: Option<bool>,
    /// The provider refused this list as too long: it has to become shorter, whatever the threshold.
    pub overflow: Option<bool>,
    /// What a memory provider adds for the summary, up to 6,000 chars; more is cut in the middle.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub memory_context: Option<String>,
    /// Instead of the configured summarizer.
    pub summarizer: Option<String>,
    /// Answer with the list, or with what changed; `messages` when absent.
    pub reply: Option<ReplyForm>,
    /// Same session or a new one; `in_place` when absent.
    pub mode: Option<Mode>,
    /// How much the handoff tells; `medium` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// Positions from the first to before the second; nothing else leaves the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(u64, u64)>,
    /// Where the caller would like to be asked for a summary; `alone` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Tokens that the new list should have at most; `true` for the configured number. When absent it only has to end
    /// below the threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TokensOrConfigured>,
    /// What the host takes of the new list; every list when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
}

/// What a host takes of a new list. A host that keeps messages by a handle puts its own form of them back, and a change
/// of them is lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Host {
    /// The handoff may stand in front of the text of another message; true when absent. Otherwise it is a message of
    /// its own with the role of the user, and two messages of one role may follow each other.
    pub merged_handoff: Option<bool>,
    /// Arguments of calls may become shorter; true when absent.
    pub short_calls: Option<bool>,
    /// Results of tools may become shorter; true when absent.
    pub short_results: Option<bool>,
    /// A list counts as compressed only if it has so many messages fewer at the least; otherwise it comes back as it
    /// was. 0 when absent.
    pub fewer_messages: Option<u64>,
}

/// Where the message that asks for a summary goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SummaryPlace"))]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A call of its own, which holds all that is to be read.
    #[default]
    Alone,
    /// Behind the list as it is, so that the provider knows what is before it from the last call.
    BehindList,
}

/// How much a handoff tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// Half of the ordinary size at the most.
    Low,
    /// The ordinary size.
    #[default]
    Medium,
    /// Up to twice the ordinary size.
    High,
}

/// How `context.compress` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReplyForm {
    /// The whole list.
    Messages,
    /// What changed.
    Edits,
}

/// What a compression does to the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "CompressMode"))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Same id, generation + 1.
    InPlace,
    /// A new session with this one as its parent.
    Continue,
}

/// Result of `context.compress` and `context.resume`.
#[derive(Debug, Clone, PartialEq)]
pub enum CompressResult {
    /// It is done, or there was nothing to do.
    Done(Box<Compressed>),
    /// The caller is to write the summary and go on with `context.resume`.
    NeedsSummary(NeedsSummary),
}

impl CompressResult {
    /// What was compressed; `None` when a summary is needed first.
    #[must_use]
    pub fn compressed(self) -> Option<Compressed> {
        match self {
            Self::Done(compressed) => Some(*compressed),
            Self::NeedsSummary(_) => None,
        }
    }
}

/// The list or the edits, whichever was asked for, and the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Compressed {
    /// The new list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
    /// How to get it from the old one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edits: Option<Edits>,
    /// What was done.
    pub report: Report,
}

/// How to make the new list of the old one: the kept ranges in order, with
/// replaced messages in place and inserted ones before position `at`. All
/// positions are of the input list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Edits {
    /// Ranges `[from, to)` of messages that stay, replaced ones included.
    pub keep: Vec<(u64, u64)>,
    /// Messages that stay with another text.
    pub replace: Vec<Replace>,
    /// New messages.
    pub insert: Vec<Insert>,
}

/// A message that stays with another text.
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
    /// It comes before this position of the input list.
    pub at: u64,
    /// The message.
    pub message: Json,
}

/// What a compression did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// Whether anything was compressed; if not, the input came back.
    pub compressed: bool,
    /// Why not.
    pub reason: Option<String>,
    /// The session's generation after it.
    pub generation: u64,
    /// The session to go on with.
    pub session: String,
    /// Messages before.
    pub messages_before: u64,
    /// Messages after.
    pub messages_after: u64,
    /// Chars before.
    pub chars_before: u64,
    /// Chars after.
    pub chars_after: u64,
    /// Tokens before.
    pub tokens_before: u64,
    /// Tokens after.
    pub tokens_after: u64,
    /// Messages kept at the front.
    pub head: u64,
    /// Messages kept at the end.
    pub tail: u64,
    /// Messages that pruning changed.
    pub pruned: u64,
    /// Where what left the list is kept.
    pub archived: Option<Archived>,
    /// What wrote the summary.
    pub summarizer: String,
    /// Another summarizer than the configured one wrote it.
    pub fallback: bool,
    /// The run gave up and the input came back.
    pub aborted: bool,
    /// Messages that the handoff replaces.
    pub dropped: u64,
    /// The summary model that failed and was left.
    pub aux_failure: Option<AuxFailure>,
    /// Why the summary failed.
    pub error: Option<String>,
    /// What was saved, in percent of the tokens before.
    pub savings_pct: f64,
    /// Compressions in a row that saved less than 10 %.
    pub ineffective_count: u64,
    /// Compressions of the session so far.
    pub compression_count: u64,
    /// Seconds until a failed summarizer is asked again.
    pub cooldown_s: f64,
    /// Constraints quoted in the handoff.
    pub constraints: u64,
    /// Exact things indexed in the handoff.
    pub anchors: u64,
    /// Quotations in the summary that don't occur in what it came from.
    pub unverified: Vec<String>,
    /// What the caller should know.
    pub warnings: Vec<String>,
    /// How long it took.
    pub elapsed_ms: f64,
    /// What keeps the list over the threshold, if it is.
    pub over: Option<Over>,
    /// Messages between head and tail that stay word for word, because much refers to them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verbatim: Vec<ScoredMessage>,
    /// Outputs of the tail that became short to make room for the handoff.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<ScoredMessage>,
    /// Tokens of the list of before that a prompt cache has no use for any more, by estimate.
    #[serde(default, skip_serializing_if = "is_none")]
    pub invalidated_tokens: u64,
    /// Calls after which it has paid for itself where prompts are cached; absent if it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pays_after_calls: Option<u64>,
    /// Messages of the list that stay because they or their pairs are pinned.
    #[serde(default, skip_serializing_if = "is_none")]
    pub pinned: u64,
    /// Outputs of the list that are only a line any more because the agent was done with them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub discarded: u64,
    /// Closed episodes of which messages left the list.
    #[serde(default, skip_serializing_if = "is_none")]
    pub episodes: u64,
    /// Nodes that were open in the list (`context.open`) and left it, for the budget needs their room.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folded: Vec<String>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A message of the input, and what it is worth to what comes after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ScoredMessage {
    /// Its position.
    pub index: u64,
    /// What it is worth, 0 to 100.
    pub score: u64,
    /// Why, what counts most first: `used`, `open_error`, `correction`, `decision`, `only_place`.
    pub reasons: Vec<String>,
}

/// A list that is over the threshold although nothing in it can be made smaller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Over {
    /// Tokens from which compression is due.
    pub threshold: u64,
    /// Tokens of the list that was answered, by the larger estimate, and of what the caller counts
    /// beside it.
    pub tokens: u64,
    /// What takes them and stays.
    pub parts: Vec<OverPart>,
}

/// A part of a list that no compression touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OverPart {
    /// Which one.
    pub part: Part,
    /// Tokens that it takes.
    pub tokens: u64,
}

/// The parts that no compression touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "OverPartKind"))]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The system message in front.
    System,
    /// The protected first messages behind it.
    Head,
    /// What the user said last, and the last message with the results of its calls.
    LastExchange,
    /// What the caller counts beyond the list: a system prompt of its own, tools.
    Request,
}

/// Where what left the list is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Archived {
    /// Names the removed messages.
    pub handle: String,
    /// How many messages.
    pub messages: u64,
}

/// A summary that the caller is to write with its own model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NeedsSummary {
    /// What `context.resume` takes, once.
    pub ticket: String,
    /// The call to make.
    pub request: SummaryRequest,
}

/// A call of a model that writes a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SummaryRequest {
    /// What it is for: `compression`.
    pub task: String,
    /// The model, where a summary model is set; else the caller's own.
    pub model: Option<String>,
    /// Chat messages to send.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
    /// Most tokens of the answer.
    pub max_tokens: u64,
    /// Where the messages go; `alone` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

/// Params of `context.resume`: a summary, or why there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ResumeParams {
    /// Out of `needs_summary`.
    pub ticket: String,
    /// What the model wrote.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub summary: Option<String>,
    /// Why it wrote nothing.
    pub error: Option<ResumeError>,
}

/// A call of a model that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SummaryError"))]
#[serde(deny_unknown_fields)]
pub struct ResumeError {
    /// What the provider or the library said.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// The HTTP status.
    pub status: Option<u16>,
    /// What kind of failure; text and status decide without it.
    pub kind: Option<FailureKind>,
}

/// What kind of failure a call of a model met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No provider is configured.
    NoProvider,
    /// The answer was no JSON.
    Json,
    /// The connection could not be made or broke.
    Connection,
    /// It took too long.
    Timeout,
    /// Something else: text and status decide.
    Other,
}

/// Params of `context.compact_ahead`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompactAheadParams {
    /// The session's id.
    pub session: String,
    /// A topic to keep most of; false for no automatic one either.
    pub focus: Option<TextOrOff>,
}

/// Result of `context.compact_ahead`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompactAheadResult {
    /// Names the job; empty when there is nothing to do.
    pub job: String,
    /// How far it is.
    pub state: JobState,
}

/// How far a compression in the background is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "CompactAheadState"))]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It begins now.
    Started,
    /// It began before.
    Running,
    /// `context.compress` can take its handoff.
    Ready,
    /// There is nothing to compress.
    Nothing,
}
