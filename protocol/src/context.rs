//! Params and results of the context methods.

pub mod cache_control;
pub mod check;
mod compress;
pub mod discard;
pub mod episode;
pub mod manual;
pub mod opened;
pub mod pins;
pub mod provider_error;
pub mod report;
pub mod schema;
pub mod tools;
pub mod undo;
pub mod usage;

use serde::{Deserialize, Serialize};

use crate::Json;
use crate::value::TextOrOff;

pub use compress::{
    CompactAheadParams, CompactAheadResult, CompressParams, CompressResult, Compressed, Detail, Edits, FailureKind,
    Host, Insert, JobState, Mode, NeedsSummary, Place, Replace, ReplyForm, ResumeError, ResumeParams, SummaryRequest,
};
pub use report::{Archived, AuxFailure, Over, OverPart, Part, Report, ScoredMessage};

/// Declares a params struct with the fields of `context.configure`.
macro_rules! settings {
    ($(#[$doc:meta])* $name:ident { $($(#[$own_doc:meta])* $own:ident: $own_type:ty,)* }) => {
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        $(#[$doc])*
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$own_doc])* pub $own: $own_type,)*
            /// The model in use.
            pub model: Option<String>,
            /// The model's context window in tokens, at least 1. Must be set once per session.
            pub context_length: Option<u64>,
            /// Fraction of the window at which to compress; above 0, at most 1.
            pub threshold: Option<f64>,
            /// Fraction of the threshold that the tail may fill, 0.10 to 0.80; other values are clamped.
            pub target_ratio: Option<f64>,
            /// Number of messages after the system message that are never compressed.
            pub protect_first_n: Option<u64>,
            /// Number of latest messages that pruning leaves unchanged.
            pub protect_last_n: Option<u64>,
            /// The model that writes summaries, if it is not the model in use.
            pub summary_model: Option<String>,
            /// The provider of the model in use.
            pub provider: Option<String>,
            /// The endpoint of the model in use.
            pub base_url: Option<String>,
            /// The protocol of the endpoint.
            pub api_mode: Option<String>,
            /// Return the input if no model can write a summary.
            pub abort_on_summary_failure: Option<bool>,
            /// The engine; `compressor` when absent.
            pub engine: Option<String>,
            /// The summarizer; the configured chain when absent.
            pub summarizer: Option<String>,
            /// Mask secrets in the text to summarise.
            pub redact: Option<bool>,
        }
    };
}

settings! {
    /// Params of `context.configure`. A later call changes only the settings that it sets.
    ConfigureParams {
        /// The session's id.
        session: String,
    }
}

settings! {
    /// The `config` of `context.plan`, for a conversation that belongs to no session.
    #[cfg_attr(test, schemars(rename = "ContextSettings"))]
    Settings {}
}

impl From<ConfigureParams> for Settings {
    fn from(params: ConfigureParams) -> Self {
        Self {
            model: params.model,
            context_length: params.context_length,
            threshold: params.threshold,
            target_ratio: params.target_ratio,
            protect_first_n: params.protect_first_n,
            protect_last_n: params.protect_last_n,
            summary_model: params.summary_model,
            provider: params.provider,
            base_url: params.base_url,
            api_mode: params.api_mode,
            abort_on_summary_failure: params.abort_on_summary_failure,
            engine: params.engine,
            summarizer: params.summarizer,
            redact: params.redact,
        }
    }
}

/// Params of `context.status`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusParams {
    /// The session's id.
    pub session: String,
}

/// Result of `context.status` and `context.configure`. Token fields are −1 if the value is unknown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusResult {
    /// The engine in use.
    pub engine: String,
    /// The model in use; empty if it was never set.
    pub model: String,
    /// The model's context window in tokens.
    pub context_length: u64,
    /// Fraction of the window at which to compress.
    pub threshold: f64,
    /// The threshold in tokens.
    pub threshold_tokens: u64,
    /// Fraction of the threshold that the tail may fill.
    pub target_ratio: f64,
    /// The tail's budget in tokens.
    pub tail_token_budget: u64,
    /// The most tokens that a summary may have.
    pub max_summary_tokens: u64,
    /// Number of messages after the system message that are never compressed.
    pub protect_first_n: u64,
    /// Number of latest messages that pruning leaves unchanged.
    pub protect_last_n: u64,
    /// Prompt tokens of the last call; −1 right after a compression.
    pub last_prompt_tokens: i64,
    /// Completion tokens of the last call.
    pub last_completion_tokens: i64,
    /// Sum of prompt and completion tokens of the last call.
    pub last_total_tokens: i64,
    /// The last number of prompt tokens that a provider reported.
    pub last_real_prompt_tokens: i64,
    /// Percentage of the window that the last prompt filled, 0 to 100.
    pub usage_percent: f64,
    /// Number of compressions so far.
    pub compression_count: u64,
    /// Estimated tokens of the list right after the last compression.
    pub last_compression_rough_tokens: i64,
    /// The same estimate, set once the provider's count showed that the list fits.
    pub last_rough_tokens_when_real_prompt_fit: i64,
    /// Whether no real usage was reported since the last compression.
    pub awaiting_real_usage: bool,
    /// Incremented by each in-place compression.
    pub generation: u64,
    /// Body of the last summary.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub previous_summary: Option<String>,
    /// The model that writes summaries, if not the one in use.
    pub summary_model: Option<String>,
    /// Why the last summary failed.
    pub last_error: Option<String>,
    /// Number of messages that the last compression removed.
    pub dropped: u64,
    /// Whether a summarizer other than the configured one wrote the last summary.
    pub fallback: bool,
    /// Whether the last compression gave up.
    pub aborted: bool,
    /// The summary model that failed and was replaced by another summarizer.
    pub aux_failure: Option<AuxFailure>,
    /// Percentage that the last compression saved.
    pub savings_pct: f64,
    /// Number of consecutive compressions that saved less than 10 %.
    pub ineffective_count: u64,
    /// Seconds until a failed summarizer is called again.
    pub cooldown_s: f64,
    /// Whether automatic compression is allowed.
    pub breaker: Breaker,
    /// Seconds until automatic compression is allowed.
    pub wait_s: f64,
}

/// Whether automatic compression is allowed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Breaker {
    /// Automatic compression is allowed.
    #[default]
    Closed,
    /// Automatic compression is paused, because two runs in a row saved too little.
    Open,
    /// One trial run is allowed.
    HalfOpen,
}

/// Params of `context.constants`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConstantsParams {}

/// Result of `context.constants`: constants that clients match on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConstantsResult {
    /// The text that a handoff begins with.
    pub prefix: String,
    /// The text that a handoff ends with.
    pub end_marker: String,
    /// The key that marks a message as a handoff.
    pub metadata_key: String,
    /// The headings of the sections that a reader must not act on.
    pub headings: Headings,
    /// Tokens counted for one image.
    pub image_tokens: u64,
    /// Chars counted for one image in a budget.
    pub image_chars: u64,
    /// The smallest window of a summary model, in tokens; a model with a smaller one is refused.
    pub min_context: u64,
    /// Windows to try when the assumed one is too large, in descending order.
    pub probe_tiers: Vec<u64>,
}

/// The four headings for past work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Headings {
    /// The user's last request.
    pub task: String,
    /// The work in progress.
    pub in_progress: String,
    /// Earlier requests of the user.
    pub pending: String,
    /// The remaining work.
    pub remaining: String,
}

/// Params of `context.estimate`: `text`, or `messages` with their system prompt and tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EstimateParams {
    /// A text to estimate.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: Option<String>,
    /// Chat messages.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
    /// The system prompt sent with the messages.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub system_prompt: Option<String>,
    /// The tools sent with the messages.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub tools: Option<Vec<Json>>,
}

/// Result of `context.estimate`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EstimateResult {
    /// Estimated tokens: chars divided by 4.
    pub tokens: u64,
    /// Tokens by herma's own estimate, which depends on the writing systems of the text.
    pub own: u64,
    /// Chars as the boundaries of a compression count them.
    pub budget_chars: u64,
}

/// Params of `context.plan`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanParams {
    /// The conversation.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
    /// The session whose settings to use.
    pub session: Option<String>,
    /// The settings themselves, instead of a session's.
    pub config: Option<Settings>,
    /// A topic to keep in most detail; false turns off the automatic topic too.
    pub focus: Option<TextOrOff>,
    /// The body of the previous summary.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub previous_summary: Option<String>,
    /// Today's date, YYYY-MM-DD; false for none.
    pub today: Option<TextOrOff>,
    /// Whether to also return a preview of the new list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<bool>,
    /// How detailed the handoff is; `medium` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// A range `[from, to)` of positions; only messages in it may leave the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(u64, u64)>,
}

/// An output that a later output replaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Superseded {
    /// Its position.
    pub index: u64,
    /// Position of the output that replaces it.
    pub by: u64,
    /// What has happened since: `looked_again`, `changed` or `went_well`.
    pub since: String,
    /// Estimated tokens of the output.
    pub tokens: u64,
}

/// Result of `context.plan`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanResult {
    /// Number of messages at the start that are never compressed.
    pub head_size: u64,
    /// Position of the first message to summarise, in the pruned list.
    pub start: u64,
    /// Position of the first message of the tail, in the pruned list.
    pub end: u64,
    /// The fewest messages that the tail may have.
    pub min_tail: u64,
    /// Number of messages that pruning changed.
    pub pruned: u64,
    /// The list after pruning.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
    /// The middle as text, in the form that a summarizer gets.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub serialized: String,
    /// The prompt for a model; null when there is nothing to summarise.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub prompt: Option<String>,
    /// The request's `max_tokens`; null if `prompt` is null.
    pub max_tokens: Option<u64>,
    /// Tokens allotted to the summary.
    pub summary_budget: u64,
    /// The topic in force.
    pub focus: Option<String>,
    /// The body of the summary that the new one would update.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub previous_summary: Option<String>,
    /// The score of each message of the input: how much later messages refer to it. Messages with score 0 are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<ScoredMessage>,
    /// Outputs of the input that later ones replace. The agent may discard them with `context.discard`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<Superseded>,
    /// The new list, if `preview` was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
}

/// A preview of a compression with herma's own record, without a model call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "PlanPreview"))]
pub struct Preview {
    /// Whether the compression would change anything.
    pub compressed: bool,
    /// Why it would change nothing.
    pub reason: Option<String>,
    /// The messages that stay, change or are new; all others leave the list.
    pub edits: Edits,
    /// The text of the handoff; empty if there is none.
    pub handoff: String,
    /// Number of messages after the compression.
    pub messages_after: u64,
    /// Estimated tokens before the compression.
    pub tokens_before: u64,
    /// Estimated tokens after the compression.
    pub tokens_after: u64,
}
