//! Messages of OpenCode. Its database has a row for each message and for each part of one, with JSON in it. herma's
//! plugin sends records with the same JSON.

use serde_json::Value;

use crate::file::{FileReader, Form, NOTE, SessionFile};
use crate::parts::{self, string};
use crate::tally::TWICE;
use crate::{ModelCall, Tally, TimedMessage, time};

/// Parts that OpenCode makes for itself.
const NOTES: [&str; 7] = ["agent", "compaction", "patch", "retry", "snapshot", "step-finish", "step-start"];

/// Reads the records of herma's plugin.
pub type Reader = FileReader<OpenCode>;

/// The form of these records: `{"id", "info", "parts"}` for a message, `{"session"}` for what is known of the session.
#[derive(Debug)]
pub struct OpenCode;

impl Form for OpenCode {
    fn is_record(object: &Value) -> bool {
        object.get("info").is_some() || object.get("session").is_some()
    }

    fn read(record: &Value, file: &mut SessionFile) {
        if let Some(about) = record.get("session") {
            let field = |name| string(about, name).map(str::to_owned);
            let session = file.session();
            (session.title, session.cwd, session.parent) = (field("title"), field("directory"), field("parentID"));
            return;
        }
        let Some(data) = record.get("info") else { return file.tally.add("record without a type") };
        let id = string(record, "id").unwrap_or_default();
        if !file.is_new("message", id) {
            return file.tally.add(TWICE);
        }
        let parts = record.get("parts").and_then(Value::as_array).cloned().unwrap_or_default();
        let row = Row { id: id.to_owned(), created: Value::Null, data: data.clone(), parts };
        let said = read(&row, &mut file.tally);
        let session = file.session();
        if let Some(model) = said.call.as_ref().and_then(|call| call.model.clone()) {
            session.model = Some(model);
        }
        said.messages.into_iter().for_each(|message| session.push(message));
        said.call.into_iter().for_each(|call| session.push_call(call));
    }
}

/// A message with its parts, as the database has them.
#[derive(Debug, Default)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// When it was created, in whatever form.
    pub created: Value,
    /// Its data.
    pub data: Value,
    /// The data of its parts, in their order.
    pub parts: Vec<Value>,
}

/// What a row says.
#[derive(Debug, Default, PartialEq)]
pub struct Said {
    /// When it was created, in Unix seconds.
    pub time: Option<f64>,
    /// Whether OpenCode will not change it any more.
    pub is_complete: bool,
    /// The messages, each with its time.
    pub messages: Vec<TimedMessage>,
    /// The call of the model whose answer it is.
    pub call: Option<ModelCall>,
}

/// Reads a row. What nobody said is counted.
#[must_use]
pub fn read(row: &Row, tally: &mut Tally) -> Said {
    let Row { data, .. } = row;
    let time = time::read(&row.created).or_else(|| data.pointer("/time/created").and_then(time::read));
    let mut said = Said { time, is_complete: true, ..Said::default() };
    let mut push =
        |message: Option<String>| said.messages.extend(message.map(|message| TimedMessage { time, message }));
    match string(data, "role") {
        Some("user") => {
            let mut text = String::new();
            row.parts.iter().for_each(|part| words(part, &mut text, tally));
            push((!text.is_empty()).then(|| parts::message("user", &text)));
        }
        Some("assistant") if data.get("summary").and_then(Value::as_bool) == Some(true) => tally.add("summary"),
        Some("assistant") => {
            let (mut text, mut calls, mut results) = (String::new(), Vec::new(), Vec::new());
            for part in &row.parts {
                match string(part, "type") {
                    Some("tool") => tool(part, &mut calls, &mut results, tally),
                    _ => words(part, &mut text, tally),
                }
            }
            push(parts::assistant(&text, calls));
            results.into_iter().for_each(|result| push(Some(result)));
            let is_ended = data.pointer("/time/completed").is_some_and(|time| !time.is_null());
            said.is_complete = is_ended || data.get("error").is_some_and(|error| !error.is_null());
            said.call = call(row, time);
        }
        role => tally.add(&format!("{} message", role.unwrap_or("nobody's"))),
    }
    said
}

/// Adds the words of a part.
fn words(part: &Value, text: &mut String, tally: &mut Tally) {
    match string(part, "type") {
        Some("text") if part.get("synthetic").and_then(Value::as_bool) == Some(true) => {
            tally.add("context of the client")
        }
        Some("text") => parts::push(text, string(part, "text").unwrap_or_default().trim()),
        Some("file") => {
            parts::push(text, format!("[file] {}", string(part, "filename").unwrap_or_default()).trim_end());
            tally.add("file");
        }
        Some("reasoning") => tally.add("thinking"),
        Some(kind) if NOTES.contains(&kind) => tally.add(NOTE),
        kind => tally.add(kind.unwrap_or("part without a type")),
    }
}

/// Adds the call of a tool, and its result if there is one.
fn tool(part: &Value, calls: &mut Vec<Value>, results: &mut Vec<String>, tally: &mut Tally) {
    let (id, name) = (string(part, "callID").unwrap_or_default(), string(part, "tool").unwrap_or_default());
    let state = |field: &str| part.get("state").and_then(|state| state.get(field)).filter(|value| !value.is_null());
    calls.push(parts::call(id, name, state("input").unwrap_or(&Value::Null)));
    if let Some(result) = state("output").or_else(|| state("error")) {
        results.push(parts::result(id, Some(name), &parts::text(result, tally)));
    }
}

fn call(row: &Row, time: Option<f64>) -> Option<ModelCall> {
    let tokens = row.data.get("tokens").filter(|tokens| tokens.is_object())?;
    let count = |at: &str| tokens.pointer(at).and_then(Value::as_u64).unwrap_or(0);
    let usage = serde_json::json!({
        "input_tokens": count("/input"), "output_tokens": count("/output"),
        "cache_read_input_tokens": count("/cache/read"), "cache_creation_input_tokens": count("/cache/write"),
    });
    let model = string(&row.data, "modelID").map(str::to_owned);
    Some(ModelCall { id: row.id.clone(), time: time?, model, usage: usage.to_string() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::file::testing;

    #[test]
    fn records_of_the_plugin_are_read_once() {
        let info = json!({ "role": "user", "time": { "created": 1_767_225_600_000_u64 } });
        let said = json!({ "id": "m1", "info": info, "parts": [{ "type": "text", "text": "look" }] });
        let about = json!({ "session": { "title": "Look", "directory": "/w", "parentID": "p" } });
        let mut again = said.clone();
        again["parts"][0]["text"] = "look again".into();
        let (session, messages, left_out) = testing::read::<OpenCode>(&[about, said, again, json!({ "id": "x" })]);
        let facts = [&session.title, &session.cwd, &session.parent].map(Option::as_deref);
        assert_eq!(facts, [Some("Look"), Some("/w"), Some("p")]);
        assert_eq!(messages, [json!({ "role": "user", "content": "look" })]);
        assert_eq!(left_out, [("duplicate record".to_owned(), 1), ("record without a type".to_owned(), 1)]);
    }

    fn row(data: Value, parts: Value) -> Row {
        let Value::Array(parts) = parts else { panic!("a list") };
        Row { id: "m".into(), created: json!(1_784_278_801_000_u64), data, parts }
    }

    fn messages(said: &Said) -> Vec<Value> {
        said.messages.iter().map(|said| serde_json::from_str(&said.message).unwrap()).collect()
    }

    #[test]
    fn a_row_is_words_calls_and_results() {
        let mut tally = Tally::default();
        let user = row(
            json!({ "role": "user", "time": { "created": 1 } }),
            json!([
                { "type": "text", "text": "fix it" },
                { "type": "text", "text": "the file says", "synthetic": true },
                { "type": "file", "filename": "a.png" },
            ]),
        );
        let said = read(&user, &mut tally);
        assert_eq!((said.time, said.is_complete), (Some(1_784_278_801.0), true));
        assert_eq!(messages(&said), [json!({ "role": "user", "content": "fix it\n[file] a.png" })]);
        let mut answer = row(
            json!({ "role": "assistant", "modelID": "m-1", "time": { "created": 1 },
                    "tokens": { "input": 5, "output": 7, "reasoning": 0, "cache": { "read": 100, "write": 9 } } }),
            json!([
                { "type": "step-start" },
                { "type": "reasoning", "text": "t" },
                { "type": "text", "text": "I look.\n" },
                { "type": "tool", "callID": "c", "tool": "bash",
                  "state": { "status": "completed", "input": { "command": "ls" }, "output": "a" } },
                { "type": "tool", "callID": "d", "tool": "read", "state": { "status": "error", "input": {}, "error": "no" } },
                { "type": "tool", "callID": "e", "tool": "read", "state": { "status": "running", "input": {} } },
            ]),
        );
        let said = read(&answer, &mut tally);
        assert!(!said.is_complete && said.call.as_ref().is_some_and(|call| call.usage.contains(":100")), "{said:?}");
        let calls = [("c", "bash", json!({ "command": "ls" })), ("d", "read", json!({})), ("e", "read", json!({}))];
        assert_eq!(
            messages(&said),
            [
                json!({ "role": "assistant", "content": "I look.",
                        "tool_calls": calls.map(|(id, name, arguments)| parts::call(id, name, &arguments)) }),
                json!({ "role": "tool", "tool_call_id": "c", "name": "bash", "content": "a" }),
                json!({ "role": "tool", "tool_call_id": "d", "name": "read", "content": "no" }),
            ]
        );
        answer.data["time"]["completed"] = json!(2);
        assert!(read(&answer, &mut tally).is_complete);
        answer.data["summary"] = json!(true);
        assert!(read(&answer, &mut tally).messages.is_empty());
        assert!(read(&row(json!([]), json!([7, { "type": 7 }])), &mut tally).messages.is_empty());
    }
}
