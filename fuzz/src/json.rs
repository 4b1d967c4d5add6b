//! Input: any text. The JSON walker agrees with serde_json if the text is JSON, and never panics.

use herma_json::{
    ScalarFinder, StringLength, canonical_chars, check_depth, closing_quote, decode, decode_head, fields, is_blank,
    items, member, replace_lone_surrogates, start, unescape, value_end,
};
use serde_json::Value;

use crate::text;

/// Checks one input.
pub fn run(data: &[u8]) {
    let text = text(data);
    let walked = fields(text);
    let _ = (member(text, "a"), canonical_chars(text), closing_quote(text.as_bytes(), 0), is_blank(text));
    drop((decode(text), decode_head(text, 5), StringLength::of(text), unescape(text)));
    items(text, start(text), |at| value_end(text.as_bytes(), at));
    let mut finder = ScalarFinder::new("id");
    finder.feed(text.as_bytes());
    let found = finder.found();
    let replaced = replace_lone_surrogates(text);
    let replaced = replaced.as_ref().map_or(text, |(replaced, _)| replaced);
    if check_depth(text.as_bytes(), 100).is_err() {
        return;
    }
    let Ok(value) = serde_json::from_str::<Value>(replaced) else { return };
    assert_eq!(start(text) + replaced[start(replaced)..].trim_end().len(), {
        let end = value_end(replaced.as_bytes(), start(replaced));
        start(text) + end - start(replaced)
    });
    match &value {
        Value::String(decoded) => assert_eq!(decode(replaced.trim()), *decoded),
        // A key may occur twice; the last one counts.
        Value::Object(members) => {
            let last = |key: &str| member(replaced, key);
            for (key, value) in members {
                let raw = last(key).unwrap_or_else(|| panic!("{key} is missing"));
                assert_eq!(serde_json::from_str::<Value>(raw).ok().as_ref(), Some(value));
            }
            if replaced == text {
                assert!(walked.len() >= members.len());
                match members.get("id") {
                    Some(Value::Number(_)) if last("id").is_some_and(|raw| raw.len() < 100) => assert!(found.is_some()),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}
