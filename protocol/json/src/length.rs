//! Length of the text of a string or value, counted in bytes without decoding.
//!
//! Most escapes are as long in canonical JSON as in the input, and one char when decoded. Only `\u`
//! and `\/` need a closer look.

use crate::escape::escape;
use crate::search::next_backslash;
use crate::string::string_end;

/// Lengths of a string token, in chars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StringLength {
    /// Length of the decoded text.
    pub decoded: usize,
    /// Length of the canonical form, quotes included.
    pub canonical: usize,
    /// Number of newlines in the decoded text.
    pub newlines: usize,
}

impl StringLength {
    /// Measures a string token. For any other text the result is meaningless, but nothing panics.
    pub fn of(token: &str) -> Self {
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

    /// Counts a `\u` escape, or both escapes of a surrogate pair; returns its length in bytes.
    fn unicode(&mut self, bytes: &[u8], at: usize) -> usize {
        let (char, end) = escape(bytes, at);
        let sent = end - at;
        match char {
            // An invalid escape has no known length.
            Err(_) if sent == 2 => sent,
            Ok('\n') => {
                self.newlines += 1;
                self.shrink(sent, 1, 2)
            }
            Ok('"' | '\\' | '\u{8}' | '\t' | '\u{c}' | '\r') => self.shrink(sent, 1, 2),
            Ok('\0'..' ') => self.shrink(sent, 1, 6),
            Ok(_) | Err(_) => self.shrink(sent, 1, 1),
        }
    }

    /// Counts an escape of `sent` bytes with its lengths when decoded and in canonical form.
    fn shrink(&mut self, sent: usize, decoded: usize, canonical: usize) -> usize {
        self.decoded = self.decoded.saturating_sub(sent - decoded);
        self.canonical = self.canonical.saturating_sub(sent - canonical);
        sent
    }
}

/// Returns the length in chars of the canonical form of a value: separators `, ` and `: `, raw
/// Unicode, no other white space.
pub fn canonical_chars(raw: &str) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{decode, is_blank};

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
