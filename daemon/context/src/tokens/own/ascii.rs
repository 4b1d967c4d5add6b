//! The cost of ASCII text, in thousandths of a token.
//!
//! Tokenizers split a text where letters, digits and signs meet, and keep the space before a word with it. So
//! the cost depends on the numbers of letters and digits, and on how often each kind begins. The counts are
//! computed over blocks and without branches, so that the compiler can use wide registers.

/// The beginning of a word; fitted 357.
const WORD: u64 = 360;
/// A letter; fitted 92.
const LETTER: u64 = 90;
/// The additional cost of a capital; fitted 242.
const CAPITAL: u64 = 240;
/// The additional cost of a capital after a small letter: `camelCase`, and above all encoded text; fitted
/// 1,769.
const HUMP: u64 = 1_770;
/// A digit: tokenizers split numbers after three digits at most, and most are shorter; fitted 825.
const DIGIT: u64 = 825;
/// The beginning of a run of spaces; most belong to the next word's token; fitted 263.
const SPACES: u64 = 260;
/// A line break; fitted 467.
const LINE: u64 = 470;
/// The beginning of a run of signs; fitted 928.
const SIGNS: u64 = 930;
/// Each further space or sign of a run. Tokenizers have tokens for runs, the longest of about 64
/// chars: 1,000 / 64.
const RUN: u64 = 16;

/// Letters of the alphabet, digits, and the bit that makes a letter small.
const LETTERS: u8 = 26;
const DIGITS: u8 = 10;
const SMALL: u8 = 0x20;

/// The byte assumed before a text: no word, number or run of signs continues after it.
pub(super) const NOTHING: u8 = b'\n';

/// The most bytes whose counts fit a byte.
const BLOCK: usize = 240;

/// Bytes from which counting in blocks is faster than adding one by one.
const LONG: usize = 64;

/// Returns the cost of ASCII bytes after the byte `before`.
pub(super) fn cost(before: u8, bytes: &[u8]) -> u64 {
    let Some((&first, behind)) = bytes.split_first() else { return 0 };
    let rest: u64 = match bytes.len() {
        ..LONG => bytes.iter().zip(behind).map(|(&before, &now)| pair(before, now)).sum(),
        _ => bytes.chunks(BLOCK).zip(behind.chunks(BLOCK)).map(|(before, now)| block(before, now)).sum(),
    };
    pair(before, first) + rest
}

/// Returns the cost of one byte.
fn pair(before: u8, now: u8) -> u64 {
    block(&[before], &[now])
}

/// Returns the cost of at most [`BLOCK`] bytes, each with the byte before it. There is one loop for each
/// count, because such loops become wide instructions.
#[inline(always)]
fn block(before: &[u8], now: &[u8]) -> u64 {
    count(before, now, |before, now| is_letter(now) & !is_letter(before)) * WORD
        + count(before, now, |_, now| is_letter(now)) * LETTER
        + count(before, now, |_, now| is_capital(now)) * CAPITAL
        + count(before, now, |before, now| is_capital(now) & is_small(before)) * HUMP
        + count(before, now, |_, now| is_digit(now)) * DIGIT
        + count(before, now, |before, now| is_space(now) & !is_space(before)) * SPACES
        + count(before, now, |_, now| now == b'\n') * LINE
        + count(before, now, |before, now| is_sign(now) & !is_sign(before)) * SIGNS
        + count(before, now, |before, now| is_sign(now) & is_sign(before) | is_space(now) & is_space(before)) * RUN
}

#[inline(always)]
fn count(before: &[u8], now: &[u8], counts: impl Fn(u8, u8) -> bool) -> u64 {
    let pairs = before.iter().zip(now);
    u64::from(pairs.fold(0_u8, |sum, (&before, &now)| sum.wrapping_add(u8::from(counts(before, now)))))
}

const fn is_small(byte: u8) -> bool {
    byte.wrapping_sub(b'a') < LETTERS
}

const fn is_capital(byte: u8) -> bool {
    byte.wrapping_sub(b'A') < LETTERS
}

const fn is_letter(byte: u8) -> bool {
    is_small(byte | SMALL)
}

const fn is_digit(byte: u8) -> bool {
    byte.wrapping_sub(b'0') < DIGITS
}

const fn is_space(byte: u8) -> bool {
    (byte == b' ') | (byte == b'\t') | (byte == b'\r')
}

/// Whether a byte is punctuation; control characters are treated the same.
const fn is_sign(byte: u8) -> bool {
    !(is_letter(byte) | is_digit(byte) | is_space(byte) | (byte == b'\n'))
}
