//! Transcripts of Grok Build: for each session a file `updates.jsonl` that only grows, with updates of the Agent Client
//! Protocol. Words come in pieces.

use serde_json::Value;

use crate::file::{FileReader, Form, SessionFile, time_of};
use crate::parts::{self, string};

/// Reads the records of one file.
pub type Reader = FileReader<Grok>;

/// The form of Grok Build's records.
#[derive(Debug)]
pub struct Grok;

impl Form for Grok {
    fn is_record(object: &Value) -> bool {
        object.pointer("/params/update").is_some()
    }

    fn read(record: &Value, file: &mut SessionFile) {
        let time = time_of(record);
        let Some(update) = record.pointer("/params/update") else { return file.tally.add("record without an update") };
        let text = |file: &mut SessionFile| parts::text(update.get("content").unwrap_or(&Value::Null), &mut file.tally);
        match string(update, "sessionUpdate") {
            Some("user_message_chunk") => {
                let text = text(file);
                let of = update.pointer("/_meta/promptIndex").map(Value::to_string).unwrap_or_default();
                file.piece(time, "user", &of, &text);
            }
            Some("agent_message_chunk") => {
                let text = text(file);
                let of = record.pointer("/params/_meta/promptId").and_then(Value::as_str).unwrap_or_default();
                file.piece(time, "assistant", of, &text);
            }
            Some("agent_thought_chunk") => file.tally.add("thought"),
            Some("tool_call") => {
                file.flush();
                let (id, name) = (call_id(update), string(update, "title").or_else(|| string(update, "kind")));
                let call = parts::call(id, name.unwrap_or_default(), update.get("rawInput").unwrap_or(&Value::Null));
                file.say(time, parts::assistant("", vec![call]));
            }
            Some("tool_call_update") => result(update, time, file),
            Some("plan" | "available_commands_update" | "current_mode_update") => file.note(),
            kind => file.tally.add(kind.unwrap_or("record without a type")),
        }
    }
}

/// Says the result of a call that has ended.
fn result(update: &Value, time: Option<f64>, file: &mut SessionFile) {
    if !matches!(string(update, "status"), Some("completed" | "failed")) || !file.is_new("result", call_id(update)) {
        return file.note();
    }
    let parts = update.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let texts = parts.iter().map(|part| parts::text(part.get("content").unwrap_or(part), &mut file.tally));
    let text = texts.collect::<Vec<_>>().join("\n");
    let raw = update.get("rawOutput").filter(|_| text.is_empty()).map(|raw| match raw {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    file.flush();
    file.say(time, Some(parts::result(call_id(update), None, &raw.unwrap_or(text))));
}

fn call_id(update: &Value) -> &str {
    string(update, "toolCallId").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::file::testing::read;

    #[test]
    fn pieces_are_joined_and_calls_have_results() {
        let update = |update: Value, prompt: &str| json!({ "timestamp": 1_784_278_801, "params": { "update": update, "_meta": { "promptId": prompt } } });
        let said =
            |kind: &str, text: &str| json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } });
        let (_, messages, _) = read::<Grok>(&[
            update(said("user_message_chunk", "fix it"), ""),
            update(said("agent_message_chunk", "I "), "p1"),
            update(said("agent_message_chunk", "look."), "p1"),
            update(
                json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "ls", "rawInput": { "path": "/" } }),
                "p1",
            ),
            update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress" }), "p1"),
            update(
                json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed",
                           "content": [{ "type": "content", "content": { "type": "text", "text": "a" } }] }),
                "p1",
            ),
            update(said("agent_message_chunk", "Done."), "p1"),
            update(said("user_message_chunk", "thanks"), ""),
        ]);
        assert_eq!(
            messages,
            [
                json!({ "role": "user", "content": "fix it" }),
                json!({ "role": "assistant", "content": "I look." }),
                json!({ "role": "assistant", "content": null, "tool_calls": [parts::call("c", "ls", &json!({ "path": "/" }))] }),
                json!({ "role": "tool", "tool_call_id": "c", "content": "a" }),
                json!({ "role": "assistant", "content": "Done." }),
            ]
        );
    }
}
