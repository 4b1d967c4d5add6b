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
pub mod schema;
pub mod tools;
pub mod undo;
pub mod usage;

use serde::{Deserialize, Serialize};

use crate::Json;
use crate::value::TextOrOff;

pub use compress::{
    Archived, CompactAheadParams, CompactAheadResult, CompressParams, CompressResult, Compressed, Detail, Edits,
    FailureKind, Host, Insert, JobState, Mode, NeedsSummary, Over, OverPart, Part, Place, Replace, ReplyForm, Report,
    ResumeError, ResumeParams, ScoredMessage, SummaryRequest,
};

/// Declares a params struct that has the fields of `context.configure`.
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
            /// Its window in tokens, from 1. Needed once for a session.
            pub context_length: Option<u64>,
            /// Fraction of the window at which to compress, above 0 and up to 1.
            pub threshold: Option<f64>,
            /// Fraction of the threshold that the tail may fill, 0.10 to 0.80;
            /// what is outside is clamped.
            pub target_ratio: Option<f64>,
            /// Messages after the system message that are never compressed.
            pub protect_first_n: Option<u64>,
            /// Latest messages that pruning leaves alone.
            pub protect_last_n: Option<u64>,
            /// The model that writes summaries, if not the one in use.
            pub summary_model: Option<String>,
            /// The provider of the model in use.
            pub provider: Option<String>,
            /// The endpoint of the model in use.
            pub base_url: Option<String>,
            /// How the endpoint is spoken to.
            pub api_mode: Option<String>,
            /// Return the input when no model can write a summary.
            pub abort_on_summary_failure: Option<bool>,
            /// Which engine; `compressor` when absent.
            pub engine: Option<String>,
            /// Which summarizer; the configured chain when absent.
            pub summarizer: Option<String>,
            /// Mask secrets in what is summarised.
            pub redact: Option<bool>,
        }
    };
}

settings! {
    /// Params of `context.configure`. Later calls change what they name.
    ConfigureParams {
        /// The session's id.
        session: String,
    }
}

settings! {
    /// The `config` of `context.plan`, for a list that belongs to no session.
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

/// Result of `context.status` and `context.configure`. Token fields are −1
/// where a value is unknown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusResult {
    /// The engine in use.
    pub engine: String,
    /// The model in use; empty when it was never named.
    pub model: String,
    /// Its window in tokens.
    pub context_length: u64,
    /// Fraction of the window at which to compress.
    pub threshold: f64,
    /// The same in tokens.
    pub threshold_tokens: u64,
    /// Fraction of the threshold that the tail may fill.
    pub target_ratio: f64,
    /// The same in tokens.
    pub tail_token_budget: u64,
    /// Most tokens of a summary.
    pub max_summary_tokens: u64,
    /// Messages after the system message that are never compressed.
    pub protect_first_n: u64,
    /// Latest messages that pruning leaves alone.
    pub protect_last_n: u64,
    /// Prompt tokens of the last call; −1 right after a compression.
    pub last_prompt_tokens: i64,
    /// Completion tokens of the last call.
    pub last_completion_tokens: i64,
    /// Sum of both.
    pub last_total_tokens: i64,
    /// Last prompt tokens that a provider reported.
    pub last_real_prompt_tokens: i64,
    /// Share of the window that the last prompt filled, 0 to 100.
    pub usage_percent: f64,
    /// Compressions so far.
    pub compression_count: u64,
    /// Estimate of the list right after the last compression.
    pub last_compression_rough_tokens: i64,
    /// That estimate, once the provider showed that it fits.
    pub last_rough_tokens_when_real_prompt_fit: i64,
    /// A compression happened and no real usage was reported since.
    pub awaiting_real_usage: bool,
    /// Grows by one with each in-place compression.
    pub generation: u64,
    /// Body of the last summary.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub previous_summary: Option<String>,
    /// The model that writes summaries, if not the one in use.
    pub summary_model: Option<String>,
    /// Why the last summary failed.
    pub last_error: Option<String>,
    /// Messages that the last compression took out.
    pub dropped: u64,
    /// Another summarizer than the configured one wrote the last summary.
    pub fallback: bool,
    /// The last compression gave up.
    pub aborted: bool,
    /// The summary model that failed and was left.
    pub aux_failure: Option<AuxFailure>,
    /// What the last compression saved, in percent.
    pub savings_pct: f64,
    /// Compressions in a row that saved less than 10 %.
    pub ineffective_count: u64,
    /// Seconds until a failed summarizer is asked again.
    pub cooldown_s: f64,
    /// Whether automatic compression is allowed.
    pub breaker: Breaker,
    /// Seconds until it is.
    pub wait_s: f64,
}

/// A summary model that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AuxFailure {
    /// The model.
    pub model: String,
    /// What it said, up to 220 chars.
    pub error: String,
}

/// Whether automatic compression is allowed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Breaker {
    /// It is.
    #[default]
    Closed,
    /// Two weak runs in a row: not now.
    Open,
    /// One run may try.
    HalfOpen,
}

/// Params of `context.constants`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConstantsParams {}

/// Result of `context.constants`: what clients match on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConstantsResult {
    /// What a handoff begins with.
    pub prefix: String,
    /// What it ends with.
    pub end_marker: String,
    /// The key that marks the message with a handoff.
    pub metadata_key: String,
    /// The headings that a reader must not act on.
    pub headings: Headings,
    /// Tokens that one image counts.
    pub image_tokens: u64,
    /// Chars that one image counts in a budget.
    pub image_chars: u64,
    /// The window below which a summary model is refused, in tokens.
    pub min_context: u64,
    /// Windows to try when one is too large, from large to small.
    pub probe_tiers: Vec<u64>,
}

/// The four historical headings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Headings {
    /// What the user asked last.
    pub task: String,
    /// What was being done.
    pub in_progress: String,
    /// What the user had asked.
    pub pending: String,
    /// What was left.
    pub remaining: String,
}

/// Params of `context.estimate`: `text`, or `messages` and what goes with them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EstimateParams {
    /// A text.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: Option<String>,
    /// Chat messages.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
    /// The system prompt sent beside them.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub system_prompt: Option<String>,
    /// The tools sent beside them.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub tools: Option<Vec<Json>>,
}

/// Result of `context.estimate`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EstimateResult {
    /// Tokens by chars/4.
    pub tokens: u64,
    /// Tokens by script.
    pub own: u64,
    /// Chars as the boundaries count them.
    pub budget_chars: u64,
}

/// Params of `context.plan`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanParams {
    /// The conversation.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
    /// Whose settings to use.
    pub session: Option<String>,
    /// Or the settings themselves.
    pub config: Option<Settings>,
    /// A topic to keep most of; false for no automatic one either.
    pub focus: Option<TextOrOff>,
    /// The body of the summary before.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub previous_summary: Option<String>,
    /// Today's date, YYYY-MM-DD; false for none.
    pub today: Option<TextOrOff>,
    /// Say what the list would be, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<bool>,
    /// How much the handoff tells; `medium` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// Positions from the first to before the second; nothing else leaves the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(u64, u64)>,
}

/// An output that a later one stands in for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Superseded {
    /// Its position.
    pub index: u64,
    /// Position of the output that stands in for it.
    pub by: u64,
    /// What happened since: `looked_again`, `changed`, `went_well`.
    pub since: String,
    /// Tokens that it takes, by estimate.
    pub tokens: u64,
}

/// Result of `context.plan`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanResult {
    /// Messages that are never compressed, at the front.
    pub head_size: u64,
    /// First message that would be summarised, in the pruned list.
    pub start: u64,
    /// First message of the tail, in the pruned list.
    pub end: u64,
    /// Fewest messages of the tail.
    pub min_tail: u64,
    /// Messages that pruning changed.
    pub pruned: u64,
    /// The list after pruning.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Vec<Json>,
    /// The middle as text, as a summarizer gets it.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub serialized: String,
    /// The prompt for a model; null when there is nothing to summarise.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub prompt: Option<String>,
    /// The request's `max_tokens`; null with the prompt.
    pub max_tokens: Option<u64>,
    /// Tokens that the summary may have.
    pub summary_budget: u64,
    /// The topic in force.
    pub focus: Option<String>,
    /// The body of the summary that this one would update.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub previous_summary: Option<String>,
    /// What each message of the input is worth to what comes after it, those that are worth nothing left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<ScoredMessage>,
    /// Outputs of the input that later ones stand in for: to discard, if the agent thinks so too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<Superseded>,
    /// What the list would be, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
}

/// What a compression would make of a list by herma's own record, without a call of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "PlanPreview"))]
pub struct Preview {
    /// Whether it would change anything.
    pub compressed: bool,
    /// Why not.
    pub reason: Option<String>,
    /// What stays, what takes another form and what is new; everything else leaves the list.
    pub edits: Edits,
    /// The text of the handoff; empty without one.
    pub handoff: String,
    /// Messages of the list after it.
    pub messages_after: u64,
    /// Tokens of the list before it, by estimate.
    pub tokens_before: u64,
    /// Tokens of the list after it.
    pub tokens_after: u64,
}
