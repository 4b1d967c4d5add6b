//! A lenient JSON parser for values of which only the texts matter.

use std::borrow::Cow;

use herma_json::string_end;
use serde_json::Value;

/// Bytes from which on a number may be too large for a float. Numbers that long are rare.
const LONG: usize = 300;

/// Parses a text. A number that no float can be, such as `1e400`, becomes 0.
pub(crate) fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_large_numbers(text))).ok()
}

/// Replaces every number with an exponent or of great length with 0.
fn without_large_numbers(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        at = match byte {
            b'"' => string_end(bytes, at),
            b'-' | b'0'..=b'9' => {
                let rest = bytes.get(at..).unwrap_or_default();
                let length = rest.iter().take_while(|byte| is_of_number(**byte)).count();
                let number = rest.get(..length).unwrap_or_default();
                if length >= LONG || number.iter().any(|byte| matches!(byte, b'e' | b'E')) {
                    out.push_str(text.get(copied..at).unwrap_or_default());
                    out.push('0');
                    copied = at + length;
                }
                at + length
            }
            _ => at + 1,
        };
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

const fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_beyond_floats_does_not_hide_the_texts() {
        let digits = "9".repeat(400);
        for (text, expected) in [
            (r#"{"a":1e400,"b":"1e400 \\\" 2E999"}"#, Some(json!({ "a": 0, "b": "1e400 \\\" 2E999" }))),
            (r#"[-1e400 , 7,-1.5E+999,true]"#, Some(json!([0, 7, 0, true]))),
            (&format!("[{digits}]"), Some(json!([0]))),
            (r#"{"a":1.5}"#, Some(json!({ "a": 1.5 }))),
            ("1e400", Some(json!(0))),
            ("{", None),
            ("[1e400", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
