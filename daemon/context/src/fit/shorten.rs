//! Cutting the middle out of a text that takes too many tokens.

use std::borrow::Cow;

use crate::text::{head, tail};
use crate::tokens::own_estimate_text;

/// What stands for the middle.
const CUT: &str = " [… cut …] ";
/// The most chars that one token stands for in the estimate.
const CHARS_PER_TOKEN: u64 = 64;
/// Chars that one token usually stands for: where a search begins.
const USUAL_CHARS: u64 = 4;
/// Parts of the room for the beginning of the text; the end has one.
const HEAD_PARTS: u64 = 2;

/// The text, or its beginning and end, within so many tokens of the estimate.
pub(super) fn shortened(text: &str, tokens: u64) -> Cow<'_, str> {
    if own_estimate_text(text) <= tokens {
        return Cow::Borrowed(text);
    }
    // Each of the three pieces is rounded up on its own, so their sum is an upper bound.
    let room = tokens.saturating_sub(own_estimate_text(CUT));
    let end = room / (HEAD_PARTS + 1);
    if end == 0 {
        return Cow::Borrowed(beginning(text, tokens));
    }
    Cow::Owned(format!("{}{CUT}{}", beginning(text, room - end), ending(text, end)))
}

/// The longest beginning that takes no more than `tokens`.
fn beginning(text: &str, tokens: u64) -> &str {
    head(text, longest(tokens, |chars| (head(text, chars).len(), own_estimate_text(head(text, chars)))))
}

/// The longest end that takes no more than `tokens`.
fn ending(text: &str, tokens: u64) -> &str {
    tail(text, longest(tokens, |chars| (tail(text, chars).len(), own_estimate_text(tail(text, chars)))))
}

/// The largest count of chars that takes no more than `tokens`; what a count takes, a smaller one
/// does not exceed. `measure` gives bytes and tokens of a count.
fn longest(tokens: u64, measure: impl Fn(usize) -> (usize, u64)) -> usize {
    let count = |chars: u64| usize::try_from(tokens.saturating_mul(chars)).unwrap_or(usize::MAX);
    let (mut low, mut high, mut bytes) = (0, count(USUAL_CHARS), 0);
    while high < count(CHARS_PER_TOKEN) {
        let (longer, taken) = measure(high);
        // Where the text ends, a larger count takes no more of it.
        if taken > tokens || longer == bytes {
            break;
        }
        (low, high, bytes) = (high, high.saturating_mul(2), longer);
    }
    while low < high {
        let middle = high - (high - low) / 2;
        if measure(middle).1 <= tokens { low = middle } else { high = middle - 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_stay() {
        let text = format!("begin {} end", "word ".repeat(1_000));
        let short = shortened(&text, 40);
        assert!(short.starts_with("begin ") && short.ends_with(" end") && short.contains(CUT), "{short}");
        assert!((36..=40).contains(&own_estimate_text(&short)), "{}", own_estimate_text(&short));
        assert_eq!(shortened("abcd", 1), "abcd");
        assert_eq!(shortened("abcdefgh", 1), "abcdefg");
        assert_eq!(shortened("漢字", 0), "");
    }
}
