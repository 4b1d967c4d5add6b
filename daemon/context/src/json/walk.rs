//! Walking through objects and lists of a text that is known to be JSON: every byte is looked at
//! once, and nothing is checked again.

use super::{Span, string_end};

/// Calls `visit` with each key of the object that begins at `at`, and with the place of its value;
/// `visit` gives one past that value. Gives one past the object.
pub(crate) fn members<'a>(raw: &'a str, at: usize, mut visit: impl FnMut(&'a str, usize) -> usize) -> usize {
    let bytes = raw.as_bytes();
    let mut at = at + 1;
    loop {
        at = glue_end(bytes, at);
        match bytes.get(at) {
            Some(b'"') => {}
            Some(_) => return at + 1,
            None => return bytes.len(),
        }
        let key = Span { start: at, end: string_end(bytes, at) };
        at = glue_end(bytes, key.end);
        at = visit(key.slice(raw), at).max(at + 1);
    }
}

/// Calls `visit` with the place of each item of the list that begins at `at`; `visit` gives one
/// past that item. Gives one past the list.
pub(crate) fn items(raw: &str, at: usize, mut visit: impl FnMut(usize) -> usize) -> usize {
    let bytes = raw.as_bytes();
    let mut at = at + 1;
    loop {
        at = glue_end(bytes, at);
        match bytes.get(at) {
            Some(b']') => return at + 1,
            Some(_) => at = visit(at).max(at + 1),
            None => return bytes.len(),
        }
    }
}

/// The keys and values of an object as they stand in its text, duplicates included; none of
/// another text.
pub(crate) fn fields(raw: &str) -> Vec<(&str, &str)> {
    let (at, mut fields) = (start(raw), Vec::with_capacity(4));
    if raw.as_bytes().get(at) == Some(&b'{') {
        members(raw, at, |key, at| {
            let span = value(raw, at);
            fields.push((key, span.slice(raw)));
            span.end
        });
    }
    fields
}

/// The value that begins at `at`.
pub(crate) fn value(raw: &str, at: usize) -> Span {
    let bytes = raw.as_bytes();
    let end = match bytes.get(at) {
        Some(b'"') => string_end(bytes, at),
        Some(b'{' | b'[') => container_end(bytes, at),
        _ => scalar_end(bytes, at),
    };
    Span { start: at, end }
}

/// The first byte of the text that is not white space.
pub(crate) fn start(raw: &str) -> usize {
    raw.len() - raw.trim_start_matches(SPACES).len()
}

const SPACES: [char; 4] = [' ', '\n', '\r', '\t'];

/// The first byte from `at` on that is neither white space nor between two tokens.
fn glue_end(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\r' | b'\t' | b',' | b':')) {
        at += 1;
    }
    at
}

fn container_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = string_end(bytes, at - 1),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    bytes.len()
}

fn scalar_end(bytes: &[u8], mut at: usize) -> usize {
    while !matches!(bytes.get(at), None | Some(b' ' | b'\n' | b'\r' | b'\t' | b',' | b'}' | b']')) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    /// Every key and value at any depth, in order.
    fn walked(raw: &str, at: usize, out: &mut Vec<String>) -> usize {
        match raw.as_bytes().get(at) {
            Some(b'{') => members(raw, at, |key, at| {
                out.push(key.to_owned());
                out.push(value(raw, at).slice(raw).to_owned());
                walked(raw, at, out)
            }),
            Some(b'[') => items(raw, at, |at| {
                out.push(value(raw, at).slice(raw).to_owned());
                walked(raw, at, out)
            }),
            _ => value(raw, at).end,
        }
    }

    fn parsed(raw: &str, out: &mut Vec<String>) {
        if raw.starts_with('[') {
            for item in serde_json::from_str::<Vec<&RawValue>>(raw).unwrap() {
                out.push(item.get().to_owned());
                parsed(item.get(), out);
            }
        } else if raw.starts_with('{') {
            let map: serde_json::Map<String, serde_json::Value> = serde_json::from_str(raw).unwrap();
            let values: std::collections::HashMap<String, &RawValue> = serde_json::from_str(raw).unwrap();
            for key in map.keys() {
                out.push(crate::json::encode(key));
                out.push(values[key].get().to_owned());
                parsed(values[key].get(), out);
            }
        }
    }

    #[test]
    fn every_value_is_found_where_the_parser_finds_it() {
        for raw in [
            "{}",
            "[]",
            r#"{"a":1}"#,
            " {\"a\" : -1.5e3 ,\n\"b\":\t[ true , null,{ } , [ ] ,\"x\" ] , \"c\":{\"d\":\"}]\\\"{[\"}}\n",
            r#"[[[1],2],"\\",{"k":"\\\""},"é日😀"]"#,
            "7",
            " \"s\" ",
        ] {
            let (mut walk, mut expected) = (Vec::new(), Vec::new());
            let end = walked(raw, start(raw), &mut walk);
            parsed(raw.trim(), &mut expected);
            assert_eq!(walk, expected, "{raw}");
            assert_eq!(end, raw.trim_end().len(), "{raw}");
        }
    }

    proptest! {
        #[test]
        fn broken_text_ends_all_the_same(pieces in prop::collection::vec(
            prop::sample::select(vec!["{", "}", "[", "]", "\"", "\\", ",", ":", " ", "a", "é", "1", "\"a\":"]), 0..40)) {
            let raw = pieces.concat();
            let mut out = Vec::new();
            walked(&raw, start(&raw), &mut out);
            prop_assert!(out.iter().all(|value| value.len() <= raw.len()));
        }
    }
}
