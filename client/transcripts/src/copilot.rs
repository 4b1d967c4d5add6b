//! Transcripts of GitHub's Copilot CLI: for each session a file `events.jsonl` that only grows.

use serde_json::Value;

use crate::file::{FileReader, Form, SessionFile, time_of};
use crate::parts::{self, string};

/// Reads the records of one file.
pub type Reader = FileReader<Copilot>;

/// The form of Copilot CLI's records.
#[derive(Debug)]
pub struct Copilot;

impl Form for Copilot {
    fn is_record(object: &Value) -> bool {
        string(object, "type").is_some() && object.get("data").is_some()
    }

    fn read(record: &Value, file: &mut SessionFile) {
        let data = record.get("data").unwrap_or(&Value::Null);
        let time = time_of(record);
        let content = data.get("content").unwrap_or(&Value::Null);
        match string(record, "type") {
            Some("session.start" | "session.resume") => start(data, file),
            Some("session.model_change") => {
                file.session().model = string(data, "newModel").map(str::to_owned);
                file.note();
            }
            Some("user.message") => {
                let text = parts::text(content, &mut file.tally);
                file.say_as_user(time, &text);
            }
            Some("assistant.message") => {
                let text = parts::text(content, &mut file.tally);
                let calls = data.get("toolRequests").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let calls = calls.iter().filter_map(|call| made(call, "name", file)).collect();
                file.say(time, parts::assistant(&text, calls));
            }
            Some("tool.execution_start") => {
                let call = made(data, "toolName", file);
                file.say(time, parts::assistant("", call.into_iter().collect()));
            }
            Some("tool.execution_complete") => {
                let result = data.get("result").or_else(|| data.get("error")).unwrap_or(&Value::Null);
                let text = parts::text(result.get("message").unwrap_or(result), &mut file.tally);
                let id = string(data, "toolCallId").unwrap_or_default();
                file.say(time, Some(parts::result(id, string(data, "toolName"), &text)));
            }
            Some(kind) => {
                let is_note = ["session.", "system.", "assistant.", "tool.", "hook.", "subagent.", "abort", "skill."]
                    .iter()
                    .any(|beginning| kind.starts_with(beginning));
                if is_note { file.note() } else { file.tally.add(kind) }
            }
            None => file.tally.add("record without a type"),
        }
    }
}

fn start(data: &Value, file: &mut SessionFile) {
    let session = file.session();
    if let Some(id) = string(data, "sessionId") {
        session.id = id.to_owned();
    }
    let context = |name: &str| data.pointer(&format!("/context/{name}")).and_then(Value::as_str).map(str::to_owned);
    session.cwd = session.cwd.take().or_else(|| context("cwd"));
    session.branch = context("branch").or_else(|| session.branch.take());
    if let Some(model) = string(data, "selectedModel") {
        session.model = Some(model.to_owned());
    }
    file.note();
}

/// Returns a call that was not read before: an answer names it, and then the event of its beginning.
fn made(call: &Value, name: &str, file: &mut SessionFile) -> Option<Value> {
    let id = string(call, "toolCallId").unwrap_or_default();
    let is_new = file.is_new("call", id);
    let arguments = call.get("arguments").unwrap_or(&Value::Null);
    is_new.then(|| parts::call(id, string(call, name).unwrap_or_default(), arguments))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::file::testing::read;

    #[test]
    fn words_and_work_are_messages_and_each_call_is_there_once() {
        let event = |kind: &str, data: Value| json!({ "type": kind, "data": data, "id": kind, "timestamp": "2026-02-03T04:05:06.500Z" });
        let request = json!([{ "toolCallId": "c", "name": "bash", "arguments": { "command": "ls" } }]);
        let (session, messages, left_out) = read::<Copilot>(&[
            event("session.start", json!({ "sessionId": "k1", "context": { "cwd": "/w", "branch": "main" } })),
            event("session.model_change", json!({ "newModel": "gpt-5" })),
            event("system.message", json!({ "role": "system", "content": "You are" })),
            event("user.message", json!({ "content": "fix it" })),
            event("assistant.message", json!({ "content": "I look.", "toolRequests": request })),
            event(
                "tool.execution_start",
                json!({ "toolCallId": "c", "toolName": "bash", "arguments": { "command": "ls" } }),
            ),
            event(
                "tool.execution_complete",
                json!({ "toolCallId": "c", "success": true, "result": { "content": "a" } }),
            ),
            event("tool.execution_start", json!({ "toolCallId": "d", "toolName": "view", "arguments": {} })),
            event(
                "tool.execution_complete",
                json!({ "toolCallId": "d", "success": false, "error": { "message": "no" } }),
            ),
            event("news", json!({})),
        ]);
        let result = |id: &str, text: &str| json!({ "role": "tool", "tool_call_id": id, "content": text });
        assert_eq!(
            messages,
            [
                json!({ "role": "user", "content": "fix it" }),
                json!({ "role": "assistant", "content": "I look.",
                        "tool_calls": [parts::call("c", "bash", &json!({ "command": "ls" }))] }),
                result("c", "a"),
                json!({ "role": "assistant", "content": null, "tool_calls": [parts::call("d", "view", &json!({}))] }),
                result("d", "no"),
            ]
        );
        let facts = [&session.cwd, &session.branch, &session.model].map(|fact| fact.as_deref().unwrap_or_default());
        assert_eq!((session.id.as_str(), facts), ("k1", ["/w", "main", "gpt-5"]));
        assert_eq!(left_out, [("news".to_owned(), 1), ("system".to_owned(), 3)]);
    }
}
