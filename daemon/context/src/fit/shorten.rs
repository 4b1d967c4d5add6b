//! Cuts the middle of a text that has too many tokens.

use std::borrow::Cow;

use crate::text::{head, tail};
use crate::tokens::own_estimate_text;

/// The replacement for the middle.
const CUT: &str = " [… cut …] ";
/// The most chars per token in the estimate.
const CHARS_PER_TOKEN: u64 = 64;
/// The usual chars per token, where a search begins.
const USUAL_CHARS: u64 = 4;
/// Parts of the room for the beginning of the text; the end gets one part.
const HEAD_PARTS: u64 = 2;

/// Returns the text, or its beginning and end, within so many tokens of the estimate.
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

/// Returns the longest beginning with at most `tokens`.
fn beginning(text: &str, tokens: u64) -> &str {
    head(text, longest(tokens, |chars| (head(text, chars).len(), own_estimate_text(head(text, chars)))))
}

/// Returns the longest end with at most `tokens`.
fn ending(text: &str, tokens: u64) -> &str {
    tail(text, longest(tokens, |chars| (tail(text, chars).len(), own_estimate_text(tail(text, chars)))))
}

/// Returns the largest count of chars with at most `tokens`. A smaller count never has more tokens. `measure`
/// returns bytes and tokens of a count.
fn longest(tokens: u64, measure: impl Fn(usize) -> (usize, u64)) -> usize {
    let count = |chars: u64| usize::try_from(tokens.saturating_mul(chars)).unwrap_or(usize::MAX);
    let (mut low, mut high, mut bytes) = (0, count(USUAL_CHARS), 0);
    while high < count(CHARS_PER_TOKEN) {
        let (longer, taken) = measure(high);
        // At the end of the text a larger count adds nothing.
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
