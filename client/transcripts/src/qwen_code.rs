//! Transcripts of Qwen Code: for each session a file of JSON lines that only grows.

use serde_json::Value;

use crate::content::Content;
use crate::parts::{self, string};
use crate::records::new_records;
use crate::repeats::Repeats;
use crate::{ModelCall, Progress, Session, Tally, TimedMessage, Transcript, elements, time};

/// Elements that Qwen Code adds before and after the user's words.
const CONTEXT: [&str; 3] = ["system-reminder", "qwen:user-prompt-submit-context", "qwen:session-start-context"];

/// Who wrote a record that a person said.
const PERSON: &str = "real_user";

/// Reads the records of one file.
#[derive(Debug)]
pub struct Reader {
    sessions: Vec<Session>,
    repeats: Repeats,
    tally: Tally,
}

impl Reader {
    /// Creates a reader for a file. `name` is its name without the extension.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { sessions: vec![Session::new(name)], repeats: Repeats::default(), tally: Tally::default() }
    }

    fn record(&mut self, record: &Value) {
        self.facts(record);
        let is_of_person = string(record, "provenance").is_none_or(|from| from == PERSON);
        match string(record, "type") {
            Some("user") if is_of_person => self.said(record, "user"),
            Some("assistant") => self.said(record, "assistant"),
            Some("tool_result") => self.said(record, "tool"),
            Some("system") => self.note(record),
            kind => self.tally.add(kind.unwrap_or("record without a type")),
        }
    }

    /// Reads what every record says about the session.
    fn facts(&mut self, record: &Value) {
        let Some(session) = self.sessions.first_mut() else { return };
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
    fn said(&mut self, record: &Value, role: &str) {
        let content = record.pointer("/message/parts").unwrap_or(&Value::Null);
        let Content { text, calls, results } = Content::read(content, own_words, &mut self.tally);
        let mut messages = results;
        match role {
            "assistant" => messages.extend(parts::assistant(&text, calls)),
            "user" if !text.is_empty() => messages.push(parts::message("user", &text)),
            _ => {}
        }
        let time = record.get("timestamp").and_then(time::read);
        let Some(session) = self.sessions.first_mut() else { return };
        messages.into_iter().for_each(|message| session.push(TimedMessage { time, message }));
        if let (Some(usage), Some(id), Some(time)) = (record.get("usageMetadata"), string(record, "uuid"), time) {
            let (id, model, usage) = (id.to_owned(), session.model.clone(), usage.to_string());
            session.push_call(ModelCall { id, time, model, usage });
        }
    }

    /// Reads a record that Qwen Code made for itself.
    fn note(&mut self, record: &Value) {
        let payload = |name: &str| record.pointer(&format!("/systemPayload/{name}")).and_then(Value::as_str);
        let subtype = string(record, "subtype").unwrap_or("system");
        if let Some(session) = self.sessions.first_mut() {
            match subtype {
                "custom_title" => session.title = payload("customTitle").map(str::to_owned).or(session.title.take()),
                "parent_session" => session.parent = payload("parentSessionId").map(str::to_owned),
                _ => {}
            }
        }
        self.tally.add(if subtype == "chat_compression" { "summary" } else { "system" });
    }
}

impl Transcript for Reader {
    fn line(&mut self, line: &str) {
        let records = new_records(line, is_record, &mut self.repeats, &mut self.tally);
        records.iter().for_each(|record| self.record(record));
    }

    fn sessions(&mut self) -> &mut Vec<Session> {
        &mut self.sessions
    }

    fn ignored(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    fn resume(&mut self, id: &str, progress: Progress) {
        self.sessions = vec![Session::new(id)];
        self.repeats = progress.repeats;
    }

    fn progress(self: Box<Self>) -> Progress {
        Progress { repeats: self.repeats, ..Progress::default() }
    }
}

/// Returns whether an object is a whole record, not part of one.
fn is_record(object: &Value) -> bool {
    string(object, "type").is_some() && (object.get("sessionId").is_some() || object.get("uuid").is_some())
}

/// Returns what the user said in a part; `None` if Qwen Code added all of it.
fn own_words(text: &str) -> Option<&str> {
    let (words, added) = elements::without(text, &CONTEXT);
    (added == 0 || !words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests;
