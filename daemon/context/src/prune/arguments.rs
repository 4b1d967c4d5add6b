//! Shorter tool-call arguments that are still valid JSON.

use serde_json::Value;

use crate::json::{self, Splice};
use crate::message::Message;
use crate::text::{head, longer_than};

/// Chars of a string value that stay.
const VALUE_CHARS: usize = 200;
/// What follows them.
const TRUNCATED: &str = "...[truncated]";

/// The arguments with long strings cut at any depth; none if nothing changes or they are no JSON.
pub fn shrink(arguments: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(arguments).ok()?;
    cut_strings(&mut value).then(|| serde_json::to_string(&value).ok()).flatten()
}

/// Cuts in place; the depth is bounded by serde_json's own limit.
fn cut_strings(value: &mut Value) -> bool {
    match value {
        Value::String(text) if longer_than(text, VALUE_CHARS) => {
            *text = format!("{}{TRUNCATED}", head(text, VALUE_CHARS));
            true
        }
        Value::Array(items) => items.iter_mut().fold(false, |cut, item| cut_strings(item) | cut),
        Value::Object(map) => map.values_mut().fold(false, |cut, item| cut_strings(item) | cut),
        _ => false,
    }
}

/// The message with the arguments of its calls shrunk where they have more than `limit` chars.
pub(super) fn shorter_calls(message: &Message, limit: usize) -> Option<Message> {
    let splices: Vec<Splice> = message
        .tool_calls()
        .iter()
        .filter_map(|call| call.arguments)
        .filter_map(|span| {
            let token = message.slice(span);
            if !json::is_string(token) || token.len() <= limit + 2 {
                return None;
            }
            let arguments = json::decode(token);
            if !longer_than(&arguments, limit) {
                return None;
            }
            shrink(&arguments).map(|text| Splice { span, text: json::encode(&text) })
        })
        .collect();
    (!splices.is_empty()).then(|| message.spliced(&splices))
}
