//! Indents JSON, token by token: numbers, keys and escapes stay unchanged.

use herma_json::value_end;
use serde::de::IgnoredAny;

use crate::SpillError;

/// The maximum nesting that is shown, which limits the indentation of a line.
const DEPTH: usize = 128;

/// Indents a JSON text by two spaces per level.
///
/// # Errors
/// [`SpillError::NotJson`], with the position, if the text is no JSON or is nested too deeply.
pub fn pretty(text: &str) -> Result<String, SpillError> {
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| SpillError::NotJson(error.to_string()))?;
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            b'{' | b'[' => {
                out.push(char::from(*byte));
                let inside = at + 1 + bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                if let Some(b'}' | b']') = bytes.get(inside) {
                    out.push(char::from(bytes[inside]));
                    at = inside + 1;
                    continue;
                }
                depth += 1;
                if depth > DEPTH {
                    return Err(too_deep(&text[..at]));
                }
                break_line(&mut out, depth);
                at = inside;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut out, depth);
                out.push(char::from(*byte));
                at += 1;
            }
            b',' => {
                out.push(',');
                break_line(&mut out, depth);
                at += 1;
            }
            b':' => {
                out.push_str(": ");
                at += 1;
            }
            _ => {
                let end = value_end(bytes, at);
                out.push_str(&text[at..end]);
                at = end;
            }
        }
    }
    Ok(out)
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    (0..depth).for_each(|_| out.push_str("  "));
}

fn too_deep(before: &str) -> SpillError {
    let line = before.matches('\n').count() + 1;
    let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
    SpillError::NotJson(format!("it is nested deeper than {DEPTH} levels at line {line} column {column}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn tokens_stay_byte_for_byte() {
        for (text, expected) in [
            ("1e400", "1e400"),
            (" [ ] ", "[]"),
            ("{\n}", "{}"),
            (r#"{"b":1.0,"a":-0,"b":[1,{}]}"#, "{\n  \"b\": 1.0,\n  \"a\": -0,\n  \"b\": [\n    1,\n    {}\n  ]\n}"),
            (r#"["\u00e9\"]\\",true , null]"#, "[\n  \"\\u00e9\\\"]\\\\\",\n  true,\n  null\n]"),
            (r#""é{""#, r#""é{""#),
        ] {
            assert_eq!(pretty(text).unwrap(), expected);
            assert_eq!(pretty(expected).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_no_json_or_nested_too_deeply_is_told_with_its_position() {
        for (text, words) in [
            ("", "column 0"),
            ("{\"a\":}", "line 1 column 6"),
            ("[1] x", "line 1 column 5"),
            (&format!("\n{}{}", "[".repeat(200), "]".repeat(200)), "line 2 column 129"),
            (&format!("{}1{}", "[".repeat(129), "]".repeat(129)), "line 1 column 129"),
        ] {
            let error = pretty(text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        assert!(pretty(&format!("{}1{}", "[".repeat(128), "]".repeat(128))).is_ok());
    }
}
