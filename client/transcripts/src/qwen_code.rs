//! Transcripts of Qwen Code: for each session a file of JSON lines that only grows.

use serde_json::Value;

use crate::content::Content;
use crate::file::{FileReader, Form, SessionFile, time_of};
use crate::parts::{self, string};
use crate::{ModelCall, Session, elements};

/// Elements that Qwen Code adds before and after the user's words.
const CONTEXT: [&str; 3] = ["system-reminder", "qwen:user-prompt-submit-context", "qwen:session-start-context"];

/// Who wrote a record that a person said.
const PERSON: &str = "real_user";

/// Reads the records of one file.
pub type Reader = FileReader<QwenCode>;

/// The form of Qwen Code's records.
#[derive(Debug)]
pub struct QwenCode;

impl Form for QwenCode {
    fn is_record(object: &Value) -> bool {
        string(object, "type").is_some() && (object.get("sessionId").is_some() || object.get("uuid").is_some())
    }

    fn read(record: &Value, file: &mut SessionFile) {
        facts(record, file.session());
        let is_of_person = string(record, "provenance").is_none_or(|from| from == PERSON);
        match string(record, "type") {
            Some("user") if is_of_person => said(record, "user", file),
            Some("assistant") => said(record, "assistant", file),
            Some("tool_result") => said(record, "tool", file),
            Some("system") => note(record, file),
            kind => file.tally.add(kind.unwrap_or("record without a type")),
        }
    }
}

/// Reads what every record says about the session.
fn facts(record: &Value, session: &mut Session) {
    if session.cwd.is_none() {
        session.cwd = string(record, "cwd").map(str::to_owned);
    }
    if let Some(branch) = string(record, "gitBranch").filter(|branch| !branch.is_empty()) {
        session.branch = Some(branch.to_owned());
    }
    if let Some(model) = string(record, "model") {
        session.model = Some(model.to_owned());
    }
}

/// Reads a record of the conversation.
fn said(record: &Value, role: &str, file: &mut SessionFile) {
    let content = record.pointer("/message/parts").unwrap_or(&Value::Null);
    let words: fn(&str) -> Option<&str> = if role == "user" { own_words } else { |text| Some(text) };
    let Content { text, calls, results } = Content::read(content, words, &mut file.tally);
    let time = time_of(record);
    results.into_iter().for_each(|(_, result)| file.say(time, Some(result)));
    match role {
        "assistant" => file.say(time, parts::assistant(&text, calls)),
        "user" => file.say_as_user(time, &text),
        _ => file.say(time, (!text.is_empty()).then(|| parts::result("", None, &text))),
    }
    if let (Some(usage), Some(id), Some(time)) = (record.get("usageMetadata"), string(record, "uuid"), time) {
        let session = file.session();
        let (id, model, usage) = (id.to_owned(), session.model.clone(), usage.to_string());
        session.push_call(ModelCall { id, time, model, usage });
    }
}

/// Reads a record that Qwen Code made for itself.
fn note(record: &Value, file: &mut SessionFile) {
    let payload = |name: &str| record.pointer(&format!("/systemPayload/{name}")).and_then(Value::as_str);
    let session = file.session();
    match string(record, "subtype") {
        Some("custom_title") => session.title = payload("customTitle").map(str::to_owned).or(session.title.take()),
        Some("parent_session") => session.parent = payload("parentSessionId").map(str::to_owned),
        Some("chat_compression") => return file.tally.add("summary"),
        _ => {}
    }
    file.note();
}

/// Returns what the user said in a part; `None` if Qwen Code added all of it.
fn own_words(text: &str) -> Option<&str> {
    let (words, added) = elements::without(text, &CONTEXT);
    (added == 0 || !words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests;
