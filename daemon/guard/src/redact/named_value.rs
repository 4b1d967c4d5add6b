//! A value that looks random, under a name that speaks of a secret, in whatever notation: `datadog_token: …`,
//! `"clientSecret" = "…"`. Only a capture uses it.

use memchr::memchr2_iter;

use super::{Edit, MaskStyle, disjoint};

/// The ends of names that speak of a secret, in lower case and without separators.
const ENDINGS: [&str; 14] = [
    "token",
    "secret",
    "password",
    "passwd",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "signingkey",
    "encryptionkey",
    "licensekey",
    "credential",
    "credentials",
];

/// The bytes of the shortest and of the longest value.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=512;

/// The bytes of a name that are looked at, and of separators on each side of one. Without a limit, a text of separators
/// would take quadratic time.
const NAME: usize = 64;
/// See [`NAME`].
const SEPARATORS: usize = 8;

/// The digits that a value in one case has at least. With fewer, it is words.
const DIGITS: usize = 3;

/// The different bytes that a value has at least.
const DIFFERENT: usize = 8;

pub(super) fn edits(text: &str, shown: MaskStyle) -> Vec<Edit> {
    disjoint(memchr2_iter(b'=', b':', text.as_bytes()), |separator| value(text, separator, shown))
}

/// Returns whether the name speaks of a secret and the value looks random.
pub fn is_named_secret(name: &str, value: &str) -> bool {
    speaks_of_secret(name.as_bytes()) && value.bytes().all(is_value_byte) && looks_random(value)
}

/// Returns the edit for the value after a separator.
fn value(text: &str, separator: usize, shown: MaskStyle) -> Option<Edit> {
    let bytes = text.as_bytes();
    let name_end = back(bytes, separator, SEPARATORS, |byte| matches!(byte, b' ' | b'\t' | b':' | b'='));
    let name_end = back(bytes, name_end, 2, |byte| matches!(byte, b'"' | b'\'' | b'`' | b'\\'));
    let name = &bytes[back(bytes, name_end, NAME, is_name_byte)..name_end];
    if !speaks_of_secret(name) {
        return None;
    }
    let start = forth(bytes, separator + 1, SEPARATORS, |byte| matches!(byte, b' ' | b'\t' | b':' | b'=' | b'>'));
    let start = forth(bytes, start, 2, |byte| matches!(byte, b'"' | b'\'' | b'`' | b'\\'));
    let end = forth(bytes, start, LENGTHS.end() + 1, is_value_byte);
    let value = text[start..end].trim_end_matches('.');
    let is_call = matches!(text.as_bytes().get(end), Some(b'(' | b'[' | b'{'));
    (!is_call && looks_random(value)).then(|| Edit { range: start..start + value.len(), with: shown.of(value) })
}

/// Returns the start of the run of at most `most` bytes of one kind that ends at `to`.
fn back(bytes: &[u8], to: usize, most: usize, is_member: impl Fn(u8) -> bool) -> usize {
    to - bytes[..to].iter().rev().take(most).take_while(|byte| is_member(**byte)).count()
}

/// Returns the end of the run of at most `most` bytes of one kind that begins at `from`.
fn forth(bytes: &[u8], from: usize, most: usize, is_member: impl Fn(u8) -> bool) -> usize {
    from + bytes[from..].iter().take(most).take_while(|byte| is_member(**byte)).count()
}

fn speaks_of_secret(name: &[u8]) -> bool {
    let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
    let plain: String = letters.map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    ENDINGS.iter().any(|ending| plain.ends_with(ending))
}

/// Returns whether a part of the value between dots and slashes is long, has digits, and does not repeat itself. So paths
/// and names of modules stay.
fn looks_random(value: &str) -> bool {
    LENGTHS.contains(&value.len()) && !value.contains("...") && value.split(['/', '.']).any(is_random)
}

fn is_random(part: &str) -> bool {
    let mut seen = [false; 256];
    part.bytes().for_each(|byte| seen[usize::from(byte)] = true);
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let has_both_cases =
        part.bytes().any(|byte| byte.is_ascii_lowercase()) && part.bytes().any(|byte| byte.is_ascii_uppercase());
    part.len() >= *LENGTHS.start()
        && (digits >= DIGITS || digits > 0 && has_both_cases)
        && seen.iter().filter(|is_seen| **is_seen).count() >= DIFFERENT
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

const fn is_value_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~' | b'%')
}
