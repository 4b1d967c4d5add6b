//! Finding the bytes at which a string stops standing for itself.

/// Words that are looked at before a search is set up: escapes are often close together.
const WORDS: usize = 6;

/// One in each byte of a word.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The first backslash from `at` on, or the end.
pub(crate) fn next_backslash(bytes: &[u8], at: usize) -> usize {
    let near = near(bytes, at, |word| marks(word, b'\\'));
    near.unwrap_or_else(|at| found(bytes, at, |rest| memchr::memchr(b'\\', rest)))
}

/// The first quote or backslash from `at` on, or the end.
#[inline]
pub(crate) fn next_quote_or_backslash(bytes: &[u8], at: usize) -> usize {
    let near = near(bytes, at, |word| marks(word, b'"') | marks(word, b'\\'));
    near.unwrap_or_else(|at| found(bytes, at, |rest| memchr::memchr2(b'"', b'\\', rest)))
}

/// How many of eight bytes stand before the first quote or backslash among them.
#[inline]
pub(crate) fn plain_bytes(bytes: [u8; 8]) -> usize {
    let word = u64::from_le_bytes(bytes);
    // No mark at all has 64 zeros.
    ((marks(word, b'"') | marks(word, b'\\')).trailing_zeros() / 8) as usize
}

/// The first byte that `marks` marks in the next words, or where they end without one.
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

/// The highest bit of every byte of the word that is `byte`, and perhaps of some behind the first.
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
