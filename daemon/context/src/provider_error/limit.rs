//! The window that a text names.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use crate::pattern;
use crate::pattern::Pattern;

/// Plausible windows, in tokens. Smaller numbers are counts of messages or codes, larger ones bytes or times.
const BELIEVED: RangeInclusive<u64> = 1_024..=10_000_000;

/// The fewest digits of a number, unless it is grouped by thousands.
const MIN_DIGITS: usize = 4;

/// The factor of a group, and the bytes of a group with its separator.
const THOUSAND: u64 = 1_000;
const GROUP: usize = ",000".len();

/// Chars after a number that are examined for a unit.
const UNIT: usize = 12;

/// Texts that name a window, in the order of preference. In each the window is the last number of the match.
/// `N` is a number.
static SHAPES: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    [
        // A context that is reported as too small; this comes before its consequences for the input.
        r"context\s*(?:length|size|window|limit)\s*(?:is|of|:)?\s*(?:only|just|limited\s+to|up\s+to|at\s+most)\s*N",
        // The forms that agents of the Hermes family recognise.
        r"(?:max(?:imum)?|limit)\s*(?:context\s*)?(?:length|size|window)?\s*(?:is|of|:)?\s*N",
        r"context\s*(?:length|size|window)\s*(?:is|of|:)?\s*N",
        r"N\s*(?:token)?\s*(?:context|limit)",
        r">\s*N\s*(?:max|limit|token)",
        r"N\s*max(?:imum)?\b",
        // The forms of engines and their settings.
        r"context\s+(?:length|size|window)\s+(?:limit\s*)?\(N",
        r#"\b(?:n_ctx|max_(?:model_len|seq_len|num_tokens|total_tokens))["'`]*\s*[:=(]\s*N"#,
        r"max(?:imum)?\s+(?:(?:allowed|supported|total)\s+)*(?:model|sequence)\s+(?:length|size)\s*(?:is|of|:)?\s*(?:only|just)?\s*\(?N",
        r"limit\s+(?:for|of)\s+(?:this|the)\s+model\s+is\s+N",
        r"max_new_tokens\W*must\s+be\s*<=\s*N",
        // The limit of the input alone, if nothing else is known about the window.
        r"max(?:imum)?\s+(?:allowed\s+)?(?:number\s+of\s+(?:input\s+)?tokens(?:\s+allowed)?|(?:prompt|input)\s+(?:length|size|tokens)|allowed\s+(?:length|size))\s*(?:is|of|:)?\s*\(?N",
        r"only\s+supports\s+up\s+to\s+N",
        r"range\s+of\s+input\s+length\s+should\s+be\s*\[\s*1\s*,\s*N",
        r"(?:inputs?|prompt)\W+must\s+have\s+(?:less|fewer)\s+than\s+N",
        r"tokens\s+in\s+the\s+prompt\s+cannot\s+exceed\s+N",
    ]
    .iter()
    .map(|shape| pattern(&shape.replace('N', NUMBER)))
    .collect()
});

/// A number with at least [`MIN_DIGITS`] digits, or grouped by thousands.
const NUMBER: &str = r"(?:[0-9]{1,3}(?:[,_][0-9]{3})+|[0-9]{4,})";

/// The sum of prompt and answer exceeds the window, which is the last number.
pub(super) static SUM: LazyLock<Pattern> =
    LazyLock::new(|| pattern(&r"N\s*\+\s*N\s*>\s*N".replace('N', r"[0-9][0-9,_]*")));

/// Returns the window that the text names, in tokens: 1,024 to 10,000,000. Numbers have four digits or more,
/// or are grouped by thousands with commas or underscores. A number followed by another unit (bytes, chars,
/// requests, time) does not count.
pub fn parse_context_limit(text: &str) -> Option<u64> {
    in_lower_case(&text.to_ascii_lowercase())
}

/// Does the same for a lower-case text.
pub(super) fn in_lower_case(text: &str) -> Option<u64> {
    if let Some(found) = SUM.find(text) {
        return last_number(found.as_str()).filter(|window| BELIEVED.contains(window));
    }
    SHAPES.iter().find_map(|shape| {
        let found = shape.find(text)?;
        let window = last_number(found.as_str()).filter(|window| BELIEVED.contains(window))?;
        (!has_another_unit(found.as_str(), text.get(found.end()..).unwrap_or(""))).then_some(window)
    })
}

/// Whether the number at the end of a match counts something other than tokens.
fn has_another_unit(found: &str, rest: &str) -> bool {
    let ends_with_number = found.ends_with(|last: char| last.is_ascii_digit());
    let unit = crate::text::head(rest, UNIT).trim_start();
    let others = ["byte", "char", "request", "second", "ms", "kb", "mb", "kib", "mib"];
    ends_with_number && others.iter().any(|other| unit.starts_with(other))
}

/// Returns the first number of a text, without separators of thousands; `None` if it is too large.
pub(super) fn first_number(text: &str) -> Option<u64> {
    let from = text.find(|char: char| char.is_ascii_digit())?;
    let rest = text.get(from..)?;
    let digits = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
    let (first, mut rest) = rest.split_at_checked(digits)?;
    if first.len() >= MIN_DIGITS {
        return first.parse().ok();
    }
    let mut number: u64 = first.parse().ok()?;
    while let Some(group) = thousands(rest) {
        number = number.checked_mul(THOUSAND)?.checked_add(group)?;
        rest = rest.get(GROUP..)?;
    }
    Some(number)
}

/// Returns the last number of a text that ends with it, trailing non-digits aside.
pub(super) fn last_number(text: &str) -> Option<u64> {
    let is_part = |char: char| char.is_ascii_digit() || matches!(char, ',' | '_');
    let text = text.trim_end_matches(|char: char| !char.is_ascii_digit());
    let from = text.rfind(|char: char| !is_part(char)).map_or(0, |at| at + 1);
    first_number(text.get(from..)?)
}

/// Returns the group of three digits with its separator at the beginning of a text.
fn thousands(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let is_group = matches!(bytes.first(), Some(b',' | b'_'))
        && bytes.get(1..GROUP).is_some_and(|group| group.iter().all(u8::is_ascii_digit))
        && !bytes.get(GROUP).is_some_and(u8::is_ascii_digit);
    if is_group { text.get(1..GROUP)?.parse().ok() } else { None }
}
