//! Messages in the form of Anthropic's API, which other programs record as well.

use std::collections::HashMap;

use serde_json::Value;

use crate::Tally;
use crate::parts::{self, string};

/// The names of tools, by the ids of their calls.
pub(crate) type Tools = HashMap<String, String>;

/// Returns the messages of a message. `words` returns what counts of a text of the user.
pub(crate) fn messages(
    message: &Value,
    words: fn(&str) -> Option<&str>,
    tools: &mut Tools,
    tally: &mut Tally,
) -> Vec<String> {
    let content = message.get("content").unwrap_or(&Value::Null);
    match string(message, "role") {
        Some("user") => user(content, words, tools, tally),
        Some("assistant") => assistant(content, tools, tally).into_iter().collect(),
        role => {
            tally.add(&format!("{} message", role.unwrap_or("nobody's")));
            Vec::new()
        }
    }
}

fn user(content: &Value, words: fn(&str) -> Option<&str>, tools: &Tools, tally: &mut Tally) -> Vec<String> {
    let (mut said, mut messages) = (String::new(), Vec::new());
    for part in parts::each(content) {
        if string(part, "type") == Some("tool_result") {
            let id = string(part, "tool_use_id").unwrap_or_default();
            let text = parts::text(part.get("content").unwrap_or(&Value::Null), tally);
            messages.push(parts::result(id, tools.get(id).map(String::as_str), &text));
            continue;
        }
        let text = parts::text(part, tally);
        match words(&text) {
            Some(words) => parts::push(&mut said, words),
            None => tally.add("context of the client"),
        }
    }
    if !said.is_empty() {
        messages.push(parts::message("user", &said));
    }
    messages
}

/// Returns the message of the assistant for its parts. `tools` gets the names of the calls.
pub(crate) fn assistant(content: &Value, tools: &mut Tools, tally: &mut Tally) -> Option<String> {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for part in parts::each(content) {
        match string(part, "type") {
            Some("tool_use" | "server_tool_use") => {
                let (id, name) = (string(part, "id").unwrap_or_default(), string(part, "name").unwrap_or_default());
                calls.push(parts::call(id, name, part.get("input").unwrap_or(&Value::Null)));
                tools.insert(id.to_owned(), name.to_owned());
            }
            Some(thought @ ("thinking" | "redacted_thinking" | "reasoning")) => tally.add(thought),
            _ => parts::push(&mut text, &parts::text(part, tally)),
        }
    }
    parts::assistant(&text, calls)
}
