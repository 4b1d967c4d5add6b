//! The tokens of one call, read from a provider's report.
//!
//! Providers agree neither on names nor on sums: with some the cached tokens are part of the
//! prompt, with others they come on top. [`normalise`] gives all of them the same buckets.

mod dialect;
mod fields;

use serde_json::Value;

use dialect::Dialect;

/// The largest count or sum: 2^53 - 1, the last whole number that a reader with JSON numbers as doubles can
/// represent exactly. Larger values become this.
pub const MAX_TOKENS: u64 = (1 << 53) - 1;

/// The tokens of one call; no bucket and no sum is above [`MAX_TOKENS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Prompt tokens that were neither read from a cache nor written to one.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Prompt tokens that the provider had in its cache.
    pub cache_read: u64,
    /// Prompt tokens that the provider put into its cache.
    pub cache_write: u64,
    /// Reasoning tokens; most providers count them in `output` too.
    pub reasoning: u64,
    /// The number of calls in this usage; a report is about one.
    pub request_count: u64,
}

impl Default for Usage {
    /// Returns the usage of one call with unknown tokens.
    fn default() -> Self {
        Self { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0, request_count: 1 }
    }
}

impl Usage {
    /// Returns all tokens of the prompt: `input + cache_read + cache_write`.
    pub fn prompt(&self) -> u64 {
        sum([self.input, self.cache_read, self.cache_write])
    }

    /// Returns the tokens of prompt and answer together.
    pub fn total(&self) -> u64 {
        sum([self.prompt(), self.output])
    }
}

/// Reads the usage that a provider reports, or a whole response with it under `usage` or `usageMetadata`.
///
/// A count that is not a whole number above 0 becomes 0. A usage that is not an object has no tokens at all.
///
/// * `provider`: `anthropic` selects Anthropic's fields; with any other name `api_mode` decides
/// * `api_mode`: `anthropic_messages`, `codex_responses` (OpenAI's Responses API) or `chat_completions`; with
///   any other name the fields themselves decide
pub fn normalise(usage: &Value, provider: Option<&str>, api_mode: Option<&str>) -> Usage {
    let Some(fields) = dialect::counts(usage) else { return Usage::default() };
    Dialect::of(&fields, provider, api_mode).read(&fields)
}

/// Returns the sum, at most [`MAX_TOKENS`].
fn sum<const N: usize>(counts: [u64; N]) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add).min(MAX_TOKENS)
}

#[cfg(test)]
mod tests;
