//! Which provider's fields a usage has, and what they mean.

use serde_json::Value;

use super::fields::Fields;
use super::{Usage, sum};

/// Counts of chat completions.
const CHAT: [&str; 2] = ["prompt_tokens", "completion_tokens"];
/// Counts that Anthropic and OpenAI's Responses API both have.
const INPUT_OUTPUT: [&str; 2] = ["input_tokens", "output_tokens"];
/// Counts of Gemini, on the wire and as its Python library writes them.
const GEMINI: [&str; 8] = [
    "promptTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "cachedContentTokenCount",
    "prompt_token_count",
    "candidates_token_count",
    "thoughts_token_count",
    "cached_content_token_count",
];
/// Counts of Bedrock's Converse API.
const BEDROCK: [&str; 4] = ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"];
/// Counts of Ollama's own API.
const OLLAMA: [&str; 2] = ["prompt_eval_count", "eval_count"];

/// Where a response holds its usage: OpenAI, Anthropic and their kin; Gemini on the wire; Gemini
/// as its Python library writes it.
const NESTED: [&str; 3] = ["usage", "usageMetadata", "usage_metadata"];

/// The fields with the counts: those of the report, or where it has none, of the usage that it holds.
pub(super) fn counts(report: &Value) -> Option<Fields<'_>> {
    let given = Fields::of(report)?;
    if Dialect::recognised(&given).is_some() {
        return Some(given);
    }
    Some(NESTED.into_iter().find_map(|name| given.object(name)).unwrap_or(given))
}

/// A family of usage fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Chat completions: OpenAI, OpenRouter, DeepSeek and most others.
    Chat,
    /// OpenAI's Responses API.
    Responses,
    /// Anthropic's Messages API.
    Anthropic,
    /// Gemini's `usageMetadata`.
    Gemini,
    /// Bedrock's Converse API.
    Bedrock,
    /// Ollama's own API.
    Ollama,
}

impl Dialect {
    /// What the names say, else what the fields are.
    ///
    /// Fields that are Gemini's or Ollama's alone stand against `chat_completions`: agents put
    /// that name on everything that is neither Anthropic's nor the Responses API.
    pub(super) fn of(fields: &Fields<'_>, provider: Option<&str>, api_mode: Option<&str>) -> Self {
        if names(api_mode, "anthropic_messages") || names(provider, "anthropic") {
            return Self::Anthropic;
        }
        if names(api_mode, "codex_responses") {
            return Self::Responses;
        }
        match Self::recognised(fields) {
            Some(Self::Anthropic | Self::Responses) if names(api_mode, "chat_completions") => Self::Chat,
            Some(dialect) => dialect,
            None => Self::Chat,
        }
    }

    /// The dialect that the fields belong to; none if no count of any is there. Bare input and
    /// output counts mean the same in both dialects that have them.
    pub(super) fn recognised(fields: &Fields<'_>) -> Option<Self> {
        if fields.has_any(&CHAT) {
            Some(Self::Chat)
        } else if fields.has_any(&GEMINI) {
            Some(Self::Gemini)
        } else if fields.has_any(&BEDROCK) {
            Some(Self::Bedrock)
        } else if fields.has_any(&OLLAMA) {
            Some(Self::Ollama)
        } else if !fields.has_any(&INPUT_OUTPUT) {
            None
        } else if fields.has_any(&["input_tokens_details", "cached_input_tokens"]) {
            Some(Self::Responses)
        } else {
            Some(Self::Anthropic)
        }
    }

    /// The buckets of a usage in this dialect.
    pub(super) fn read(self, fields: &Fields<'_>) -> Usage {
        match self {
            Self::Chat => chat(fields),
            Self::Responses => responses(fields),
            Self::Anthropic => anthropic(fields),
            Self::Gemini => gemini(fields),
            Self::Bedrock => bedrock(fields),
            Self::Ollama => ollama(fields),
        }
    }
}

/// `prompt_tokens` counts cached tokens too. How many is in `prompt_tokens_details` (OpenAI,
/// OpenRouter), else beside it: in Anthropic's fields (gateways to Claude) or in
/// `prompt_cache_hit_tokens` (DeepSeek, whose misses are not written to a cache).
fn chat(fields: &Fields<'_>) -> Usage {
    let nested = |name| fields.count_in("prompt_tokens_details", &[name]);
    let cache_read = match nested("cached_tokens") {
        0 => fields.count(&["cache_read_input_tokens", "prompt_cache_hit_tokens"]),
        cached => cached,
    };
    let cache_write = match nested("cache_write_tokens") {
        0 => fields.count(&["cache_creation_input_tokens"]),
        written => written,
    };
    Usage {
        output: fields.count(&["completion_tokens"]),
        reasoning: reasoning(fields),
        ..of_whole_prompt(fields.count(&["prompt_tokens"]), cache_read, cache_write)
    }
}

/// `input_tokens` counts cached tokens too. The number of cached tokens is in `input_tokens_details`, or next to `input_tokens` in
/// Codex's own records.
fn responses(fields: &Fields<'_>) -> Usage {
    let of = |nested: (&str, &str), flat: &str| match fields.count_in(nested.0, &[nested.1]) {
        0 => fields.count(&[flat]),
        tokens => tokens,
    };
    let cache_read = of(("input_tokens_details", "cached_tokens"), "cached_input_tokens");
    let cache_write = of(("input_tokens_details", "cache_creation_tokens"), "cache_write_input_tokens");
    Usage {
        output: fields.count(&["output_tokens"]),
        reasoning: of(("output_tokens_details", "reasoning_tokens"), "reasoning_output_tokens"),
        ..of_whole_prompt(fields.count(&["input_tokens"]), cache_read, cache_write)
    }
}

/// `input_tokens` are those that no cache had to do with.
fn anthropic(fields: &Fields<'_>) -> Usage {
    Usage {
        input: fields.count(&["input_tokens"]),
        output: fields.count(&["output_tokens"]),
        cache_read: fields.count(&["cache_read_input_tokens"]),
        cache_write: fields.count(&["cache_creation_input_tokens"]),
        reasoning: reasoning(fields),
        ..Usage::default()
    }
}

/// `promptTokenCount` counts cached tokens too; `candidatesTokenCount` leaves the thoughts out.
fn gemini(fields: &Fields<'_>) -> Usage {
    let prompt = fields.count(&["promptTokenCount", "prompt_token_count"]);
    let cache_read = fields.count(&["cachedContentTokenCount", "cached_content_token_count"]);
    let answer = fields.count(&["candidatesTokenCount", "candidates_token_count"]);
    let thoughts = fields.count(&["thoughtsTokenCount", "thoughts_token_count"]);
    Usage { output: sum([answer, thoughts]), reasoning: thoughts, ..of_whole_prompt(prompt, cache_read, 0) }
}

/// `inputTokens` are those that no cache had to do with, as with Anthropic.
fn bedrock(fields: &Fields<'_>) -> Usage {
    Usage {
        input: fields.count(&["inputTokens"]),
        output: fields.count(&["outputTokens"]),
        cache_read: fields.count(&["cacheReadInputTokens", "cacheReadInputTokenCount"]),
        cache_write: fields.count(&["cacheWriteInputTokens", "cacheWriteInputTokenCount"]),
        ..Usage::default()
    }
}

/// Two counts and no cache.
fn ollama(fields: &Fields<'_>) -> Usage {
    Usage { input: fields.count(&["prompt_eval_count"]), output: fields.count(&["eval_count"]), ..Usage::default() }
}

/// `reasoning_tokens` of the details: `output_tokens_details` in the Responses API,
/// `completion_tokens_details` in chat completions.
fn reasoning(fields: &Fields<'_>) -> u64 {
    match fields.count_in("output_tokens_details", &["reasoning_tokens"]) {
        0 => fields.count_in("completion_tokens_details", &["reasoning_tokens"]),
        tokens => tokens,
    }
}

/// The prompt's buckets where the cached tokens are part of `prompt`.
fn of_whole_prompt(prompt: u64, cache_read: u64, cache_write: u64) -> Usage {
    Usage { input: prompt.saturating_sub(sum([cache_read, cache_write])), cache_read, cache_write, ..Usage::default() }
}

/// Whether a name that a caller gave is this one, in any case.
fn names(given: Option<&str>, name: &str) -> bool {
    given.is_some_and(|given| given.trim().eq_ignore_ascii_case(name))
}
