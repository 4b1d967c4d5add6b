//! The report of a compression. The daemon's services fill it in, and answers and notifications carry it.

use serde::{Deserialize, Serialize};

/// What a compression did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// Whether anything was compressed; if not, the input was returned.
    pub compressed: bool,
    /// Why nothing was compressed.
    pub reason: Option<String>,
    /// The session's generation after the compression.
    pub generation: u64,
    /// The session to continue with.
    pub session: String,
    /// Number of messages before.
    pub messages_before: u64,
    /// Number of messages after.
    pub messages_after: u64,
    /// Chars before.
    pub chars_before: u64,
    /// Chars after.
    pub chars_after: u64,
    /// Tokens before.
    pub tokens_before: u64,
    /// Tokens after.
    pub tokens_after: u64,
    /// Number of messages kept at the start.
    pub head: u64,
    /// Number of messages kept at the end.
    pub tail: u64,
    /// Number of messages that pruning changed.
    pub pruned: u64,
    /// Where the removed messages are archived.
    pub archived: Option<Archived>,
    /// The summarizer that wrote the summary.
    pub summarizer: String,
    /// Whether a summarizer other than the configured one wrote it.
    pub fallback: bool,
    /// Whether the run gave up and the input was returned.
    pub aborted: bool,
    /// Number of messages that the handoff replaces.
    pub dropped: u64,
    /// The summary model that failed and was replaced by another summarizer.
    pub aux_failure: Option<AuxFailure>,
    /// Why the summary failed.
    pub error: Option<String>,
    /// Saved tokens as a percentage of the tokens before.
    pub savings_pct: f64,
    /// Number of consecutive compressions that saved less than 10 %.
    pub ineffective_count: u64,
    /// Number of compressions of the session so far.
    pub compression_count: u64,
    /// Seconds until a failed summarizer is called again.
    pub cooldown_s: f64,
    /// Number of constraints quoted in the handoff.
    pub constraints: u64,
    /// Number of exact references in the handoff.
    pub anchors: u64,
    /// Quotations in the summary that don't occur in the summarised text.
    pub unverified: Vec<String>,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
    /// Duration in milliseconds.
    pub elapsed_ms: f64,
    /// What keeps the list over the threshold, if it still is.
    pub over: Option<Over>,
    /// Messages between head and tail that stay word for word, because many later messages refer to them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verbatim: Vec<ScoredMessage>,
    /// Outputs of the tail that were shortened to make room for the handoff.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<ScoredMessage>,
    /// Estimated tokens of the old list that a prompt cache can no longer serve.
    #[serde(default, skip_serializing_if = "is_none")]
    pub invalidated_tokens: u64,
    /// Number of calls after which the compression has paid for itself if prompts are cached; absent if it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pays_after_calls: Option<u64>,
    /// Number of messages in the list that stay because they or their pairs are pinned.
    #[serde(default, skip_serializing_if = "is_none")]
    pub pinned: u64,
    /// Number of outputs reduced to one line, because the agent had discarded them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub discarded: u64,
    /// Number of closed episodes whose messages left the list.
    #[serde(default, skip_serializing_if = "is_none")]
    pub episodes: u64,
    /// Nodes opened with `context.open` that left the list, because the budget needs their room.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folded: Vec<String>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A message of the input, and how much later messages refer to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ScoredMessage {
    /// Its position.
    pub index: u64,
    /// Its score, 0 to 100.
    pub score: u64,
    /// The reasons, most important first: `used`, `open_error`, `correction`, `decision`, `only_place`.
    pub reasons: Vec<String>,
}

/// A list that stays over the threshold because nothing in it can be made smaller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Over {
    /// The threshold in tokens.
    pub threshold: u64,
    /// Tokens of the returned list by the larger of the two estimates, plus what the caller counts
    /// in addition to the list.
    pub tokens: u64,
    /// The parts that stay and take these tokens.
    pub parts: Vec<OverPart>,
}

/// A part of a list that no compression changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OverPart {
    /// Which part.
    pub part: Part,
    /// Its tokens.
    pub tokens: u64,
}

/// The parts that no compression changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "OverPartKind"))]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The system message at the start.
    System,
    /// The protected first messages after it.
    Head,
    /// The user's last message, and the last message with the results of its calls.
    LastExchange,
    /// What the caller counts in addition to the list: a system prompt of its own, tools.
    Request,
}

/// Where the removed messages are archived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Archived {
    /// The handle of the removed messages.
    pub handle: String,
    /// Number of removed messages.
    pub messages: u64,
}

/// A summary model that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AuxFailure {
    /// The model.
    pub model: String,
    /// Its error message, up to 220 chars.
    pub error: String,
}
