//! A JSON text as it is known by, however a client's library writes it.

use std::borrow::Cow;

/// The same text without white space between its tokens, its strings with no more escapes than JSON asks for. Key
/// order and numbers stay. What is no JSON comes out as something, the same for the same.
pub fn normal(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let is_plain = |byte: &u8| !byte.is_ascii_whitespace() && *byte != b'\\';
    if bytes.iter().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let end = match byte {
            b'"' => end_of_string(bytes, at),
            _ => memchr::memchr(b'"', &bytes[at..]).map_or(bytes.len(), |found| at + found),
        };
        // Both ends are at an ASCII char or an end of the text.
        let token = text.get(at..end).unwrap_or_default();
        match byte {
            b'"' if token.contains('\\') => out.push_str(&rewritten(token)),
            b'"' => out.push_str(token),
            _ => out.extend(token.chars().filter(|char| !char.is_ascii_whitespace())),
        }
        at = end;
    }
    Cow::Owned(out)
}

/// Behind the closing quote of the string that begins there.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        match bytes[at + found] {
            b'"' => return at + found + 1,
            _ => at += found + 2,
        }
    }
    bytes.len()
}

/// A string with the escapes that JSON asks for; one with half a surrogate pair stays.
fn rewritten(token: &str) -> Cow<'_, str> {
    let read: Result<String, _> = serde_json::from_str(token);
    read.and_then(|string| serde_json::to_string(&string)).map_or(Cow::Borrowed(token), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_the_same_however_it_is_written() {
        for (one, other) in [
            (r#"{"role": "user", "content": "a b"}"#, r#"{"role":"user","content":"a b"}"#),
            ("{ \"a\" :\t[1.50,\n{}] }", r#"{"a":[1.50,{}]}"#),
            (r#"["caf\u00e9 \"x\" \/ \\ \n"]"#, r#"["café \"x\" / \\ \n"]"#),
            (r#"["\ud83d\ude00"]"#, "[\"\u{1f600}\"]"),
        ] {
            assert_eq!(normal(one), other);
            assert_eq!(normal(other), other, "it is the same twice");
        }
        for (one, other) in [(r#"["a b"]"#, r#"["ab"]"#), (r#"["a\\n"]"#, r#"["a\n"]"#), ("[1.0]", "[1]")] {
            assert_ne!(normal(one), normal(other));
        }
        for odd in [r#"["\ud83d"]"#, "\"", "\"\\", "é\" \\", ""] {
            assert_eq!(normal(&normal(odd)), normal(odd), "{odd}");
        }
    }

    proptest! {
        #[test]
        fn what_it_says_stays(text in any::<String>(), number in any::<f64>()) {
            let value = serde_json::json!({ "content": [text, { "x": number }], "b": [null, true] });
            let (short, long) = (value.to_string(), serde_json::to_string_pretty(&value).unwrap_or_default());
            prop_assert_eq!(normal(&short), short.as_str());
            prop_assert_eq!(normal(&long), short.as_str());
        }
    }
}
