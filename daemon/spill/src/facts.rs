//! Counts the chars and lines of a text, and hashes it.

use memchr::memchr_iter;
use sha2::{Digest, Sha256};

/// The counts and the hash of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Chars.
    pub chars: u64,
    /// Lines; a final newline starts no further one.
    pub lines: u64,
    /// SHA-256.
    pub sha256: [u8; 32],
}

impl Facts {
    /// Counts and hashes a text, one piece at a time while the piece is in the CPU cache.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let (mut chars, mut newlines, mut hash) = (0, 0, Sha256::new());
        for piece in text.as_bytes().chunks(64 << 10) {
            chars += count_chars(piece);
            newlines += count_newlines(piece);
            hash.update(piece);
        }
        let open = !text.is_empty() && !text.ends_with('\n');
        Self { chars, lines: newlines + u64::from(open), sha256: hash.finalize().into() }
    }
}

/// Returns how many newlines some bytes have.
#[must_use]
pub fn count_newlines(bytes: &[u8]) -> u64 {
    to_u64(memchr_iter(b'\n', bytes).count())
}

/// Returns how many chars begin in some bytes of UTF-8.
#[must_use]
pub fn count_chars(bytes: &[u8]) -> u64 {
    // Each sum fits in a byte, so that the loop is vectorized.
    let starts = |bytes: &[u8]| {
        to_u64(usize::from(
            bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(u8::from(byte.cast_signed() >= -0x40))),
        ))
    };
    bytes.chunks(255).map(starts).sum()
}

/// Converts a length to its stored type.
pub(crate) fn to_u64(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Converts a stored length to that of this machine.
pub(crate) fn to_usize(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chars_and_lines_are_those_of_the_text() {
        for text in ["", "\n", "a", "é\nü", "a\r\nb\n", &"aé漢😀\n".repeat(40_000)] {
            let facts = Facts::of(text);
            let hash: [u8; 32] = Sha256::digest(text).into();
            let expected = (to_u64(text.chars().count()), to_u64(text.lines().count()), hash);
            assert_eq!((facts.chars, facts.lines, facts.sha256), expected);
        }
    }
}
