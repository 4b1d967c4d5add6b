//! Searches for the bytes that end the plain text of a string: quotes and backslashes.

/// The number of words checked before a `memchr` search: escapes are often close together.
const WORDS: usize = 6;

/// A word with each byte set to 1.
const EACH: u64 = 0x0101_0101_0101_0101;

/// Returns the offset of the first backslash at or after `at`, or the end.
pub(crate) fn next_backslash(bytes: &[u8], at: usize) -> usize {
    let near = near(bytes, at, |word| marks(word, b'\\'));
    near.unwrap_or_else(|at| found(bytes, at, |rest| memchr::memchr(b'\\', rest)))
}

/// Returns the offset of the first quote or backslash at or after `at`, or the end.
#[inline]
pub(crate) fn next_quote_or_backslash(bytes: &[u8], at: usize) -> usize {
    let near = near(bytes, at, |word| marks(word, b'"') | marks(word, b'\\'));
    near.unwrap_or_else(|at| found(bytes, at, |rest| memchr::memchr2(b'"', b'\\', rest)))
}

/// Returns how many of the eight bytes precede the first quote or backslash.
#[inline]
pub(crate) fn plain_bytes(bytes: [u8; 8]) -> usize {
    let word = u64::from_le_bytes(bytes);
    // Without a match the word has 64 trailing zeros.
    ((marks(word, b'"') | marks(word, b'\\')).trailing_zeros() / 8) as usize
}

/// Returns the first byte in the next words that `marks` marks, or where the search stopped.
#[inline]
fn near(bytes: &[u8], mut at: usize, marks: impl Fn(u64) -> u64) -> Result<usize, usize> {
    for _ in 0..WORDS {
        let Some(Ok(word)) = bytes.get(at..at + 8).map(<[u8; 8]>::try_from) else {
            break;
        };
        let found = marks(u64::from_le_bytes(word));
        if found != 0 {
            return Ok(at + (found.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    Err(at)
}

/// Sets the highest bit of every byte equal to `byte`. Bytes after the first match may be marked in error.
#[inline]
fn marks(word: u64, byte: u8) -> u64 {
    let zeroed = word ^ (EACH * u64::from(byte));
    zeroed.wrapping_sub(EACH) & !zeroed & (EACH * 0x80)
}

#[inline]
fn found(bytes: &[u8], at: usize, search: impl Fn(&[u8]) -> Option<usize>) -> usize {
    bytes.get(at..).and_then(search).map_or(bytes.len(), |found| at + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_mark_is_found_at_any_distance() {
        for distance in 0..100 {
            for (mark, other) in [("\"", "#]!\u{a2}"), ("\\", "[]\u{dc}\u{15c}")] {
                let text = format!("\\{}{mark}\\\"", other.repeat(distance).chars().take(distance).collect::<String>());
                let expected = text.len() - mark.len() - 2;
                assert_eq!(next_quote_or_backslash(text.as_bytes(), 1), expected, "{text}");
                let backslash = text[1..].find('\\').map(|at| at + 1);
                assert_eq!(Some(next_backslash(text.as_bytes(), 1)), backslash, "{text}");
            }
        }
        assert_eq!(next_quote_or_backslash(b"no mark in it", 0), 13);
        assert_eq!(next_quote_or_backslash(b"", 7), 0);
    }
}
