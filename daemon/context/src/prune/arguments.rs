//! Shortens tool-call arguments so that they are still valid JSON.

use serde::de::IgnoredAny;

use crate::json::{self, Span, Splice};
use crate::message::Message;
use crate::text::{head, longer_than};

/// Chars of a string value that stay.
const VALUE_CHARS: usize = 200;
/// The mark after them.
const TRUNCATED: &str = "...[truncated]";

/// Returns the arguments with long strings cut at any depth; `None` if nothing changes or they are not JSON.
pub fn shrink(arguments: &str) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(arguments).ok()?;
    let bytes = arguments.as_bytes();
    let mut splices = Vec::new();
    let mut at = 0;
    while let Some(quote) = bytes.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
        let start = at + quote;
        let end = json::string_end(bytes, start);
        let span = Span { start, end };
        let is_key = bytes[end..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
        if !is_key && let Some(text) = cut(span.slice(arguments)) {
            splices.push(Splice { span, text });
        }
        at = end;
    }
    (!splices.is_empty()).then(|| json::splice(arguments, &splices))
}

/// Returns a string token with a long text cut. The rest of the arguments keeps its exact text, above all
/// numbers.
fn cut(token: &str) -> Option<String> {
    if token.len() <= VALUE_CHARS {
        return None;
    }
    let text = json::decode(token);
    longer_than(&text, VALUE_CHARS).then(|| json::encode(&format!("{}{TRUNCATED}", head(&text, VALUE_CHARS))))
}

/// Returns the message with calls' arguments shortened if they have more than `limit` chars.
pub(crate) fn shorter_calls(message: &Message, limit: usize) -> Option<Message> {
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
