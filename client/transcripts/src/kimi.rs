//! Transcripts of Kimi Code: for each agent of a session a file `wire.jsonl` that only grows. Answers come in pieces.

use serde_json::Value;

use crate::file::{FileReader, Form, SessionFile};
use crate::parts::{self, string};
use crate::time;

/// Reads the records of one file.
pub type Reader = FileReader<Kimi>;

/// The form of Kimi Code's records.
#[derive(Debug)]
pub struct Kimi;

impl Form for Kimi {
    fn is_record(object: &Value) -> bool {
        string(object, "type").is_some()
    }

    fn read(record: &Value, file: &mut SessionFile) {
        let time = record.get("time").and_then(time::read);
        match string(record, "type") {
            Some("context.append_message") => {
                file.flush();
                message(record.get("message").unwrap_or(&Value::Null), time, file);
            }
            Some("context.append_loop_event") => event(record.get("event").unwrap_or(&Value::Null), time, file),
            Some("metadata" | "config.update" | "turn.prompt" | "usage.record") => file.note(),
            kind => file.tally.add(kind.unwrap_or("record without a type")),
        }
    }
}

fn message(message: &Value, time: Option<f64>, file: &mut SessionFile) {
    let text = parts::text(message.get("content").unwrap_or(&Value::Null), &mut file.tally);
    match string(message, "role") {
        Some("user") => file.say_as_user(time, &text),
        Some("assistant") => {
            let calls = message.get("toolCalls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let made = |call: &Value| {
                let of = call.get("function").unwrap_or(call);
                let id = string(call, "id").unwrap_or_default();
                parts::call(id, string(of, "name").unwrap_or_default(), of.get("arguments").unwrap_or(&Value::Null))
            };
            file.say(time, parts::assistant(&text, calls.iter().map(made).collect()));
        }
        Some("tool") => {
            let id = string(message, "toolCallId").or_else(|| string(message, "tool_call_id")).unwrap_or_default();
            file.say(time, Some(parts::result(id, string(message, "name"), &text)));
        }
        role => file.tally.add(&format!("{} message", role.unwrap_or("nobody's"))),
    }
}

fn event(event: &Value, time: Option<f64>, file: &mut SessionFile) {
    match string(event, "type") {
        Some("content.part") => {
            let part = event.get("part").unwrap_or(&Value::Null);
            match string(part, "type") {
                Some("text") => {
                    let step = string(event, "stepUuid").unwrap_or_default();
                    file.piece(time, "assistant", step, string(part, "text").unwrap_or_default());
                }
                kind => file.tally.add(kind.unwrap_or("part without a type")),
            }
        }
        Some("step.begin" | "step.end") => {
            file.flush();
            file.note();
        }
        Some("llm.request") => file.note(),
        kind => file.tally.add(kind.unwrap_or("event without a type")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Transcript;

    #[test]
    fn an_answer_is_said_when_its_step_has_ended_or_nothing_follows() {
        let part = |kind: &str, text: &str| {
            json!({ "type": "context.append_loop_event", "time": 1_782_295_201_200_u64,
                    "event": { "type": "content.part", "stepUuid": "s1", "part": { "type": kind, "text": text } } })
        };
        let end = json!({ "type": "context.append_loop_event", "event": { "type": "step.end", "uuid": "s1" }, "time": 1_782_295_201_400_u64 });
        let user = json!({ "type": "context.append_message", "message": { "role": "user", "content": [{ "type": "text", "text": "why?" }] }, "time": 1 });
        let mut reader = Reader::new("k");
        let mut said = |record: &Value| {
            reader.line(&record.to_string());
            let said = reader.sessions()[0].take().1;
            said.iter().map(|said| serde_json::from_str::<Value>(&said.message).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(said(&user).len(), 1);
        for record in [part("think", "t"), part("text", "Because "), part("text", "of the port.")] {
            assert!(said(&record).is_empty());
        }
        assert_eq!(said(&end), [json!({ "role": "assistant", "content": "Because of the port." })]);
        assert!(said(&part("text", "and then")).is_empty());
        assert!(!reader.end(false) && reader.end(true));
        assert_eq!(reader.sessions()[0].take().1.len(), 1);
    }
}
