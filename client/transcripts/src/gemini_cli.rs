//! Transcripts of Gemini CLI: for each session a file of JSON lines that only grows. A record may come again with the
//! calls of its message, and a patch (`$set`) may repeat the whole list, with ids that are known.

use serde_json::Value;

use crate::content::Content;
use crate::file::{FileReader, Form, SessionFile, time_of};
use crate::parts::{self, string};
use crate::{ModelCall, Tally, elements};

/// Reads the records of one file.
pub type Reader = FileReader<GeminiCli>;

/// The form of Gemini CLI's records.
#[derive(Debug)]
pub struct GeminiCli;

/// Elements that Gemini CLI adds before and after the user's words.
const CONTEXT: [&str; 2] = ["hook_context", "session_context"];

/// What the folder stands after in the context of a session.
const FOLDER: &str = "- **Workspace Directories:**\n";

/// The element that a compression puts in the place of the other messages.
const SUMMARY: &str = "state_snapshot";

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
    let id = string(record, "id").unwrap_or_default();
    let time = time_of(record);
    match string(record, "type") {
        Some("user") if file.is_new("message", id) => user(record.get("content").unwrap_or(&Value::Null), time, file),
        // The id of an answer is known from its words, and a list that is repeated gives it to its results, too.
        Some("gemini") => gemini(record, id, file),
        Some("user") => file.tally.add("duplicate record"),
        Some("info" | "warning" | "error") => file.note(),
        kind => file.tally.add(kind.unwrap_or("record without a type")),
    }
}

fn user(content: &Value, time: Option<f64>, file: &mut SessionFile) {
    note_folder(content, file);
    let read = Content::read(content, own_words, &mut file.tally);
    if is_summary(&read.text) {
        file.tally.add("summary");
    } else {
        file.say_as_user(time, &read.text);
    }
    // The results were in the record of the calls already, unless that came from an older version.
    for (id, result) in read.results {
        if file.is_new("result", &id) {
            file.say(time, Some(result));
        }
    }
}

/// Returns whether a text is the summary that a compression puts in the place of the other messages, and nothing else.
fn is_summary(text: &str) -> bool {
    elements::first(text, &[SUMMARY]).is_some_and(|summary| summary.rest.trim().is_empty())
}

/// Reads an answer: its words, its calls and their results, each when it comes first.
fn gemini(record: &Value, id: &str, file: &mut SessionFile) {
    let time = time_of(record);
    // A list that is repeated has the ids of answers that were read.
    file.is_new("message", id);
    let said = Content::read(record.get("content").unwrap_or(&Value::Null), |text| Some(text), &mut file.tally);
    let is_said = !said.text.is_empty() && file.is_new("words", id);
    let words = if is_said { said.text.as_str() } else { "" };
    let calls = record.get("toolCalls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let made = |call: &Value| {
        let name = string(call, "name").unwrap_or_default();
        parts::call(call_id(call), name, call.get("args").unwrap_or(&Value::Null))
    };
    let all = said.calls.into_iter().chain(calls.iter().map(made));
    let new: Vec<Value> = all.filter(|call| file.is_new("call", call_id(call))).collect();
    file.say(time, parts::assistant(words, new));
    let of_calls = calls.iter().flat_map(|call| results(call, &mut file.tally)).collect::<Vec<_>>();
    for (id, result) in said.results.into_iter().chain(of_calls) {
        if file.is_new("result", &id) {
            file.say(time, Some(result));
        }
    }
    let model = string(record, "model").map(str::to_owned);
    if model.is_some() {
        file.session().model.clone_from(&model);
    }
    if let (Some(tokens), Some(time)) = (record.get("tokens").filter(|tokens| tokens.is_object()), time)
        && file.is_new("tokens", id)
    {
        let usage = usage_of(tokens).to_string();
        file.session().push_call(ModelCall { id: id.to_owned(), time, model, usage });
    }
}

/// Returns the results of a call, with its id.
fn results(call: &Value, tally: &mut Tally) -> Vec<(String, String)> {
    let Some(result) = call.get("result").filter(|result| !result.is_null()) else { return Vec::new() };
    let read = Content::read(result, |text| Some(text), tally);
    // Text next to a result has a key of its own.
    let key = if read.results.is_empty() { call_id(call).to_owned() } else { format!("{} text", call_id(call)) };
    let text = (!read.text.is_empty()).then(|| (key, parts::result(call_id(call), string(call, "name"), &read.text)));
    read.results.into_iter().chain(text).collect()
}

fn call_id(call: &Value) -> &str {
    string(call, "id").unwrap_or_default()
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
                json!([{ "text": "<hook_context>old</hook_context>\n\nfix it" }, { "text": "<hook_context>x</hook_context>" }]),
            ),
            json!({ "$set": { "lastUpdated": time } }),
            answer.clone(),
            again,
            said("3", "user", response),
            said("4", "gemini", json!([{ "text": "Done." }])),
            // A resumed session, and a compression.
            json!({ "$set": { "messages": [start, answer, said("2", "user", json!([{ "text": "fix it" }]))] } }),
            json!({ "$set": { "messages": [said("9", "user", json!([{ "text": "<state_snapshot>sum</state_snapshot>" }]))] } }),
            said("5", "info", json!("Compressed.")),
            json!({ "$rewindTo": "4" }),
        ]);
        assert_eq!(
            messages,
            [
                json!({ "role": "user", "content": "fix it" }),
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

    #[test]
    fn nothing_is_lost_for_want_of_an_id_or_in_an_odd_place() {
        let time = "2026-02-03T04:05:06Z";
        let one = |id: &str, kind: &str, content: Value| json!({ "id": id, "timestamp": time, "type": kind, "content": content });
        let call = |name: &str| json!({ "name": name, "args": {}, "result": "plain" });
        let mut answer = one("2", "gemini", json!([{ "functionCall": { "id": "c", "name": "ls" } }]));
        answer["toolCalls"] = json!([call("a"), call("b")]);
        let mut later = one("2", "gemini", json!("Now with words."));
        later["tokens"] = json!({ "input": 5, "output": 7 });
        let (mut session, messages, _) = read::<GeminiCli>(&[
            json!({ "sessionId": "g", "messages": [{ "type": "user", "content": "a" }, { "type": "user", "content": "b" }] }),
            one("1", "user", json!("<state_snapshot>quoted</state_snapshot>\nnow fix the port")),
            answer,
            later,
        ]);
        let texts: Vec<String> = messages.iter().map(ToString::to_string).collect();
        let all = texts.join("\n");
        assert_eq!(messages.len(), 7, "{all}");
        for part in ["\"a\"", "\"b\"", "now fix the port", "\"id\":\"c\"", "plain", "Now with words."] {
            assert!(all.contains(part), "{part} in {all}");
        }
        assert_eq!(session.take_calls().len(), 1);
    }
}
