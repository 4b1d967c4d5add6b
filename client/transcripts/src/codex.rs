//! Transcripts of Codex: for each session a file of JSON lines, which Codex calls a rollout.

use std::collections::HashMap;

use serde_json::Value;

use crate::elements;
use crate::parts::{self, string};
use crate::records::new_records;
use crate::repeats::Repeats;
use crate::{ModelCall, Progress, Session, Tally, TimedMessage, Transcript, time};

/// Elements that Codex adds before and after the user's words.
const CONTEXT: [&str; 5] =
    ["environment_context", "user_instructions", "permissions instructions", "turn_aborted", "subagent_notification"];

/// The heading before the instructions of a project, and the element that contains them.
const HEADING: &str = "# AGENTS.md instructions";
const INSTRUCTIONS: &str = "INSTRUCTIONS";

/// The chars of an id at the end of a rollout's name.
const ID: usize = 36;

/// The kind of a record with the usage of a model call.
const USAGE: &str = "token_usage_record";

/// Reads the records of one file.
#[derive(Debug)]
pub struct Reader {
    sessions: Vec<Session>,
    /// The names of tools, by the ids of their calls.
    tools: HashMap<String, String>,
    repeats: Repeats,
    tally: Tally,
    is_named: bool,
    /// Whether the file has usage records in addition to events.
    has_usage_records: bool,
}

impl Reader {
    /// Creates a reader for a file. `name` is its name without the extension.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let id = name.len().checked_sub(ID).and_then(|at| name.get(at..)).unwrap_or(name);
        let sessions = vec![Session::new(id)];
        Self {
            sessions,
            tools: HashMap::new(),
            repeats: Repeats::default(),
            tally: Tally::default(),
            is_named: false,
            has_usage_records: false,
        }
    }

    fn record(&mut self, record: &Value) {
        let time = record.get("timestamp").and_then(time::read);
        let kind = string(record, "type");
        let Some(payload) = record.get("payload") else {
            // Rollouts of 2025 have no envelope around a record.
            return match kind {
                None if record.get("id").is_some() => self.meta(record),
                _ => self.item(record, time),
            };
        };
        match kind {
            Some("session_meta") => self.meta(payload),
            Some("turn_context") => self.context(payload),
            Some("response_item") => self.item(payload, time),
            Some(kind) => {
                self.tally.add(kind);
                self.note_event(kind, payload);
                self.model_call(kind, payload, time);
            }
            None => self.tally.add("record without a type"),
        }
    }

    /// Reads a record about the session. A forked session also contains this record of its parent, after its own.
    fn meta(&mut self, meta: &Value) {
        let is_first = !std::mem::replace(&mut self.is_named, true);
        let Some(session) = self.sessions.first_mut().filter(|_| is_first) else { return };
        if let Some(id) = string(meta, "id").or_else(|| string(meta, "session_id")) {
            session.id = id.to_owned();
        }
        session.cwd = string(meta, "cwd").map(str::to_owned);
        session.branch = meta.pointer("/git/branch").and_then(Value::as_str).map(str::to_owned);
        let spawned = meta.pointer("/source/subagent/thread_spawn/parent_thread_id").and_then(Value::as_str);
        session.parent = string(meta, "forked_from_id").or(spawned).map(str::to_owned);
    }

    fn context(&mut self, context: &Value) {
        let Some(session) = self.sessions.first_mut() else { return };
        if let Some(model) = string(context, "model") {
            session.model = Some(model.to_owned());
        }
        if session.cwd.is_none() {
            session.cwd = string(context, "cwd").map(str::to_owned);
        }
    }

    /// Reads what an event says about the session: its name, or the model's window.
    fn note_event(&mut self, kind: &str, event: &Value) {
        let Some(session) = self.sessions.first_mut().filter(|_| kind == "event_msg") else { return };
        match string(event, "type") {
            Some("thread_name_updated") => {
                if let Some(name) = string(event, "thread_name") {
                    session.title = Some(name.to_owned());
                }
            }
            Some("task_started" | "token_count") => {
                let window = ["/model_context_window", "/info/model_context_window"];
                let window = window.iter().find_map(|at| event.pointer(at).and_then(Value::as_u64));
                session.window = window.filter(|window| *window > 0).or(session.window);
            }
            _ => {}
        }
    }

    /// Reads the usage of a model call from a usage record (since 0.171) or an event. The sum of tokens in the thread
    /// after the call identifies the call, because the event is repeated if only a rate limit changes.
    fn model_call(&mut self, kind: &str, payload: &Value, time: Option<f64>) {
        let Some(session) = self.sessions.first_mut() else { return };
        let (sum, usage) = match kind {
            // A forked thread repeats the records of its parent.
            USAGE if string(payload, "thread_id").is_none_or(|thread| thread == session.id) => {
                ("/thread_token_usage/total_tokens", "/usage")
            }
            "event_msg" if !self.has_usage_records && string(payload, "type") == Some("token_count") => {
                ("/info/total_token_usage/total_tokens", "/info/last_token_usage")
            }
            _ => return self.has_usage_records |= kind == USAGE,
        };
        self.has_usage_records |= kind == USAGE;
        let (sum, usage) = (payload.pointer(sum).and_then(Value::as_u64), payload.pointer(usage));
        if let (Some(sum), Some(usage), Some(time)) = (sum, usage, time) {
            let (id, model) = (format!("tokens-{sum}"), session.model.clone());
            session.push_call(ModelCall { id, time, model, usage: usage.to_string() });
        }
    }

    fn item(&mut self, item: &Value, time: Option<f64>) {
        let field = |name| string(item, name).unwrap_or_default();
        let message = match string(item, "type") {
            Some("message") => self.message(item),
            None if item.get("role").is_some() => self.message(item),
            Some("function_call") => self.call(item, &self.tool(item), item.get("arguments")),
            Some("custom_tool_call") => self.call(item, &self.tool(item), item.get("input")),
            Some("local_shell_call") => self.call(item, "local_shell", item.get("action")),
            Some("function_call_output" | "custom_tool_call_output" | "local_shell_call_output") => {
                let id = field("call_id");
                let text = self.output(item.get("output").unwrap_or(&Value::Null));
                Some(parts::result(id, self.tools.get(id).map(String::as_str), &text))
            }
            kind => {
                self.tally.add(kind.unwrap_or("record without a type"));
                None
            }
        };
        if let (Some(message), Some(session)) = (message, self.sessions.first_mut()) {
            session.push(TimedMessage { time, message });
        }
    }

    fn message(&mut self, item: &Value) -> Option<String> {
        let content = item.get("content").unwrap_or(&Value::Null);
        match string(item, "role") {
            Some("user") => {
                let text = self.said(content);
                (!text.is_empty()).then(|| parts::message("user", &text))
            }
            Some("assistant") => parts::assistant(&parts::text(content, &mut self.tally), Vec::new()),
            role => {
                self.tally.add(&format!("{} message", role.unwrap_or("nobody's")));
                None
            }
        }
    }

    /// Returns what the user said in the parts of a content.
    fn said(&mut self, content: &Value) -> String {
        let mut said = String::new();
        for part in parts::each(content) {
            let part = parts::text(part, &mut self.tally);
            let (words, added) = words(&part);
            (0..added).for_each(|_| self.tally.add("context of the client"));
            parts::push(&mut said, words);
        }
        said
    }

    /// Returns the name of a tool, prefixed with its server's name.
    fn tool(&self, item: &Value) -> String {
        let name = string(item, "name").unwrap_or_default();
        string(item, "namespace").map_or_else(|| name.to_owned(), |server| format!("{server}__{name}"))
    }

    fn call(&mut self, item: &Value, name: &str, arguments: Option<&Value>) -> Option<String> {
        let id = string(item, "call_id").or_else(|| string(item, "id")).unwrap_or_default();
        self.tools.insert(id.to_owned(), name.to_owned());
        parts::assistant("", vec![parts::call(id, name, arguments.unwrap_or(&Value::Null))])
    }

    /// Returns the text of an output. Older outputs are JSON in a text, with the output and the exit code.
    fn output(&mut self, output: &Value) -> String {
        let text = parts::text(output, &mut self.tally);
        let Ok(Value::Object(fields)) = serde_json::from_str(&text) else { return text };
        let Some(Value::String(inner)) = fields.get("output") else { return text };
        match fields.get("metadata").and_then(|metadata| metadata.get("exit_code")).and_then(Value::as_i64) {
            Some(code) if code != 0 => format!("{inner}\n[exit code {code}]"),
            _ => inner.clone(),
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

    fn resume(&mut self, id: &str, progress: Progress) {
        self.sessions = vec![Session::new(id)];
        (self.tools, self.repeats, self.is_named) = (progress.tools, progress.repeats, true);
    }

    fn progress(self: Box<Self>) -> Progress {
        Progress { tools: self.tools, repeats: self.repeats, ..Progress::default() }
    }
}

/// Returns whether an object is a record. In a torn record, an item counts as a record of 2025.
fn is_record(object: &Value) -> bool {
    object.get("payload").is_some() || string(object, "type").is_some()
}

/// Returns what the user said in a text, and how many parts Codex added.
fn words(text: &str) -> (&str, usize) {
    let (words, added) = elements::without(text, &CONTEXT);
    // The instructions of a project have a heading of one line before their element.
    let after = words.trim_start().strip_prefix(HEADING).and_then(|text| Some(text.split_once('\n')?.1));
    match after.and_then(|after| elements::first(after, &[INSTRUCTIONS])) {
        Some(instructions) => {
            let (words, more) = self::words(instructions.rest);
            (words.trim(), added + more + 1)
        }
        None => (words, added),
    }
}

#[cfg(test)]
mod tests;
