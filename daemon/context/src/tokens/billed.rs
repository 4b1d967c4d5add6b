//! The parts of a message that a provider bills besides text and calls: nested results, tool input, thoughts,
//! refusals, documents, images anywhere.

use crate::json::{self, Span};
use crate::message::{Billed, Content, Message, Part, PartKind};

use super::own::cost;

/// Nested fields that are not billed as text.
const FREE: [&str; 21] = [
    "type",
    "role",
    "id",
    "call_id",
    "tool_use_id",
    "tool_call_id",
    "signature",
    "thoughtSignature",
    "thought_signature",
    "encrypted_content",
    "cache_control",
    "status",
    "index",
    "format",
    "detail",
    "media_type",
    "mime_type",
    "mimeType",
    "file_id",
    "container_id",
    "expires_at",
];

/// Fields with binary data, as base64 or as a `data:` address.
const DATA: [&str; 7] = ["data", "file_data", "image_url", "url", "bytes", "inlineData", "inline_data"];

/// The most levels of nested values that are examined.
const DEPTH: usize = 32;

/// Chars of base64 that cost as much as an image: a page of a document, half a minute of sound.
const DATA_CHARS: usize = 100_000;

/// The most chars of a value that is not checked for base64.
const SMALL: usize = 256;

/// Returns what a provider bills of a message besides its text, its calls and the images in its content.
pub(super) fn billed(message: &Message) -> Billed {
    message.billed(|| {
        let mut billed = Billed::default();
        if let Content::List(parts) = message.content() {
            parts.iter().filter(|part| is_nested(part)).for_each(|part| billed.add(message.slice(part.span), DEPTH));
        }
        if message.has_billed() {
            let fields = json::fields(message.raw()).into_iter();
            fields
                .filter(|(key, _)| Billed::is_field(&json::decode(key)))
                .for_each(|(_, value)| billed.add(value, DEPTH));
        }
        billed
    })
}

impl Billed {
    /// Adds a JSON value. Values below the depth limit count as plain text.
    fn add(&mut self, value: &str, depth: usize) {
        match value.as_bytes().first() {
            _ if depth == 0 => self.words += cost(value),
            Some(b'"') => self.add_text(value),
            Some(b'[') => drop(json::items(value, 0, |at| {
                let span = json::value(value, at);
                self.add(span.slice(value), depth - 1);
                span.end
            })),
            Some(b'{') => self.add_object(value, depth),
            // A number or a word of JSON.
            Some(_) if value != "null" => self.words += cost(value),
            _ => {}
        }
    }

    fn add_object(&mut self, object: &str, depth: usize) {
        let mut members: Vec<(&str, Span)> = Vec::new();
        json::members(object, 0, |key, at| {
            let span = json::value(object, at);
            members.push((key, span));
            span.end
        });
        let member =
            |name: &str| members.iter().find(|(key, _)| json::decode(key) == name).map(|(_, span)| span.slice(object));
        let kind = member("type").map(json::text_form).unwrap_or_default();
        if matches!(&*kind, "image" | "image_url" | "input_image") {
            self.pictures += 1;
            self.data_chars += json::canonical_chars(object);
            return;
        }
        // The input of a tool is sent as JSON text, names included.
        let is_input = |name: &str| matches!(name, "input" | "args" | "arguments" | "action");
        for (key, span) in members {
            let (name, value) = (json::decode(key), span.slice(object));
            match &*name {
                name if FREE.contains(&name) || name.starts_with('_') => {}
                name if DATA.contains(&name) => self.add_data(value, depth),
                name if is_input(name) && !json::is_string(value) => self.words += cost(value),
                _ => self.add(value, depth - 1),
            }
        }
    }

    /// Adds a value that may be binary data; a text or an address counts as such.
    fn add_data(&mut self, value: &str, depth: usize) {
        if value.starts_with('{') {
            return self.add(value, depth - 1);
        }
        if json::is_string(value) && is_data(value) {
            self.pictures += value.len().div_ceil(DATA_CHARS);
            self.data_chars += json::canonical_chars(value);
        } else {
            self.add(value, depth - 1);
        }
    }

    fn add_text(&mut self, token: &str) {
        self.words += cost(&json::decode(token));
    }
}

/// Whether the text of a part is nested, so that it was not counted with the content.
const fn is_nested(part: &Part) -> bool {
    matches!(part.kind, PartKind::Object { text: None, content: None } | PartKind::Other)
}

/// Whether a string token is base64, or a `data:` address.
fn is_data(token: &str) -> bool {
    let text = token.trim_matches('"');
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=' | b'\\');
    text.starts_with("data:") || (text.len() > SMALL && text.bytes().take(SMALL).all(is_base64))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::constants::IMAGE_TOKENS;
    use crate::tokens::{estimate_messages, own_estimate_messages, own_estimate_text};

    fn own(message: &Value) -> u64 {
        own_estimate_messages(&[Message::of_json(message.to_string())])
    }

    fn rough(message: &Value) -> u64 {
        estimate_messages(&[Message::of_json(message.to_string())])
    }

    /// Returns messages with a text at each place that a provider bills.
    fn places(text: &str) -> Vec<Value> {
        let nested = json!([{ "type": "text", "text": text }]);
        vec![
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "x", "content": nested }] }),
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "x", "content": text }] }),
            json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "x", "name": "Write", "input": { "text": text } }] }),
            json!({ "role": "assistant", "content": [{ "type": "thinking", "thinking": text, "signature": "s" }] }),
            json!({ "role": "assistant", "content": [{ "type": "refusal", "refusal": text }] }),
            json!({ "role": "user", "content": [{ "type": "document", "source": { "type": "text", "data": text } }] }),
            json!({ "role": "user", "content": [{ "type": "search_result", "source": "a", "content": nested }] }),
            json!({ "role": "assistant", "content": "x", "reasoning_content": text }),
            json!({ "role": "assistant", "content": "x", "reasoning_details": [{ "type": "reasoning.text", "text": text }] }),
            json!({ "role": "assistant", "content": null, "refusal": text }),
            json!({ "role": "assistant", "content": null, "function_call": { "name": "f", "arguments": text } }),
            json!({ "type": "function_call_output", "call_id": "c", "output": text }),
            json!({ "type": "function_call_output", "call_id": "c", "output": nested }),
            json!({ "type": "function_call", "call_id": "c", "name": "f", "arguments": text }),
            json!({ "type": "custom_tool_call", "call_id": "c", "name": "f", "input": text }),
            json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": text }] }),
            json!({ "role": "user", "parts": [{ "text": text }] }),
            json!({ "role": "model", "parts": [{ "functionCall": { "name": "f", "args": { "text": text } } }] }),
            json!({ "role": "user", "parts": [{ "functionResponse": { "name": "f", "response": { "result": text } } }] }),
            json!({ "role": "user", "content": text }),
            json!({ "role": "user", "content": [{ "type": "text", "text": text }] }),
            json!({ "role": "assistant", "tool_calls": [{ "id": "c", "function": { "name": "f", "arguments": text } }] }),
        ]
    }

    #[test]
    fn a_text_costs_the_same_wherever_it_is() {
        let text = "the port of db-3 is 8443, and never touch it. ".repeat(2_000);
        let alone = own_estimate_text(&text);
        for message in places(&text) {
            let (own, rough, shown) = (own(&message), rough(&message), message.to_string());
            assert!((alone..alone + 40).contains(&own), "{own} instead of {alone}: {shown:.120}");
            assert!(rough >= alone / 2, "{rough}: {shown:.120}");
        }
    }

    #[test]
    fn binary_data_is_no_text_wherever_it_is() {
        let data = "iVBORw0KGgo".repeat(5_000);
        let url = format!("data:image/png;base64,{data}");
        let source = json!({ "type": "base64", "media_type": "image/png", "data": data });
        let picture = json!({ "type": "image", "source": source });
        for message in [
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "x", "content": [picture] }] }),
            json!({ "role": "user", "content": [{ "type": "tool_result", "content": [{ "type": "tool_result", "content": [picture] }] }] }),
            json!({ "role": "user", "content": [{ "type": "document", "source": source }] }),
            json!({ "role": "user", "content": [{ "type": "input_audio", "input_audio": { "data": data, "format": "wav" } }] }),
            json!({ "role": "user", "content": [{ "type": "file", "file": { "file_data": url } }] }),
            json!({ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": url } }] }),
            json!({ "type": "function_call_output", "output": [{ "type": "input_image", "image_url": url }] }),
            json!({ "role": "user", "parts": [{ "inlineData": { "mimeType": "image/png", "data": data } }] }),
        ] {
            let (own, rough, shown) = (own(&message), rough(&message), message.to_string());
            for tokens in [own, rough] {
                assert!((IMAGE_TOKENS..IMAGE_TOKENS + 150).contains(&tokens), "{own} {rough}: {shown:.120}");
            }
        }
    }

    #[test]
    fn what_is_the_callers_own_costs_nothing() {
        let long = "secret ".repeat(1_000);
        for message in [
            json!({ "role": "user", "content": "x", "_metadata": long, "id": long, "uuid": long }),
            json!({ "role": "assistant", "content": [{ "type": "thinking", "thinking": "x", "signature": long }] }),
            json!({ "type": "reasoning", "summary": [], "encrypted_content": long }),
        ] {
            assert!(own(&message) < 20, "{}: {message:.120}", own(&message));
        }
    }
}
