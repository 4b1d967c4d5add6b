//! The provider dialect of a usage's fields, and their meaning.

use serde_json::Value;

use super::fields::Fields;
use super::{Usage, sum};

/// Counts of chat completions.
const CHAT: [&str; 2] = ["prompt_tokens", "completion_tokens"];
/// Counts that Anthropic and OpenAI's Responses API both have.
const INPUT_OUTPUT: [&str; 2] = ["input_tokens", "output_tokens"];
/// Counts of Gemini, on the wire and in its Python library's spelling.
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

/// The fields of a response that hold its usage: OpenAI, Anthropic and similar; Gemini on the wire; Gemini in
/// its Python library's spelling.
const NESTED: [&str; 3] = ["usage", "usageMetadata", "usage_metadata"];

/// Returns the fields with the counts: those of the report, or if it has none, those of the usage inside it.
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
    /// Returns the dialect that the names select, else the one of the fields.
    ///
    /// Fields of Gemini or Ollama alone override `chat_completions`, because agents use that name for
    /// everything except Anthropic's and the Responses API.
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

    /// Returns the dialect of the fields; `None` if there is no count of any. Bare input and output counts
    /// mean the same in both dialects that have them.
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

    /// Returns the buckets of a usage in this dialect.
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

/// Reads chat completions. `prompt_tokens` includes cached tokens. Their number is in `prompt_tokens_details`
/// (OpenAI, OpenRouter), or else in other fields: Anthropic's (gateways to Claude) or
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

/// Reads a Responses usage. `input_tokens` includes cached tokens. Their number is in `input_tokens_details`,
/// or next to `input_tokens` in Codex's own records.
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

/// Reads Anthropic's usage. `input_tokens` excludes all cached tokens.
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

/// Reads Gemini's usage. `promptTokenCount` includes cached tokens; `candidatesTokenCount` excludes the
/// thoughts.
fn gemini(fields: &Fields<'_>) -> Usage {
    let prompt = fields.count(&["promptTokenCount", "prompt_token_count"]);
    let cache_read = fields.count(&["cachedContentTokenCount", "cached_content_token_count"]);
    let answer = fields.count(&["candidatesTokenCount", "candidates_token_count"]);
    let thoughts = fields.count(&["thoughtsTokenCount", "thoughts_token_count"]);
    Usage { output: sum([answer, thoughts]), reasoning: thoughts, ..of_whole_prompt(prompt, cache_read, 0) }
}

/// Reads Bedrock's usage. `inputTokens` excludes all cached tokens, as with Anthropic.
fn bedrock(fields: &Fields<'_>) -> Usage {
    Usage {
        input: fields.count(&["inputTokens"]),
        output: fields.count(&["outputTokens"]),
        cache_read: fields.count(&["cacheReadInputTokens", "cacheReadInputTokenCount"]),
        cache_write: fields.count(&["cacheWriteInputTokens", "cacheWriteInputTokenCount"]),
        ..Usage::default()
    }
}

/// Reads Ollama's usage: two counts and no cache.
fn ollama(fields: &Fields<'_>) -> Usage {
    Usage { input: fields.count(&["prompt_eval_count"]), output: fields.count(&["eval_count"]), ..Usage::default() }
}

/// Returns the `reasoning_tokens` of the details: `output_tokens_details` in the Responses API,
/// `completion_tokens_details` in chat completions.
fn reasoning(fields: &Fields<'_>) -> u64 {
    match fields.count_in("output_tokens_details", &["reasoning_tokens"]) {
        0 => fields.count_in("completion_tokens_details", &["reasoning_tokens"]),
        tokens => tokens,
    }
}

/// Returns the prompt's buckets if `prompt` includes the cached tokens.
fn of_whole_prompt(prompt: u64, cache_read: u64, cache_write: u64) -> Usage {
    Usage { input: prompt.saturating_sub(sum([cache_read, cache_write])), cache_read, cache_write, ..Usage::default() }
}

/// Whether the caller's name is this one, in any case.
fn names(given: Option<&str>, name: &str) -> bool {
    given.is_some_and(|given| given.trim().eq_ignore_ascii_case(name))
}
