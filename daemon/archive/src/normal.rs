//! The normal form of a JSON text, which is the same however a client's library writes it.

use std::borrow::Cow;

/// Returns the text without white space between its tokens, with only the escapes that JSON requires, and with numbers
/// without a zero fraction (`1.0` is `1`, as JavaScript writes it). The order of keys stays. Text that is no JSON has a
/// result too, the same for the same text.
pub fn normal(text: &str) -> String {
    let bytes = text.as_bytes();
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
            _ => push_between_strings(token, &mut out),
        }
        at = end;
    }
    out
}

/// Returns the normal form of a message without the fields that begin with `_`. These belong to herma and its caller,
/// and not every caller keeps them.
pub fn normal_message(text: &str) -> String {
    let fields = herma_json::fields(text);
    let is_own = |key: &str| key.starts_with("\"_");
    if !fields.iter().any(|(key, _)| is_own(key)) {
        return normal(text);
    }
    let kept: Vec<String> =
        fields.iter().filter(|(key, _)| !is_own(key)).map(|(key, value)| format!("{key}:{value}")).collect();
    normal(&format!("{{{}}}", kept.join(",")))
}

/// Appends the punctuation, words and numbers between two strings.
fn push_between_strings(text: &str, out: &mut String) {
    let is_of_number = |char: char| char.is_ascii_digit() || matches!(char, '+' | '-' | '.' | 'e' | 'E');
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_number = first == '-' || first.is_ascii_digit();
        let end =
            if is_number { rest.find(|char| !is_of_number(char)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, behind) = rest.split_at(end);
        if is_number {
            out.push_str(&number(token));
        } else if !first.is_ascii_whitespace() {
            out.push_str(token);
        }
        rest = behind;
    }
}

/// Returns a number in its shortest form. A number that is no double stays as it is.
fn number(token: &str) -> Cow<'_, str> {
    if token.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return token.into();
    }
    let shortest = || Some(serde_json::Number::from_f64(token.parse().ok()?)?.to_string());
    herma_json::whole_number(token).or_else(shortest).map_or(token.into(), Cow::Owned)
}

/// Returns the position after the closing quote of the string that begins at `start`.
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

/// Rewrites a string with only the escapes that JSON requires. A string with half a surrogate pair stays unchanged.
fn rewritten(token: &str) -> Cow<'_, str> {
    let read: Result<String, _> = serde_json::from_str(token);
    read.and_then(|string| serde_json::to_string(&string)).map_or(Cow::Borrowed(token), Cow::Owned)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_message_is_the_same_without_its_callers_own_fields() {
        let plain = r#"{"role":"user","content":"_x","x":{"_deep":1}}"#;
        for text in [
            r#"{"role": "user", "content": "_x", "x": {"_deep": 1}}"#,
            r#"{"_a": [1, "}"], "role": "user", "content": "_x", "_b": {"c": "\""}, "x": {"_deep": 1.0}, "_c": null}"#,
        ] {
            assert_eq!(normal_message(text), plain);
        }
        assert_eq!(normal_message("7"), "7");
        assert_eq!(normal_message(r#"{"_a": 1}"#), "{}");
    }

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_the_same_however_it_is_written() {
        for (one, other) in [
            (r#"{"role": "user", "content": "a b"}"#, r#"{"role":"user","content":"a b"}"#),
            ("{ \"a\" :\t[1.50,\n{}] }", r#"{"a":[1.5,{}]}"#),
            ("[1.0, -2.00, 3e2, 1E-2, 0.10, true, null]", "[1,-2,300,0.01,0.1,true,null]"),
            ("[12345678901234567890, 1.5e400, -]", "[12345678901234567890,1.5e400,-]"),
            (r#"["1.0", {"1.0": 1.0}]"#, r#"["1.0",{"1.0":1}]"#),
            (r#"["caf\u00e9 \"x\" \/ \\ \n"]"#, r#"["café \"x\" / \\ \n"]"#),
            (r#"["\ud83d\ude00"]"#, "[\"\u{1f600}\"]"),
        ] {
            assert_eq!(normal(one), other);
            assert_eq!(normal(other), other, "it is the same twice");
        }
        for (one, other) in
            [(r#"["a b"]"#, r#"["ab"]"#), (r#"["a\\n"]"#, r#"["a\n"]"#), ("[1.5]", "[1]"), ("[1]", "[10]")]
        {
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
            prop_assert_eq!(normal(&short), normal(&long));
            prop_assert_eq!(normal(&normal(&long)), normal(&long));
            let read: serde_json::Value = serde_json::from_str(&normal(&long)).unwrap_or_default();
            let [one, other] = [&read, &value].map(|value| value["content"][1]["x"].as_f64());
            prop_assert_eq!((one, &read["content"][0]), (other, &value["content"][0]));
        }
    }
}
