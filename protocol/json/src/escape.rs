//! Decoding of a single escape.

use std::fmt;

/// Why an escape encodes no char.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EscapeError {
    /// It is incomplete, or has fewer than four hex digits.
    Cut,
    /// It is only one half of a surrogate pair.
    Lone,
}

impl fmt::Display for EscapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cut => "an escape in it is cut short",
            Self::Lone => "an escape in it is one half of a surrogate pair",
        })
    }
}

impl std::error::Error for EscapeError {}

/// Returns the char of the escape whose backslash is at `at`, and the offset after the escape. Both
/// escapes of a surrogate pair count as one.
pub(crate) fn escape(bytes: &[u8], at: usize) -> (Result<char, EscapeError>, usize) {
    let plain = match bytes.get(at + 1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unicode(bytes, at),
        Some(other) if other.is_ascii() => char::from(*other),
        _ => return (Err(EscapeError::Cut), bytes.len()),
    };
    (Ok(plain), at + 2)
}

fn unicode(bytes: &[u8], at: usize) -> (Result<char, EscapeError>, usize) {
    let Some(first) = unit(bytes, at) else {
        return (Err(EscapeError::Cut), at + 2);
    };
    if let Some(char) = char::from_u32(first) {
        return (Ok(char), at + 6);
    }
    let second = unit(bytes, at + 6).filter(|second| (0xDC00..0xE000).contains(second));
    let pair = second.filter(|_| first < 0xDC00).map(|second| 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00));
    pair.and_then(char::from_u32).map_or((Err(EscapeError::Lone), at + 6), |char| (Ok(char), at + 12))
}

/// Returns the code unit of the `\uXXXX` at `at`.
fn unit(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(br"\u")?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}
