//! What is counted of a text: chars, lines, content.

use memchr::memchr_iter;
use sha2::{Digest, Sha256};

/// What is known of a text.
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
    /// Counts and hashes a text, piece by piece while each is in the cache.
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

/// Newlines in some bytes.
#[must_use]
pub fn count_newlines(bytes: &[u8]) -> u64 {
    wide(memchr_iter(b'\n', bytes).count())
}

/// Chars that begin in some bytes of UTF-8.
#[must_use]
pub fn count_chars(bytes: &[u8]) -> u64 {
    // Sums of a byte each, so that the loop runs over whole vectors.
    let starts = |bytes: &[u8]| {
        wide(usize::from(bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(u8::from(byte.cast_signed() >= -0x40)))))
    };
    bytes.chunks(255).map(starts).sum()
}

/// A length as it is written down.
pub(crate) fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// A written length as one of this machine.
pub(crate) fn narrow(length: u64) -> usize {
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
            let expected = (wide(text.chars().count()), wide(text.lines().count()), hash);
            assert_eq!((facts.chars, facts.lines, facts.sha256), expected);
        }
    }
}
