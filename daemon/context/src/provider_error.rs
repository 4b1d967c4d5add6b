//! What a provider's error is about: a prompt that does not fit the window, an answer that may
//! not become so long, or something else.
//!
//! Only what a text says counts: no window is guessed. Every function here is linear in the text.
//!
//! An error counts as "input too long" when
//! * it has one of the codes that mean nothing else (`context_length_exceeded` …), or status 413,
//! * or it is neither about rates, quotas, money or access (by status or by words), nor about the
//!   length of the answer alone, and either says in so many words that the prompt is too long, or
//!   names a window and speaks of a context, a prompt or tokens.

mod available;
mod limit;
mod words;

pub use available::parse_available_output;
pub use limit::parse_context_limit;

use crate::constants::PROBE_TIERS;

/// The status of a request that is too large to be read.
const TOO_LARGE: u16 = 413;
/// Statuses of requests that were refused whatever their length: no credentials, no money, no
/// permission, too many of them.
const REFUSED: [u16; 4] = [401, 402, 403, 429];

/// What a provider's error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The prompt does not fit the window.
    InputTooLong,
    /// More tokens were asked for than the answer may have.
    OutputCap,
    /// Something else.
    Other,
}

/// An error, understood. Sizes are in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classified {
    /// What it is about.
    pub kind: Kind,
    /// The window that the text names; none for [`Kind::Other`], where a number is something else.
    pub context_limit: Option<u64>,
    /// The same if it is smaller than the window that the caller believes in.
    pub lower_limit: Option<u64>,
    /// The most that the answer may have; only for [`Kind::OutputCap`], and at least 1.
    pub available_output: Option<u64>,
    /// The largest usual window below the one that the caller believes in; a guess.
    pub next_tier: Option<u64>,
}

/// Says what an error is about. `status` is that of HTTP, `current` the window that the caller
/// believes in, in tokens.
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

/// The window that the text names, if it is smaller than `current`. A text without a number
/// leaves the window as it is.
pub fn context_length_from_error(text: &str, current: u64) -> Option<u64> {
    parse_context_limit(text).filter(|limit| *limit < current)
}

/// The largest of [`PROBE_TIERS`] below `window`.
pub fn next_probe_tier(window: u64) -> Option<u64> {
    PROBE_TIERS.into_iter().find(|tier| *tier < window)
}

/// Kind, window and room for the answer, of a lower-case text.
fn judged(text: &str, status: Option<u16>) -> (Kind, Option<u64>, Option<u64>) {
    let has_code = words::has_overflow_code(text);
    let is_refused = status.is_some_and(|status| REFUSED.contains(&status)) || words::is_refusal(text);
    if is_refused && !has_code {
        // Such a request never passes as it is, however long one waits.
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
