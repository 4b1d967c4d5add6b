//! Decodes a string in place, because a copy of a large text would need twice its memory.

use std::fmt;
use std::ops::Range;

use crate::escape::{EscapeError, escape};

/// Why a string can't be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnescapeError {
    /// It contains an escape that encodes no char.
    Escape(EscapeError),
    /// Its bytes are not UTF-8.
    NotUtf8,
}

impl fmt::Display for UnescapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Escape(error) => error.fmt(f),
            Self::NotUtf8 => f.write_str("it is not UTF-8"),
        }
    }
}

impl std::error::Error for UnescapeError {}

/// Returns the text of a JSON string, given with its quotes.
///
/// # Errors
/// An escape that encodes no char, such as one half of a surrogate pair.
pub fn unescape(quoted: &str) -> Result<String, UnescapeError> {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    unescape_within(inner.as_bytes().to_vec(), 0..inner.len())
}

/// Returns the text of the JSON string in the range `inner` of `bytes`, without its quotes.
///
/// # Errors
/// As for [`unescape`], and bytes that are not UTF-8.
pub fn unescape_within(mut bytes: Vec<u8>, inner: Range<usize>) -> Result<String, UnescapeError> {
    let (mut from, mut written) = (inner.start, 0);
    bytes.truncate(inner.end);
    while let Some(length) = bytes.get(from..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        bytes.copy_within(from..from + length, written);
        written += length;
        let (char, end) = escape(&bytes, from + length);
        from = end;
        // A decoded char is never longer than its escape.
        let mut encoded = [0; 4];
        for byte in char.map_err(UnescapeError::Escape)?.encode_utf8(&mut encoded).bytes() {
            bytes[written] = byte;
            written += 1;
        }
    }
    let from = from.min(bytes.len());
    bytes.copy_within(from.., written);
    bytes.truncate(written + bytes.len() - from);
    String::from_utf8(bytes).map_err(|_| UnescapeError::NotUtf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_what_the_parser_says() {
        for text in
            ["", "plain", "\"\\/\u{8}\u{c}\n\r\t", "é日本😀", "ends with \\", "\u{0}\u{1f}\u{7f}\u{2028}", "\u{ffff}"]
        {
            for json in [serde_json::to_string(text).unwrap(), ascii(text)] {
                assert_eq!(serde_json::from_str::<String>(&json).ok().as_deref(), Some(text), "{json}");
                assert_eq!(unescape(&json).as_deref(), Ok(text), "{json}");
            }
        }
        assert_eq!(unescape(r#""\/""#).as_deref(), Ok("/"));
    }

    #[test]
    fn halves_of_pairs_stand_for_nothing() {
        for json in
            [r#""\ud83d""#, r#""\ud83d\n""#, r#""\ud83dA""#, r#""\udc00\ud83d""#, r#""\ud83d\ud83d""#, r#""\udc00""#]
        {
            assert!(serde_json::from_str::<String>(json).is_err(), "{json}");
            assert_eq!(unescape(json), Err(UnescapeError::Escape(EscapeError::Lone)), "{json}");
        }
    }

    #[test]
    fn the_part_without_its_surroundings_is_decoded() {
        let line = br#"{"content":"a\n\u00e9","more":"\u00e9"}"#;
        assert_eq!(unescape_within(line.to_vec(), 12..21).as_deref(), Ok("a\né"));
        assert_eq!(unescape_within(b"\xff".to_vec(), 0..1), Err(UnescapeError::NotUtf8));
        for cut in [r"\", r"a\u", r"\u12", r"\u12x4"] {
            let cut = unescape_within(cut.as_bytes().to_vec(), 0..cut.len());
            assert_eq!(cut, Err(UnescapeError::Escape(EscapeError::Cut)));
        }
    }

    /// Returns the JSON string with every char escaped.
    fn ascii(text: &str) -> String {
        let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
        format!("\"{units}\"")
    }
}
