//! Helpers that write messages in tests.

use serde_json::{Value, json};

use crate::{Message, RawSettings, Settings};

pub(crate) fn message(value: &Value) -> Message {
    Message::parse(value.to_string()).unwrap()
}

pub(crate) fn say(role: &str, content: &str) -> Message {
    message(&json!({"role": role, "content": content}))
}

pub(crate) fn call(ids: &[&str]) -> Message {
    let calls: Vec<Value> = ids
        .iter()
        .map(|id| json!({"id": id, "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"ls\"}"}}))
        .collect();
    message(&json!({"role": "assistant", "content": null, "tool_calls": calls}))
}

pub(crate) fn call_of(id: &str, name: &str, arguments: &str) -> Message {
    message(
        &json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "function": {"name": name, "arguments": arguments}}]}),
    )
}

pub(crate) fn result(id: &str, content: &str) -> Message {
    message(&json!({"role": "tool", "tool_call_id": id, "content": content}))
}

pub(crate) fn image() -> Value {
    json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}})
}

pub(crate) fn settings(window: u64, first: usize, last: usize) -> Settings {
    RawSettings {
        context_length: window,
        protect_first_n: Some(first),
        protect_last_n: Some(last),
        ..RawSettings::default()
    }
    .check()
    .unwrap()
}

/// Builds a list with one letter for each message: s, u, a. `c` calls with the id of its position, `t`
/// answers the call before it. Upper-case letters are long.
pub(crate) fn list(letters: &str) -> Vec<Message> {
    let mut last_call = String::new();
    letters
        .chars()
        .enumerate()
        .map(|(at, letter)| {
            let size = if letter.is_ascii_uppercase() { 4_000 } else { 20 };
            let text = format!("{letter}{at} {}", "word ".repeat(size / 5));
            match letter.to_ascii_lowercase() {
                's' => say("system", &text),
                'u' => say("user", &text),
                'a' => say("assistant", &text),
                'c' => {
                    last_call = format!("id{at}");
                    call(&[&last_call])
                }
                _ => result(&last_call, &text),
            }
        })
        .collect()
}
