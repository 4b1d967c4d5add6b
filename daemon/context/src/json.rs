//! JSON text as it was sent: lengths, decoding and splicing without building a tree.
//!
//! All functions here take text that serde_json has already accepted; on other text they
//! return something harmless, never panic and never loop.

mod length;
pub(crate) mod walk;

use std::borrow::Cow;

use memchr::memchr2;

use length::next_quote_or_backslash;
pub(crate) use length::{StringLength, is_blank};

/// A byte range of a message's raw text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// First byte.
    pub(crate) start: usize,
    /// One past the last byte.
    pub(crate) end: usize,
}

impl Span {
    /// Where `part`, a slice of `whole`, lies in it.
    pub(crate) fn of(part: &str, whole: &str) -> Self {
        let start = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
        Self { start, end: start + part.len() }
    }

    /// The text of the span; empty if the span does not fit `whole`.
    pub(crate) fn slice(self, whole: &str) -> &str {
        whole.get(self.start..self.end).unwrap_or("")
    }
}

/// The new text of one span.
pub(crate) struct Splice {
    /// What is replaced; an empty span inserts.
    pub(crate) span: Span,
    /// What stands there afterwards.
    pub(crate) text: String,
}

/// `raw` with every splice carried out; the splices must be in order and disjoint.
pub(crate) fn splice(raw: &str, splices: &[Splice]) -> String {
    let grown: usize = splices.iter().map(|s| s.text.len()).sum();
    let mut out = String::with_capacity(raw.len() + grown);
    let mut at = 0;
    for splice in splices {
        out.push_str(raw.get(at..splice.span.start).unwrap_or(""));
        out.push_str(&splice.text);
        at = splice.span.end;
    }
    out.push_str(raw.get(at..).unwrap_or(""));
    out
}

/// `text` as a JSON string token, non-ASCII kept.
pub(crate) fn encode(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}

/// Whether the token is a JSON string.
pub(crate) fn is_string(token: &str) -> bool {
    token.starts_with('"')
}

/// Whether the token is a JSON list.
pub(crate) fn is_list(token: &str) -> bool {
    token.starts_with('[')
}

/// The text of a string token; a lone surrogate becomes U+FFFD.
pub(crate) fn decode(token: &str) -> Cow<'_, str> {
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

/// The text form of any JSON value: a string's own text, else its JSON.
pub(crate) fn text_form(token: &str) -> Cow<'_, str> {
    if is_string(token) { decode(token) } else { Cow::Borrowed(token) }
}

/// Chars of the decoded text of a string token.
pub(crate) fn string_chars(token: &str) -> usize {
    StringLength::of(token).decoded
}

/// The first `chars` chars of the text of a string token.
pub(crate) fn decode_head(token: &str, chars: usize) -> String {
    let mut out = String::new();
    let mut left = chars;
    for piece in Pieces::new(token, 0) {
        match piece {
            Piece::Run(run) => {
                let run = crate::text::head(run, left);
                out.push_str(run);
                left -= run.chars().count();
            }
            Piece::Escape(c) => {
                out.push(c);
                left -= 1;
            }
        }
        if left == 0 {
            break;
        }
    }
    out
}

/// Chars of the text form of a value: decoded if a string, canonical JSON otherwise.
pub(crate) fn text_form_chars(token: &str) -> usize {
    if is_string(token) { string_chars(token) } else { canonical_chars(token) }
}

/// Chars of the canonical form: `, ` and `: ` separators, raw Unicode, no other white space.
pub(crate) fn canonical_chars(raw: &str) -> usize {
    let bytes = raw.as_bytes();
    let (mut at, mut chars) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = string_end(bytes, at);
                chars += StringLength::of(raw.get(at..end).unwrap_or("")).canonical;
                at = end;
                continue;
            }
            b',' | b':' => chars += 2,
            b' ' | b'\n' | b'\r' | b'\t' => {}
            _ => chars += 1,
        }
        at += 1;
    }
    chars
}

/// One past the closing quote of the string that begins at `quote`.
pub(crate) fn string_end(bytes: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    loop {
        at = next_quote_or_backslash(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(_) => at += 2,
            None => return bytes.len(),
        }
    }
}

/// A stretch of a string token.
pub(crate) enum Piece<'a> {
    /// Text that stands for itself.
    Run(&'a str),
    /// What an escape stands for.
    Escape(char),
}

/// The pieces of the string token that begins at a position; `at` ends behind its closing quote.
pub(crate) struct Pieces<'a> {
    raw: &'a str,
    at: usize,
    done: bool,
}

impl<'a> Pieces<'a> {
    /// The pieces of the token whose opening quote is at `quote`.
    pub(crate) fn new(raw: &'a str, quote: usize) -> Self {
        Self { raw, at: quote + 1, done: raw.as_bytes().get(quote) != Some(&b'"') }
    }

    /// The char of the escape whose backslash is at `self.at`; moves behind it.
    fn escape(&mut self) -> char {
        let kind = self.raw.as_bytes().get(self.at + 1).copied();
        self.at += 2;
        match kind {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'u') => self.unicode_escape(),
            Some(other) if other.is_ascii() => char::from(other),
            _ => {
                self.done = true;
                char::REPLACEMENT_CHARACTER
            }
        }
    }

    fn unicode_escape(&mut self) -> char {
        let Some(high) = self.hex() else {
            return char::REPLACEMENT_CHARACTER;
        };
        if !(0xD800..0xDC00).contains(&high) {
            return char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER);
        }
        let behind = self.at;
        if self.raw.get(self.at..self.at + 2) == Some("\\u") {
            self.at += 2;
            if let Some(low @ 0xDC00..0xE000) = self.hex() {
                let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                return char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            }
            self.at = behind;
        }
        char::REPLACEMENT_CHARACTER
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.raw.get(self.at..self.at + 4)?;
        let code = u32::from_str_radix(digits, 16).ok()?;
        self.at += 4;
        Some(code)
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
            let run = self.raw.get(self.at..)?;
            self.at = self.raw.len();
            return Some(Piece::Run(run));
        };
        if run > 0 {
            let text = self.raw.get(self.at..self.at + run)?;
            self.at += run;
            return Some(Piece::Run(text));
        }
        if rest.first() == Some(&b'"') {
            self.done = true;
            self.at += 1;
            return None;
        }
        Some(Piece::Escape(self.escape()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            assert_eq!(decode(token), expect, "{token}");
            assert_eq!(string_chars(token), expect.chars().count(), "{token}");
        }
    }

    #[test]
    fn canonical_length_is_that_of_spaced_json() {
        for (raw, expect) in [
            ("{}", "{}"),
            ("{ \"a\" :1,\n\"b\":[true,null]}", r#"{"a": 1, "b": [true, null]}"#),
            (r#"{"a":"x, y: z"}"#, r#"{"a": "x, y: z"}"#),
            (r#""\u00e9\u0041\/""#, r#""éA/""#),
            (r#""\u0001\u000a\u0022""#, r#""\u0001\n\"""#),
            (r#""\ud83d\ude00""#, r#""😀""#),
        ] {
            assert_eq!(canonical_chars(raw), expect.chars().count(), "{raw}");
        }
    }

    #[test]
    fn broken_tokens_do_no_harm() {
        for token in ["", "\"", "\"abc", "\"\\", "\"\\u12", "\"\\ué", "7", "\\\""] {
            assert!(decode(token).len() <= token.len() + 3, "{token}");
            assert!(canonical_chars(token) <= 2 + token.len() * 6, "{token}");
        }
    }
}
