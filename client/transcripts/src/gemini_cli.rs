//! Transcripts of Gemini CLI: for each session a file of JSON lines that only grows. A record may come again with the
//! calls of its message, and a patch (`$set`) may repeat the whole list, with ids that are known.

use serde_json::Value;

use crate::content::Content;
use crate::file::{FileReader, Form, SessionFile, time_of};
use crate::parts::{self, string};
use crate::{ModelCall, elements};

/// Reads the records of one file.
pub type Reader = FileReader<GeminiCli>;

/// The form of Gemini CLI's records.
#[derive(Debug)]
pub struct GeminiCli;

/// Elements that Gemini CLI adds before and after the user's words.
const CONTEXT: [&str; 2] = ["hook_context", "session_context"];

/// What the folder stands after in the context of a session.
const FOLDER: &str = "- **Workspace Directories:**\n";

/// The beginning of the message that a compression puts in the place of the others.
const SUMMARY: &str = "<state_snapshot>";

impl Form for GeminiCli {
    fn is_record(object: &Value) -> bool {
        ["sessionId", "$set", "$rewindTo"].iter().any(|name| object.get(name).is_some()) || has_message(object)
    }

    fn read(record: &Value, file: &mut SessionFile) {
        if has_message(record) {
            return message(record, file);
        }
        if let Some(id) = string(record, "sessionId") {
            file.session().id = id.to_owned();
        }
        if let Some(title) = record.pointer("/$set/summary").or_else(|| record.get("summary")).and_then(Value::as_str) {
            file.session().title = Some(title.to_owned());
        }
        let patched = record.pointer("/$set/messages").or_else(|| record.get("messages"));
        match patched.and_then(Value::as_array) {
            Some(messages) => messages.iter().for_each(|one| message(one, file)),
            None => file.note(),
        }
    }
}

fn has_message(object: &Value) -> bool {
    string(object, "id").is_some() && string(object, "type").is_some()
}

fn message(record: &Value, file: &mut SessionFile) {
    let id = string(record, "id").unwrap_or_default().to_owned();
    let time = time_of(record);
    let is_new = file.is_new(&format!("message {id}"));
    let content = record.get("content").unwrap_or(&Value::Null);
    match string(record, "type") {
        Some("user") if is_new => user(content, time, file),
        Some("gemini") => gemini(record, (&id, is_new), file),
        Some("user") => file.tally.add("duplicate record"),
        Some("info" | "warning" | "error") => file.note(),
        kind => file.tally.add(kind.unwrap_or("record without a type")),
    }
}

fn user(content: &Value, time: Option<f64>, file: &mut SessionFile) {
    note_folder(content, file);
    let read = Content::read(content, own_words, &mut file.tally);
    if read.text.starts_with(SUMMARY) {
        return file.tally.add("summary");
    }
    file.say_as_user(time, &read.text);
    // The results were in the record of the calls already, unless that came from an older version.
    for (result, part) in read.results.into_iter().zip(parts::each(content).iter().filter_map(response)) {
        if file.is_new(&format!("result {}", string(part, "id").unwrap_or_default())) {
            file.say(time, Some(result));
        }
    }
}

/// Reads an answer: its words when it comes first, and its calls with their results when it has them.
fn gemini(record: &Value, (id, is_new): (&str, bool), file: &mut SessionFile) {
    let time = time_of(record);
    let words = if is_new {
        Content::read(record.get("content").unwrap_or(&Value::Null), |text| Some(text), &mut file.tally).text
    } else {
        String::new()
    };
    let calls = record.get("toolCalls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let new: Vec<&Value> = calls.iter().filter(|call| file.is_new(&format!("call {}", call_id(call)))).collect();
    let made = |call: &&Value| {
        let name = string(call, "name").unwrap_or_default();
        parts::call(call_id(call), name, call.get("args").unwrap_or(&Value::Null))
    };
    file.say(time, parts::assistant(&words, new.iter().map(made).collect()));
    for call in calls {
        let Some(result) = call.get("result").filter(|result| !result.is_null()) else { continue };
        if file.is_new(&format!("result {}", call_id(call))) {
            let read = Content::read(result, |text| Some(text), &mut file.tally);
            read.results.into_iter().for_each(|result| file.say(time, Some(result)));
        }
    }
    let model = string(record, "model").map(str::to_owned);
    if model.is_some() {
        file.session().model.clone_from(&model);
    }
    if let (Some(tokens), Some(time), true) = (record.get("tokens"), time, is_new) {
        let usage = usage_of(tokens).to_string();
        file.session().push_call(ModelCall { id: id.to_owned(), time, model, usage });
    }
}

fn call_id(call: &Value) -> &str {
    string(call, "id").unwrap_or_default()
}

fn response(part: &Value) -> Option<&Value> {
    part.get("functionResponse")
}

/// Notes the folder that the context of the session names.
fn note_folder(content: &Value, file: &mut SessionFile) {
    if file.session().cwd.is_some() {
        return;
    }
    let text = parts::each(content).iter().find_map(|part| string(part, "text")).unwrap_or_default();
    let folder = text.split_once(FOLDER).and_then(|(_, rest)| rest.lines().next()?.trim().strip_prefix("- "));
    file.session().cwd = folder.map(|folder| folder.trim().to_owned());
}

/// Returns what the user said in a part; `None` if Gemini CLI added all of it.
fn own_words(text: &str) -> Option<&str> {
    let (words, added) = elements::without(text, &CONTEXT);
    (added == 0 || !words.is_empty()).then_some(words)
}

/// Returns a usage with the names that the provider has for its fields.
fn usage_of(tokens: &Value) -> Value {
    let count = |name: &str| tokens.get(name).and_then(Value::as_u64).unwrap_or(0);
    serde_json::json!({
        "promptTokenCount": count("input"), "candidatesTokenCount": count("output"),
        "cachedContentTokenCount": count("cached"), "thoughtsTokenCount": count("thoughts"),
        "totalTokenCount": count("total"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::file::testing::read;

    #[test]
    fn a_message_that_is_written_again_has_only_what_is_new() {
        let time = "2026-02-03T04:05:06.500Z";
        let said = |id: &str, kind: &str, content: Value| json!({ "id": id, "timestamp": time, "type": kind, "content": content });
        let context =
            "<session_context>\n- **Workspace Directories:**\n  - /w\n- **Directory Structure:**\n</session_context>";
        let start = said("0", "user", json!([{ "text": context }]));
        let response = json!([{ "functionResponse": { "id": "c", "name": "ls", "response": { "output": "a" } } }]);
        let mut answer = said("2", "gemini", json!("I look."));
        answer["model"] = json!("gemini-3");
        answer["tokens"] = json!({ "input": 1000, "output": 20, "cached": 500, "total": 1020 });
        let mut again = answer.clone();
        again["toolCalls"] = json!([{ "id": "c", "name": "ls", "args": { "path": "/" }, "result": response }]);
        let (mut session, messages, left_out) = read::<GeminiCli>(&[
            json!({ "sessionId": "g1", "projectHash": "h", "startTime": time, "lastUpdated": time, "kind": "main" }),
            json!({ "$set": { "messages": [start], "lastUpdated": time } }),
            said(
                "1",
                "user",
                json!([{ "text": "<hook_context>old</hook_context>\n\nmend it" }, { "text": "<hook_context>x</hook_context>" }]),
            ),
            json!({ "$set": { "lastUpdated": time } }),
            answer.clone(),
            again,
            said("3", "user", response),
            said("4", "gemini", json!([{ "text": "Done." }])),
            // A resumed session, and a compression.
            json!({ "$set": { "messages": [start, answer, said("2", "user", json!([{ "text": "mend it" }]))] } }),
            json!({ "$set": { "messages": [said("9", "user", json!([{ "text": "<state_snapshot>sum</state_snapshot>" }]))] } }),
            said("5", "info", json!("Compressed.")),
            json!({ "$rewindTo": "4" }),
        ]);
        assert_eq!(
            messages,
            [
                json!({ "role": "user", "content": "mend it" }),
                json!({ "role": "assistant", "content": "I look." }),
                json!({ "role": "assistant", "content": null, "tool_calls": [parts::call("c", "ls", &json!({ "path": "/" }))] }),
                json!({ "role": "tool", "tool_call_id": "c", "name": "ls", "content": "a" }),
                json!({ "role": "assistant", "content": "Done." }),
            ]
        );
        assert_eq!(
            (session.id.as_str(), session.cwd.as_deref(), session.model.as_deref()),
            ("g1", Some("/w"), Some("gemini-3"))
        );
        assert_eq!(session.take_calls().len(), 1);
        let counted = |kind: &str| left_out.iter().find(|(name, _)| name == kind).map(|(_, count)| *count);
        assert_eq!((counted("summary"), counted("duplicate record")), (Some(1), Some(2)), "{left_out:?}");
    }

    #[test]
    fn a_whole_list_in_one_record_is_read_too() {
        let one = json!({ "id": "1", "timestamp": "2026-02-03T04:05:06Z", "type": "user", "content": "look" });
        let other =
            json!({ "id": "2", "timestamp": "2026-02-03T04:05:07Z", "type": "gemini", "content": "It is there." });
        let (session, messages, _) = read::<GeminiCli>(&[json!({ "sessionId": "g2", "messages": [one, other] })]);
        assert_eq!((session.id.as_str(), messages.len()), ("g2", 2));
    }
}
