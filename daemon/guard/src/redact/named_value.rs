//! A value that looks random, under a name that speaks of a secret, in whatever notation: `datadog_token: …`,
//! `"clientSecret" = "…"`. Only a capture uses it.

use memchr::memchr2_iter;

use super::{Edit, MaskStyle, disjoint, run_end, run_start};

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

/// The digits that a value in one case has at least. With fewer, it is words.
const DIGITS: usize = 3;

/// The different bytes that a value has at least.
const DIFFERENT: usize = 8;

pub(super) fn edits(text: &str, shown: MaskStyle) -> Vec<Edit> {
    disjoint(memchr2_iter(b'=', b':', text.as_bytes()), |separator| value(text, separator, shown))
}

/// Returns the edit for the value after a separator.
fn value(text: &str, separator: usize, shown: MaskStyle) -> Option<Edit> {
    let before = text[..separator].trim_end_matches([' ', '\t', ':', '=']);
    let before = before.strip_suffix(['"', '\'', '`']).unwrap_or(before);
    let before = before.strip_suffix('\\').unwrap_or(before);
    let name = &before[run_start(before, before.len(), is_name_byte)..];
    if !speaks_of_secret(name) {
        return None;
    }
    let after = text[separator + 1..].trim_start_matches([' ', '\t', ':', '=', '>']);
    let after = after.strip_prefix('\\').unwrap_or(after);
    let after = after.strip_prefix(['"', '\'', '`']).unwrap_or(after);
    let start = text.len() - after.len();
    let end = run_end(text, start, is_value_byte);
    let value = text[start..end].trim_end_matches('.');
    let is_call = matches!(text.as_bytes().get(end), Some(b'(' | b'[' | b'{'));
    (!is_call && looks_random(value)).then(|| Edit { range: start..start + value.len(), with: shown.of(value) })
}

fn speaks_of_secret(name: &str) -> bool {
    let plain: String =
        name.chars().filter(|char| char.is_ascii_alphanumeric()).map(|char| char.to_ascii_lowercase()).collect();
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
