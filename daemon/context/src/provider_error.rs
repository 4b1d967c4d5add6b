//! The cause of a provider's error: a prompt that does not fit the window, a limit on the answer's length, or
//! something else.
//!
//! Only the text counts; no window is guessed. Every function here is linear in the text.
//!
//! An error counts as "input too long" when
//! * it has a code that means nothing else (`context_length_exceeded` …), or status 413,
//! * or it is not about rates, quotas, money or access (by status or by words), and says explicitly that the
//!   prompt or a text is too long,
//! * or it is not about these either, names a window, mentions a context, a prompt or tokens, and is not only
//!   about the length of the answer.
//!
//! An error that names a cap of the answer counts as such, unless it is about rates, quotas, money or access.

mod available;
mod limit;
mod words;

pub use available::parse_available_output;
pub use limit::parse_context_limit;

use crate::constants::PROBE_TIERS;

/// The status of a request that is too large to read.
const TOO_LARGE: u16 = 413;
/// Statuses of requests that were refused whatever their length: no credentials, no money, no permission, too
/// many requests.
const REFUSED: [u16; 4] = [401, 402, 403, 429];

/// The cause of a provider's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The prompt does not fit the window.
    InputTooLong,
    /// The request asked for more tokens than the answer may have.
    OutputCap,
    /// Something else.
    Other,
}

/// A classified error. Sizes are in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classified {
    /// The cause.
    pub kind: Kind,
    /// The window that the text names; none for [`Kind::Other`], whose numbers mean something else.
    pub context_limit: Option<u64>,
    /// The same window if it is smaller than the caller's assumed window.
    pub lower_limit: Option<u64>,
    /// The most tokens of an answer; only for [`Kind::OutputCap`], and at least 1.
    pub available_output: Option<u64>,
    /// The largest usual window below the caller's assumed window; a guess.
    pub next_tier: Option<u64>,
}

/// Classifies an error. `status` is the HTTP status, `current` the caller's assumed window in tokens.
pub fn classify(text: &str, status: Option<u16>, current: Option<u64>) -> Classified {
    let text = text.to_ascii_lowercase();
    let (kind, context_limit, available_output) = judged(&text, status);
    Classified {
        kind,
        context_limit,
        lower_limit: context_limit.filter(|limit| current.is_some_and(|current| *limit < current)),
        available_output,
        next_tier: current.and_then(next_probe_tier),
    }
}

/// Returns the window that the text names, if it is smaller than `current`. Returns `None` for a text without
/// a number.
pub fn context_length_from_error(text: &str, current: u64) -> Option<u64> {
    parse_context_limit(text).filter(|limit| *limit < current)
}

/// Returns the largest of [`PROBE_TIERS`] below `window`.
pub fn next_probe_tier(window: u64) -> Option<u64> {
    PROBE_TIERS.into_iter().find(|tier| *tier < window)
}

/// Returns the kind, the window and the room for the answer from a lower-case text.
fn judged(text: &str, status: Option<u16>) -> (Kind, Option<u64>, Option<u64>) {
    let has_code = words::has_overflow_code(text);
    let is_refused = status.is_some_and(|status| REFUSED.contains(&status)) || words::is_refusal(text);
    if is_refused && !has_code {
        // A too large request never passes unchanged, however long the caller waits.
        let kind = if status == Some(TOO_LARGE) { Kind::InputTooLong } else { Kind::Other };
        return (kind, None, None);
    }
    let window = limit::in_lower_case(text);
    if let Some(room) = available::in_lower_case(text).or_else(|| available::of_a_sum(text)) {
        return (Kind::OutputCap, window, Some(room));
    }
    if !has_code && let Some(cap) = available::of_the_model(text) {
        return (Kind::OutputCap, None, Some(cap));
    }
    let is_measured_in_chars = words::counts_chars(text);
    let window = window.filter(|_| !is_measured_in_chars);
    let is_about_the_answer = words::names_the_answer_only(text);
    let says_so = has_code || status == Some(TOO_LARGE) || is_measured_in_chars || words::says_too_long(text);
    let names_it = window.is_some() && !is_about_the_answer && words::names_the_prompt(text);
    if says_so || names_it { (Kind::InputTooLong, window, None) } else { (Kind::Other, None, None) }
}

#[cfg(test)]
mod tests;
