//! The text of a string, whatever its escapes: a lone surrogate becomes U+FFFD.

use std::borrow::Cow;

use memchr::memchr2;

use crate::escape::escape;

/// A stretch of a string.
pub enum Piece<'a> {
    /// Text that stands for itself.
    Run(&'a str),
    /// What an escape stands for.
    Escape(char),
}

/// The pieces of a string, up to its closing quote.
pub struct Pieces<'a> {
    raw: &'a str,
    at: usize,
    done: bool,
}

impl<'a> Pieces<'a> {
    /// The pieces of the string whose opening quote is at `quote`; none if there is no quote.
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

/// The text of a string with its quotes, borrowed if it has no escape; empty for another value.
pub fn decode(token: &str) -> Cow<'_, str> {
    let mut pieces = Pieces::new(token, 0);
    let first = match pieces.next() {
        None => return Cow::Borrowed(""),
        Some(Piece::Run(run)) if run.len() + 2 == token.len() => return Cow::Borrowed(run),
        Some(piece) => piece,
    };
    let mut out = String::with_capacity(token.len());
    for piece in std::iter::once(first).chain(pieces) {
        match piece {
            Piece::Run(run) => out.push_str(run),
            Piece::Escape(c) => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The first `chars` chars of the text of a string.
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

/// Whether the text of a string has nothing but white space.
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
}
