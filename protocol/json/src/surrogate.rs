//! Replacement of lone surrogates. A program that cuts a text between the two UTF-16 units of a
//! char writes such an escape, and no string of chars can represent it.

use crate::escape::{EscapeError, escape};
use crate::search::next_backslash;

/// The replacement for each half of a pair: the escape of U+FFFD.
const REPLACEMENT: &str = r"\ufffd";

/// Returns the text with U+FFFD in place of each escape that is only one half of a surrogate pair,
/// and the number of replacements; `None` if there are none.
pub fn replace_lone_surrogates(text: &str) -> Option<(String, usize)> {
    let bytes = text.as_bytes();
    let (mut made, mut copied, mut count) = (String::new(), 0, 0);
    let mut at = next_backslash(bytes, 0);
    while at < bytes.len() {
        let (char, end) = escape(bytes, at);
        if char == Err(EscapeError::Lone) {
            made.push_str(text.get(copied..at).unwrap_or_default());
            made.push_str(REPLACEMENT);
            (copied, count) = (end, count + 1);
        }
        at = next_backslash(bytes, end);
    }
    if count == 0 {
        return None;
    }
    made.push_str(text.get(copied..).unwrap_or_default());
    Some((made, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_replaced_and_nothing_else_is() {
        for (text, expected, replaced) in [
            (r#"{"a":"\ud83c"}"#, r#"{"a":"\ufffd"}"#, 1),
            (r#"["party \uD83C","\uDF89 again"]"#, r#"["party \ufffd","\ufffd again"]"#, 2),
            (r#""\ud83c\ud83c\udf89é\udf89""#, r#""\ufffd\ud83c\udf89é\ufffd""#, 2),
            (r#""\ud83c\n""#, r#""\ufffd\n""#, 1),
        ] {
            assert_eq!(replace_lone_surrogates(text), Some((expected.to_owned(), replaced)), "{text}");
            assert!(serde_json::from_str::<serde_json::Value>(expected).is_ok(), "{expected}");
        }
        for text in ["", "{}", r#""\ud83c\udf89""#, r#""\\ud83c""#, r#""\\\\ud83c \u00e9""#, r"\", r"\u", r"\ud8"] {
            assert_eq!(replace_lone_surrogates(text), None, "{text}");
        }
    }
}
