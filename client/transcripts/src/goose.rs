//! Messages of Goose: since 1.10 rows of a database, before that lines of a file that only grows.

use serde_json::Value;

use crate::file::{FileReader, Form, SessionFile};
use crate::parts::{self, string};
use crate::{Tally, time};

/// Reads the records of one file.
pub type Reader = FileReader<Goose>;

/// The form of Goose's lines.
#[derive(Debug)]
pub struct Goose;

impl Form for Goose {
    fn is_record(object: &Value) -> bool {
        object.get("role").is_some() || object.get("working_dir").is_some()
    }

    fn read(record: &Value, file: &mut SessionFile) {
        let Some(role) = string(record, "role") else {
            let session = file.session();
            session.cwd = string(record, "working_dir").map(str::to_owned).or(session.cwd.take());
            session.title = string(record, "description").map(str::to_owned).or(session.title.take());
            return file.note();
        };
        let time = record.get("created").and_then(time::read);
        let content = record.get("content").unwrap_or(&Value::Null);
        for message in messages(role, content, &mut file.tally) {
            file.say(time, Some(message));
        }
    }
}

/// Returns the messages of a message of Goose.
#[must_use]
pub fn messages(role: &str, content: &Value, tally: &mut Tally) -> Vec<String> {
    let (mut text, mut calls, mut messages) = (String::new(), Vec::new(), Vec::new());
    for part in parts::each(content) {
        let id = string(part, "id").unwrap_or_default();
        match string(part, "type") {
            Some("toolRequest") => {
                let call = part.pointer("/toolCall/value").unwrap_or(&Value::Null);
                let arguments = call.get("arguments").unwrap_or(&Value::Null);
                calls.push(parts::call(id, string(call, "name").unwrap_or_default(), arguments));
            }
            Some("toolResponse") => {
                let result = part.get("toolResult").unwrap_or(&Value::Null);
                let said = result.get("value").or_else(|| result.get("error")).unwrap_or(result);
                messages.push(parts::result(id, None, &parts::text(said, tally)));
            }
            Some(thought @ ("thinking" | "redactedThinking" | "reasoning")) => tally.add(thought),
            _ => parts::push(&mut text, &parts::text(part, tally)),
        }
    }
    match role {
        "user" if !text.is_empty() => messages.push(parts::message("user", &text)),
        "user" => {}
        "assistant" => messages.extend(parts::assistant(&text, calls)),
        role => tally.add(&format!("{role} message")),
    }
    messages
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::file::testing::read;

    #[test]
    fn words_calls_and_results_are_messages() {
        let said = |id: &str, role: &str, content: Value| json!({ "id": id, "role": role, "created": 1_784_278_801, "content": content });
        let (session, messages, _) = read::<Goose>(&[
            json!({ "description": "Fix it", "id": "g", "working_dir": "/w" }),
            said("1", "user", json!([{ "type": "text", "text": "fix it" }])),
            said(
                "2",
                "assistant",
                json!([
                    { "type": "text", "text": "I look." },
                    { "type": "toolRequest", "id": "c", "toolCall": { "status": "success", "value": { "name": "shell", "arguments": { "command": "ls" } } } },
                ]),
            ),
            said(
                "3",
                "user",
                json!([
                    { "type": "toolResponse", "id": "c", "toolResult": { "status": "success", "value": [{ "type": "text", "text": "a" }] } },
                ]),
            ),
        ]);
        assert_eq!(
            messages,
            [
                json!({ "role": "user", "content": "fix it" }),
                json!({ "role": "assistant", "content": "I look.",
                        "tool_calls": [parts::call("c", "shell", &json!({ "command": "ls" }))] }),
                json!({ "role": "tool", "tool_call_id": "c", "content": "a" }),
            ]
        );
        assert_eq!((session.title.as_deref(), session.cwd.as_deref()), (Some("Fix it"), Some("/w")));
    }
}
