//! Pass 10: telephone numbers in E.164 form, `+4930…`.

use std::ops::RangeInclusive;

use memchr::memchr_iter;

use super::{Edit, MaskStyle, REMOVED, byte_before, run_end};

/// The number of digits, including the country code.
const DIGITS: RangeInclusive<usize> = 7..=15;

/// Numbers up to this length, including the plus sign, keep two characters at each end; longer ones keep four.
const SHORT_NUMBER: usize = 8;

pub(super) fn edits(text: &str, shown: MaskStyle) -> Vec<Edit> {
    memchr_iter(b'+', text.as_bytes())
        .filter_map(|plus| {
            let end = run_end(text, plus + 1, |byte| byte.is_ascii_digit());
            let number = &text[plus..end];
            (DIGITS.contains(&(number.len() - 1)) && stands_alone(text, plus, end))
                .then(|| Edit { range: plus..end, with: mask_number(number, shown) })
        })
        .collect()
}

/// Returns whether the number is not part of an expression, as in `n+1000000`. No country code begins with 0.
fn stands_alone(text: &str, plus: usize, end: usize) -> bool {
    let before = byte_before(text, plus);
    let after = text[end..].chars().next();
    let first = text.as_bytes()[plus + 1];
    first != b'0'
        && !before.is_some_and(|byte| byte.is_ascii_alphanumeric())
        && !after.is_some_and(char::is_alphanumeric)
}

fn mask_number(number: &str, shown: MaskStyle) -> String {
    if shown == MaskStyle::Nothing {
        return REMOVED.to_owned();
    }
    let kept = if number.len() <= SHORT_NUMBER { 2 } else { 4 };
    let (head, tail) = (&number[..kept], &number[number.len() - kept..]);
    format!("{head}****{tail}")
}
