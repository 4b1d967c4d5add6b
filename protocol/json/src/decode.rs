//! Decoding of string tokens with any escapes: a lone surrogate becomes U+FFFD.

use std::borrow::Cow;

use memchr::memchr2;

use crate::escape::escape;
use crate::search::{next_quote_or_backslash, plain_bytes};

/// A part of a string.
pub enum Piece<'a> {
    /// Text without escapes.
    Run(&'a str),
    /// The char that an escape encodes.
    Escape(char),
}

/// Iterates over the pieces of a string, up to its closing quote.
pub struct Pieces<'a> {
    raw: &'a str,
    at: usize,
    done: bool,
}

impl<'a> Pieces<'a> {
    /// Creates the iterator for the string whose opening quote is at `quote`; it is empty if there is no quote.
    pub fn new(raw: &'a str, quote: usize) -> Self {
        Self { raw, at: quote + 1, done: raw.as_bytes().get(quote) != Some(&b'"') }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.done {
            return None;
        }
        let rest = self.raw.as_bytes().get(self.at..)?;
        let Some(run) = memchr2(b'"', b'\\', rest) else {
            self.done = true;
            return self.raw.get(self.at..).map(Piece::Run);
        };
        if run > 0 {
            let text = self.raw.get(self.at..self.at + run)?;
            self.at += run;
            return Some(Piece::Run(text));
        }
        if rest.first() == Some(&b'"') {
            self.done = true;
            return None;
        }
        let (char, end) = escape(self.raw.as_bytes(), self.at);
        self.at = end;
        Some(Piece::Escape(char.unwrap_or(char::REPLACEMENT_CHARACTER)))
    }
}

/// Returns the text of a string token, given with its quotes: borrowed if it has no escape, empty for any other value.
pub fn decode(token: &str) -> Cow<'_, str> {
    let bytes = token.as_bytes();
    if bytes.first() != Some(&b'"') {
        return Cow::Borrowed("");
    }
    let run = next_quote_or_backslash(bytes, 1);
    match bytes.get(run) {
        Some(b'\\') => Cow::Owned(unescaped(token, run)),
        _ => Cow::Borrowed(token.get(1..run).unwrap_or("")),
    }
}

/// The number of bytes copied at once. Two escapes are usually only a few words apart.
const STEP: usize = 8;

/// Returns the text of a string whose first escape is at `first`.
fn unescaped(token: &str, first: usize) -> String {
    let bytes = token.as_bytes();
    // Each step copies `STEP` bytes, even if fewer are needed, so the buffer has room for one more.
    let mut out = vec![0; bytes.len() + STEP];
    let mut written = first - 1;
    out[..written].copy_from_slice(&bytes[1..first]);
    let mut at = first;
    loop {
        // Only the bytes before the first quote or backslash are valid; the next step overwrites the rest.
        if let Some(step) = bytes.get(at..at + STEP).and_then(|step| <[u8; STEP]>::try_from(step).ok()) {
            out[written..written + STEP].copy_from_slice(&step);
            let plain = plain_bytes(step);
            at += plain;
            written += plain;
            if plain == STEP {
                continue;
            }
        }
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'"') | None, _) => break,
            (Some(b'\\'), Some(&kind @ (b'n' | b'"' | b'\\' | b't' | b'/' | b'r'))) => {
                out[written] = match kind {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    other => other,
                };
                at += 2;
                written += 1;
            }
            (Some(b'\\'), _) => {
                let (char, end) = escape(bytes, at);
                let mut encoded = [0; 4];
                let char = char.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut encoded).as_bytes();
                // Only an invalid escape can be shorter than its replacement.
                let needed = written + char.len() + bytes.len().saturating_sub(end) + STEP;
                out.resize(out.len().max(needed), 0);
                out[written..written + char.len()].copy_from_slice(char);
                at = end;
                written += char.len();
            }
            (Some(&other), _) => {
                out[written] = other;
                at += 1;
                written += 1;
            }
        }
    }
    out.truncate(written);
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Returns the first `chars` chars of the text of a string.
pub fn decode_head(token: &str, chars: usize) -> String {
    let mut out = String::new();
    let mut left = chars;
    for piece in Pieces::new(token, 0) {
        if left == 0 {
            break;
        }
        match piece {
            Piece::Run(run) => {
                let end = run.char_indices().nth(left).map_or(run.len(), |(at, _)| at);
                let run = run.get(..end).unwrap_or(run);
                out.push_str(run);
                left -= run.chars().count();
            }
            Piece::Escape(c) => {
                out.push(c);
                left -= 1;
            }
        }
    }
    out
}

/// Returns whether the text of a string is empty or only white space.
pub fn is_blank(token: &str) -> bool {
    Pieces::new(token, 0).all(|piece| match piece {
        Piece::Run(run) => run.trim_start().is_empty(),
        Piece::Escape(c) => c.is_whitespace(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{StringLength, canonical_chars};

    #[test]
    fn decoding_resolves_every_escape() {
        for (token, expect) in [
            (r#""""#, ""),
            (r#""plain""#, "plain"),
            (r#""a\nb\t\"\\\/""#, "a\nb\t\"\\/"),
            (r#""\u00e9\ud83d\ude00""#, "é😀"),
            (r#""\ud83d!""#, "\u{fffd}!"),
            (r#""\ud83d\u0041""#, "\u{fffd}A"),
            (r#""\udc00""#, "\u{fffd}"),
            (r#""\udc00\ude00""#, "\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(decode(token), expect, "{token}");
            assert_eq!(StringLength::of(token).decoded, expect.chars().count(), "{token}");
            for chars in 0..=expect.chars().count() {
                assert_eq!(decode_head(token, chars), expect.chars().take(chars).collect::<String>(), "{token}");
            }
        }
    }

    #[test]
    fn broken_tokens_do_no_harm() {
        for token in ["", "\"", "\"abc", "\"\\", "\"\\u12", "\"\\ué", "\"\\é\"", "7", "\\\"", "\"\\u+041\""] {
            assert!(decode(token).len() <= token.len() + 3, "{token}");
            assert!(canonical_chars(token) <= 2 + token.len() * 6, "{token}");
        }
    }

    proptest::proptest! {
        #[test]
        fn decoding_at_once_is_decoding_piece_by_piece(
            pieces in proptest::collection::vec(
                proptest::sample::select(vec![
                    "a", "eight by", "and more than eight", "é", "日本", "😀", " ", "\"", r"\n", r"\\", r#"\""#, r"\/",
                    r"\t", r"\r", r"\b", r"\x", r"\é", r"\u00e9", r"\u12", r"\ud83d\ude00", r"\ud83d", "\\",
                ]),
                0..40,
            )
        ) {
            let token = format!("\"{}", pieces.concat());
            let mut expected = String::new();
            for piece in Pieces::new(&token, 0) {
                match piece {
                    Piece::Run(run) => expected.push_str(run),
                    Piece::Escape(c) => expected.push(c),
                }
            }
            proptest::prop_assert_eq!(decode(&token), expected, "{}", token);
        }
    }
}
