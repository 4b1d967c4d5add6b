//! Transcripts of Claude Code: for each session a file of JSON lines that only grows.

mod user_text;

use std::collections::HashMap;

use serde_json::Value;

use crate::anthropic;
use crate::parts::{self, string};
use crate::records::new_records;
use crate::repeats::Repeats;
use crate::{ModelCall, Progress, Session, SlashCommand, Tally, TimedMessage, Transcript, time};
use user_text::UserText;

/// The type of a record with words that the user sent while the model worked.
const QUEUED: &str = "queued_command";

/// The chars of the longest command prompt that counts as the user's words. A longer prompt is a manual, such as a
/// skill's.
const PROMPT: usize = 4_000;

/// The model name of a record that no model wrote.
const SYNTHETIC: &str = "<synthetic>";

/// Reads the records of one file. The agents that the session started have sessions of their own.
#[derive(Debug)]
pub struct Reader {
    /// The file's name without its extension.
    name: String,
    sessions: Vec<Session>,
    /// The names of tools, by the ids of their calls.
    tools: HashMap<String, String>,
    /// The messages and records that a compaction may write again.
    repeats: Repeats,
    /// The id of the last compaction's record.
    boundary: Option<String>,
    /// The last slash command, whose prompt may follow.
    command: Option<SlashCommand>,
    tally: Tally,
}

impl Reader {
    /// Creates a reader for a file. `name` is its name without the extension.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            sessions: Vec::new(),
            tools: HashMap::new(),
            repeats: Repeats::default(),
            boundary: None,
            command: None,
            tally: Tally::default(),
        }
    }

    fn record(&mut self, record: &Value) {
        match string(record, "type") {
            Some("user") if flag(record, "isMeta") => self.prompt(record),
            Some("assistant") if flag(record, "isMeta") => self.tally.add("meta"),
            Some("user" | "assistant") if flag(record, "isCompactSummary") => self.tally.add("summary"),
            Some("user") if self.is_of_plugin(record) => self.tally.add("summary"),
            Some("user" | "assistant") if flag(record, "isApiErrorMessage") => self.tally.add("API error"),
            Some("user") => self.user(record),
            Some("assistant") => self.assistant(record),
            Some("attachment") if record.pointer("/attachment/type").and_then(Value::as_str) == Some(QUEUED) => {
                self.queued(record);
            }
            Some(kind) => {
                if string(record, "subtype") == Some("compact_boundary") {
                    self.boundary = string(record, "uuid").map(str::to_owned);
                    self.repeats.begin();
                }
                self.title(kind, record);
                self.tally.add(kind);
            }
            None => self.tally.add("record without a type"),
        }
    }

    fn user(&mut self, record: &Value) {
        let content = record.get("message").and_then(|message| message.get("content")).unwrap_or(&Value::Null);
        let mut messages = Vec::new();
        let mut text = String::new();
        for part in parts::each(content) {
            if string(part, "type") == Some("tool_result") {
                let id = string(part, "tool_use_id").unwrap_or_default();
                let answer = parts::text(part.get("content").unwrap_or(&Value::Null), &mut self.tally);
                messages.push(parts::result(id, self.tools.get(id).map(String::as_str), &answer));
            } else {
                let part = parts::text(part, &mut self.tally);
                match self.said(&part, record) {
                    Some(words) => parts::push(&mut text, &words),
                    None => self.tally.add("command"),
                }
            }
        }
        if !text.is_empty() {
            messages.push(parts::message("user", &text));
        }
        self.push(record, messages);
    }

    /// Returns what the user said in a text. Returns `None` if Claude Code generated the whole text, or if the prompt
    /// of a command without arguments has not been read yet.
    fn said(&mut self, text: &str, record: &Value) -> Option<String> {
        match UserText::parse(text) {
            UserText::Words(words) => Some(words),
            UserText::Generated => None,
            UserText::Command { name, arguments } => {
                let said = arguments.map(|arguments| format!("{name} {arguments}"));
                if let Some(id) = string(record, "uuid") {
                    let name = said.is_none().then_some(name);
                    self.command = Some(SlashCommand { id: id.to_owned(), name });
                }
                said
            }
        }
    }

    /// Reads a record that Claude Code generated. The one right after a slash command is the command's prompt, so it is
    /// a request of the user.
    fn prompt(&mut self, record: &Value) {
        let command = self.command.take_if(|command| string(record, "parentUuid") == Some(&command.id));
        let Some(command) = command else { return self.tally.add("meta") };
        let content = record.get("message").and_then(|message| message.get("content")).unwrap_or(&Value::Null);
        let text = parts::text(content, &mut self.tally);
        if text.is_empty() || text.chars().count() > PROMPT {
            return self.tally.add("meta");
        }
        let text = match command.name {
            Some(name) => format!("{name}\n{text}"),
            None => text,
        };
        self.push(record, vec![parts::message("user", &text)]);
    }

    fn queued(&mut self, record: &Value) {
        let text = parts::text(record.pointer("/attachment/prompt").unwrap_or(&Value::Null), &mut self.tally);
        let said = self.said(&text, record).filter(|said| !said.is_empty());
        self.push(record, said.map(|said| parts::message("user", &said)).into_iter().collect());
    }

    fn assistant(&mut self, record: &Value) {
        let message = record.get("message").unwrap_or(&Value::Null);
        if string(message, "model") == Some(SYNTHETIC) {
            return self.tally.add("API error");
        }
        let content = message.get("content").unwrap_or(&Value::Null);
        let said = anthropic::assistant(content, &mut self.tools, &mut self.tally);
        self.push(record, said.into_iter().collect());
        if let Some(model) = string(message, "model") {
            self.session(record).model = Some(model.to_owned());
        }
        if let Some(call) = model_call(record, message) {
            self.session(record).push_call(call);
        }
    }

    /// Returns whether a plugin wrote the record during a compaction: a summary, or a shorter result. It is not a new
    /// message.
    fn is_of_plugin(&self, record: &Value) -> bool {
        self.boundary.is_some() && string(record, "rowSource") == Some("hook")
    }

    fn push(&mut self, record: &Value, messages: Vec<String>) {
        let time = record.get("timestamp").and_then(time::read);
        let (new, again): (Vec<_>, Vec<_>) =
            messages.into_iter().partition(|message| self.repeats.is_new(time, message));
        again.iter().for_each(|_| self.tally.add("repeated by a compaction"));
        let session = self.session(record);
        new.into_iter().for_each(|message| session.push(TimedMessage { time, message }));
    }

    /// Returns the session of a record.
    fn session(&mut self, record: &Value) -> &mut Session {
        let (id, parent) = self.place(record);
        let at = self.sessions.iter().position(|session| session.id == id).unwrap_or_else(|| {
            self.sessions.push(Session::new(id));
            self.sessions.len() - 1
        });
        let session = &mut self.sessions[at];
        session.parent = session.parent.take().or(parent);
        if session.cwd.is_none() {
            session.cwd = string(record, "cwd").map(str::to_owned);
        }
        if let Some(branch) = string(record, "gitBranch").filter(|branch| !branch.is_empty()) {
            session.branch = Some(branch.to_owned());
        }
        session
    }

    /// Returns the id of the record's session and the id of that session's parent.
    fn place(&self, record: &Value) -> (String, Option<String>) {
        if !flag(record, "isSidechain") {
            let forked = record.pointer("/forkedFrom/sessionId").and_then(Value::as_str);
            return (self.name.clone(), forked.filter(|from| *from != self.name).map(str::to_owned));
        }
        let parent = string(record, "sessionId").unwrap_or(&self.name);
        let agent = string(record, "agentId").unwrap_or("sidechain");
        (format!("{parent}/{agent}"), Some(parent.to_owned()))
    }

    /// Sets the title of the session if the record contains one. A summary may be that of another session, so it counts
    /// only after a message.
    fn title(&mut self, kind: &str, record: &Value) {
        let title = match kind {
            "summary" => string(record, "summary"),
            "ai-title" => string(record, "aiTitle").or_else(|| string(record, "title")),
            "custom-title" => string(record, "customTitle").or_else(|| string(record, "title")),
            _ => None,
        };
        let Some(title) = title.map(str::to_owned) else { return };
        let own = self.sessions.iter_mut().find(|session| session.id == self.name);
        match own {
            Some(session) => session.title = Some(title),
            None if kind != "summary" => {
                self.sessions.push(Session { title: Some(title), ..Session::new(&self.name) });
            }
            None => {}
        }
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

    fn resume(&mut self, _: &str, progress: Progress) {
        let Progress { tools, repeats, boundary, command } = progress;
        (self.tools, self.repeats, self.boundary, self.command) = (tools, repeats, boundary, command);
    }

    fn progress(self: Box<Self>) -> Progress {
        let Self { tools, repeats, boundary, command, .. } = *self;
        Progress { tools, repeats, boundary, command }
    }
}

/// Returns whether an object is a whole record, not part of one.
fn is_record(object: &Value) -> bool {
    let has = |name: &&str| object.get(*name).is_some();
    string(object, "type").is_some() && ["uuid", "timestamp", "sessionId", "message", "summary"].iter().any(has)
}

/// Returns the model call whose answer a record contains. A fork repeats the records of its parent session; those calls
/// are not its own.
fn model_call(record: &Value, message: &Value) -> Option<ModelCall> {
    let usage = message.get("usage").filter(|usage| usage.is_object() && record.get("forkedFrom").is_none())?;
    Some(ModelCall {
        id: string(message, "id")?.to_owned(),
        time: record.get("timestamp").and_then(time::read)?,
        model: string(message, "model").map(str::to_owned),
        usage: usage.to_string(),
    })
}

fn flag(record: &Value, field: &str) -> bool {
    record.get(field).and_then(Value::as_bool).unwrap_or(false)
}

#[cfg(test)]
mod tests;
