//! How long the text of a string token is, found by counting bytes rather than by decoding.
//!
//! Most escapes are as long in canonical JSON as they were sent, and one char when decoded; only
//! `\u` and `\/` need a closer look.

use super::{Piece, Pieces};

/// The lengths of a string token, in chars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StringLength {
    /// Of the text it stands for.
    pub(crate) decoded: usize,
    /// Of its canonical form, quotes included.
    pub(crate) canonical: usize,
    /// Newlines in the text it stands for.
    pub(crate) newlines: usize,
}

impl StringLength {
    /// The lengths of a token; something harmless for a text that is none.
    pub(crate) fn of(token: &str) -> Self {
        let bytes = token.as_bytes();
        let sent = token.chars().count();
        let mut length = Self { decoded: sent.saturating_sub(2), canonical: sent, newlines: 0 };
        let mut at = next_backslash(bytes, 0);
        while let Some(&kind) = bytes.get(at + 1) {
            let sent = match kind {
                b'u' => length.unicode(bytes, at),
                b'n' => {
                    length.newlines += 1;
                    length.shrink(2, 1, 2)
                }
                b'/' => length.shrink(2, 1, 1),
                _ => length.shrink(2, 1, 2),
            };
            at = next_backslash(bytes, at + sent);
        }
        length
    }

    /// Counts a `\u` escape, or the two of a surrogate pair; gives its bytes.
    fn unicode(&mut self, bytes: &[u8], at: usize) -> usize {
        match hex(bytes, at) {
            None => 2,
            Some(0xD800..0xDC00) if matches!(hex(bytes, at + 6), Some(0xDC00..0xE000)) => self.shrink(12, 1, 1),
            Some(0x0A) => {
                self.newlines += 1;
                self.shrink(6, 1, 2)
            }
            Some(0x22 | 0x5C | 0x08 | 0x09 | 0x0C | 0x0D) => self.shrink(6, 1, 2),
            Some(0..0x20) => self.shrink(6, 1, 6),
            Some(_) => self.shrink(6, 1, 1),
        }
    }

    /// Counts an escape of `sent` bytes for what it is when decoded and in canonical form.
    fn shrink(&mut self, sent: usize, decoded: usize, canonical: usize) -> usize {
        self.decoded = self.decoded.saturating_sub(sent - decoded);
        self.canonical = self.canonical.saturating_sub(sent - canonical);
        sent
    }
}

/// The number of the `\uXXXX` at `at`.
fn hex(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Words that are looked at before a search is set up: escapes are often close together.
const WORDS: usize = 6;
/// One in each byte of a word.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The first backslash from `at` on, or the end.
pub(super) fn next_backslash(bytes: &[u8], at: usize) -> usize {
    let near = near(bytes, at, |word| marks(word, b'\\'));
    near.unwrap_or_else(|at| found(bytes, at, |rest| memchr::memchr(b'\\', rest)))
}

/// The first quote or backslash from `at` on, or the end.
pub(super) fn next_quote_or_backslash(bytes: &[u8], at: usize) -> usize {
    let near = near(bytes, at, |word| marks(word, b'"') | marks(word, b'\\'));
    near.unwrap_or_else(|at| found(bytes, at, |rest| memchr::memchr2(b'"', b'\\', rest)))
}

/// The first byte that `marks` marks in the next words, or where they end without one.
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
fn marks(word: u64, byte: u8) -> u64 {
    let zeroed = word ^ (EACH * u64::from(byte));
    zeroed.wrapping_sub(EACH) & !zeroed & (EACH * 0x80)
}

fn found(bytes: &[u8], at: usize, search: impl Fn(&[u8]) -> Option<usize>) -> usize {
    bytes.get(at..).and_then(search).map_or(bytes.len(), |found| at + found)
}

/// Whether the text of a string token has nothing but white space.
pub(crate) fn is_blank(token: &str) -> bool {
    Pieces::new(token, 0).all(|piece| match piece {
        Piece::Run(run) => run.trim_start().is_empty(),
        Piece::Escape(c) => c.is_whitespace(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::decode;

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

    proptest::proptest! {
        #[test]
        fn counting_agrees_with_decoding(
            pieces in proptest::collection::vec(
                proptest::sample::select(vec![
                    "a", "é", "😀", " ", "u", "n", "/", r"\n", r"\\", r#"\""#, r"\/", r"\t",
                    r"\u00e9", r"\u0041", r"\u000a", r"\u000A", r"\u0001", r"\ud83d\ude00",
                    r"\ud83d", r"\ude00", r"\u005c", r"\u0022", r"\b",
                ]),
                0..24,
            )
        ) {
            let token = format!("\"{}\"", pieces.concat());
            let text = decode(&token);
            let length = StringLength::of(&token);
            proptest::prop_assert_eq!(length.decoded, text.chars().count(), "{}", token);
            proptest::prop_assert_eq!(length.newlines, text.matches('\n').count(), "{}", token);
            proptest::prop_assert_eq!(is_blank(&token), text.trim().is_empty(), "{}", token);
            let canonical = serde_json::to_string(&*text).unwrap();
            proptest::prop_assert_eq!(length.canonical, canonical.chars().count(), "{}", token);
        }
    }
}
