//! Transcripts of pi, and of Oh My Pi and OpenClaw, which have its format: for each session a file of JSON lines that only
//! grows. The records are a tree, because a session may go back to an earlier one; all of them were said.

use serde_json::Value;

use crate::ModelCall;
use crate::file::{FileReader, Form, SessionFile, time_of};
use crate::parts::{self, string};

/// Reads the records of one file.
pub type Reader = FileReader<Pi>;

/// The form of pi's records.
#[derive(Debug)]
pub struct Pi;

/// Records that pi makes for itself.
const NOTES: [&str; 8] = [
    "branch_summary",
    "compaction",
    "custom",
    "custom_message",
    "label",
    "leaf",
    "session_info",
    "thinking_level_change",
];

/// The first record of Oh My Pi, which writes a new title in its place, and the record that it appends then.
const TITLE: &str = "title";
const NEW_TITLE: &str = "title_change";

impl Form for Pi {
    fn is_record(object: &Value) -> bool {
        let kind = string(object, "type");
        kind.is_some() && (object.get("timestamp").is_some() || object.get("id").is_some()) || kind == Some(TITLE)
    }

    fn read(record: &Value, file: &mut SessionFile) {
        match string(record, "type") {
            Some("session") => header(record, file),
            Some("message") => message(record, file),
            Some("model_change") => {
                let model = string(record, "modelId").or_else(|| string(record, "model"));
                file.session().model = model.map(str::to_owned);
                file.note();
            }
            Some(TITLE | NEW_TITLE) => {
                let title = string(record, "title").filter(|title| !title.is_empty());
                file.session().title = title.map(str::to_owned);
                file.note();
            }
            Some(kind) => {
                if let Some(name) = string(record, "name").filter(|_| kind == "session_info") {
                    file.session().title = Some(name.to_owned());
                }
                if NOTES.contains(&kind) { file.note() } else { file.tally.add(kind) }
            }
            None => file.tally.add("record without a type"),
        }
    }
}

/// Reads the first record, which is about the session.
fn header(record: &Value, file: &mut SessionFile) {
    let session = file.session();
    if let Some(id) = string(record, "id") {
        session.id = id.to_owned();
    }
    session.cwd = string(record, "cwd").map(str::to_owned);
    session.title = string(record, "title").map(str::to_owned);
    // The parent is a path whose name ends with the session's id.
    let parent = string(record, "parentSession").and_then(|path| path.rsplit(['/', '\\']).next());
    session.parent = parent.map(|name| {
        let name = name.trim_end_matches(".jsonl");
        name.rsplit_once('_').map_or(name, |(_, id)| id).to_owned()
    });
}

fn message(record: &Value, file: &mut SessionFile) {
    let time = time_of(record);
    let Some(message) = record.get("message") else { return file.tally.add("message") };
    let content = message.get("content").unwrap_or(&Value::Null);
    match string(message, "role") {
        Some("user") => {
            let text = parts::text(content, &mut file.tally);
            file.say_as_user(time, &text);
        }
        Some("assistant") => assistant(record, message, file),
        Some("toolResult") => {
            let text = parts::text(content, &mut file.tally);
            let id = string(message, "toolCallId").unwrap_or_default();
            file.say(time, Some(parts::result(id, string(message, "toolName"), &text)));
        }
        // A command that the user gave, and its output.
        Some("bashExecution") => {
            let field = |name| string(message, name).unwrap_or_default();
            file.say_as_user(time, format!("! {}\n{}", field("command"), field("output")).trim_end());
        }
        Some("system" | "custom" | "branchSummary" | "compactionSummary") => file.note(),
        role => file.tally.add(&format!("{} message", role.unwrap_or("nobody's"))),
    }
}

fn assistant(record: &Value, message: &Value, file: &mut SessionFile) {
    let time = time_of(record);
    let (mut text, mut calls) = (String::new(), Vec::new());
    for part in parts::each(message.get("content").unwrap_or(&Value::Null)) {
        match string(part, "type") {
            Some("toolCall") => {
                let field = |name| string(part, name).unwrap_or_default();
                calls.push(parts::call(field("id"), field("name"), part.get("arguments").unwrap_or(&Value::Null)));
            }
            Some("thinking") => file.tally.add("thinking"),
            _ => parts::push(&mut text, &parts::text(part, &mut file.tally)),
        }
    }
    file.say(time, parts::assistant(&text, calls));
    let model = string(message, "model").map(str::to_owned);
    if model.is_some() {
        file.session().model.clone_from(&model);
    }
    if let (Some(usage), Some(id), Some(time)) = (message.get("usage"), string(record, "id"), time) {
        let usage = usage_of(usage).to_string();
        file.session().push_call(ModelCall { id: id.to_owned(), time, model, usage });
    }
}

/// Returns a usage with the names that a provider has for its fields.
fn usage_of(usage: &Value) -> Value {
    let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
    serde_json::json!({
        "input_tokens": count("input"), "output_tokens": count("output"),
        "cache_read_input_tokens": count("cacheRead"), "cache_creation_input_tokens": count("cacheWrite"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::file::testing::read;

    #[test]
    fn words_calls_and_results_are_messages() {
        let said = |id: &str, message: Value| json!({ "type": "message", "id": id, "parentId": null, "timestamp": "2026-02-03T04:05:06.500Z", "message": message });
        let call = json!({ "type": "toolCall", "id": "c", "name": "bash", "arguments": { "command": "ls" } });
        let (mut session, messages, left_out) = read::<Pi>(&[
            json!({ "type": "title", "v": 1, "title": "", "pad": "    " }),
            json!({ "type": "session", "version": 3, "id": "p1", "timestamp": "2026-02-03T04:05:06Z", "cwd": "/w",
                    "parentSession": "/h/--w--/2026-02-02T00-00-00-000Z_p0.jsonl" }),
            json!({ "type": "model_change", "id": "m", "timestamp": "t", "provider": "p", "modelId": "m-1" }),
            said("1", json!({ "role": "user", "content": "fix it" })),
            said(
                "2",
                json!({
                    "role": "assistant", "model": "m-2", "usage": { "input": 5, "output": 7, "cacheRead": 100, "cacheWrite": 9 },
                    "content": [{ "type": "thinking", "thinking": "t" }, { "type": "text", "text": "I look." }, call],
                }),
            ),
            said(
                "3",
                json!({ "role": "toolResult", "toolCallId": "c", "toolName": "bash",
                              "content": [{ "type": "text", "text": "a" }] }),
            ),
            said("4", json!({ "role": "bashExecution", "command": "make", "output": "done\n", "exitCode": 0 })),
            said("5", json!({ "role": "compactionSummary", "summary": "s" })),
            said("6", json!({ "role": "system", "content": "", "sections": {} })),
            json!({ "type": "compaction", "id": "k", "timestamp": "t", "summary": "s" }),
            json!({ "type": "session_info", "id": "i", "timestamp": "t", "name": "Look" }),
            json!({ "type": "title_change", "id": "j", "timestamp": "t", "title": "Fix it" }),
            json!({ "type": "news", "id": "n", "timestamp": "t" }),
        ]);
        assert_eq!(
            messages,
            [
                json!({ "role": "user", "content": "fix it" }),
                json!({ "role": "assistant", "content": "I look.",
                        "tool_calls": [parts::call("c", "bash", &json!({ "command": "ls" }))] }),
                json!({ "role": "tool", "tool_call_id": "c", "name": "bash", "content": "a" }),
                json!({ "role": "user", "content": "! make\ndone" }),
            ]
        );
        let facts = [&session.title, &session.parent, &session.cwd, &session.model];
        let facts = facts.map(|fact| fact.as_deref().unwrap_or_default());
        assert_eq!((session.id.as_str(), facts), ("p1", ["Fix it", "p0", "/w", "m-2"]));
        let [call] = session.take_calls().try_into().unwrap();
        assert!(call.usage.contains("\"cache_read_input_tokens\":100"), "{}", call.usage);
        assert_eq!(left_out, [("news".to_owned(), 1), ("system".to_owned(), 7), ("thinking".to_owned(), 1)]);
    }
}
