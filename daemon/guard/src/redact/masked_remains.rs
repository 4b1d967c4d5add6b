//! Before pass 1: remains of keys, web tokens and telephone numbers from an earlier redaction:
//! `ghp_aB...wXyZ`, `+493****1234`. The pass removes them if nothing of a secret may stay. Remains
//! of other secrets are found by the text before them, like the secrets themselves.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{Edit, MaskStyle, REMOVED, byte_before, is_key_byte, jwt, key_prefix, run_end, run_start};

/// Letters of a key before the dots.
const HEAD: usize = 6;

/// Letters of a key after the dots, and digits of a number after the stars; a text that was cut has fewer.
const TAIL: usize = 4;

/// Digits of a number before the stars.
const DIGITS: usize = 3;

static DOTS: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("..."));
static STARS: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("****"));

pub(super) fn edits(text: &str, shown: MaskStyle) -> Vec<Edit> {
    if shown != MaskStyle::Nothing {
        return Vec::new();
    }
    let mut ranges: Vec<Range<usize>> = DOTS.find_iter(text.as_bytes()).filter_map(|dots| key(text, dots)).collect();
    ranges.extend(STARS.find_iter(text.as_bytes()).filter_map(|stars| number(text, stars)));
    ranges.sort_by_key(|range| range.start);
    ranges.dedup_by(|later, earlier| later.start < earlier.end);
    ranges.into_iter().map(|range| Edit { range, with: REMOVED.to_owned() }).collect()
}

/// Returns the masked key around the dots: one with a known prefix, or one that doesn't look like words.
fn key(text: &str, dots: usize) -> Option<Range<usize>> {
    let start = dots.checked_sub(HEAD)?;
    let head = text.get(start..dots)?;
    let tail_start = dots + "...".len();
    let end = run_end(text, tail_start, |byte| is_key_byte(byte) || byte == b'=');
    let tail = text.get(tail_start..end)?;
    // Most words before three dots begin with a letter that begins no key.
    let begins = |prefix: &str| {
        prefix.as_bytes().first() == head.as_bytes().first() && (head.starts_with(prefix) || prefix.starts_with(head))
    };
    let is_known = begins(jwt::OPENING) || key_prefix::PREFIXES.iter().any(|(prefix, _)| begins(prefix));
    let fits = if is_known {
        tail.len() <= TAIL
    } else {
        tail.len() == TAIL && head.bytes().all(is_key_byte) && (is_odd(head) || is_odd(tail))
    };
    (fits && !byte_before(text, start).is_some_and(is_key_byte)).then_some(start..end)
}

/// Returns whether no ordinary word looks like this: it has a letter and a digit, or a small letter
/// and a capital that is not the first letter.
fn is_odd(part: &str) -> bool {
    let has_letter = part.bytes().any(|byte| byte.is_ascii_alphabetic());
    let has_digit = part.bytes().any(|byte| byte.is_ascii_digit());
    let is_mixed = part.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
        && part.bytes().any(|byte| byte.is_ascii_lowercase());
    has_letter && (has_digit || is_mixed)
}

/// Returns the masked number around the stars.
fn number(text: &str, stars: usize) -> Option<Range<usize>> {
    let digits = run_start(text, stars, |byte| byte.is_ascii_digit());
    let start = digits.checked_sub(1).filter(|_| byte_before(text, digits) == Some(b'+'))?;
    let end = run_end(text, stars + "****".len(), |byte| byte.is_ascii_digit());
    let fits = (1..=DIGITS).contains(&(stars - digits)) && end - stars <= "****".len() + TAIL;
    fits.then_some(start..end)
}
