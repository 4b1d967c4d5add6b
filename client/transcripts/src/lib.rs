//! Reads conversations in the formats of other programs and converts them to herma's form: chat completion messages
//! with times, by session.
//!
//! This crate opens no files. A [`Transcript`] ([`claude_code::Reader`], [`codex::Reader`], [`qwen_code::Reader`]) gets one line after the
//! other, [`chatgpt::read`] a whole conversation, [`hermes::message`], [`cursor_editor::read`] and [`opencode::read`] a row. Reading is deterministic, so the position
//! of a message identifies it. Records that are not part of the conversation are left out, and a [`Tally`] counts them
//! by kind. No content of a file makes a reader fail. [`wire`] reads what passes between an agent and its model.

pub mod aider;
mod anthropic;
pub mod antigravity;
pub mod chatgpt;
pub mod claude_code;
pub mod cline;
pub mod codex;
mod content;
pub mod copilot;
pub mod cursor;
pub mod cursor_editor;
mod elements;
mod file;
pub mod gemini_cli;
pub mod goose;
pub mod grok;
pub mod hermes;
pub mod kimi;
pub mod opencode;
mod parts;
pub mod pi;
pub mod qwen_code;
mod records;
mod repeats;
mod tally;
mod time;
pub mod wire;
pub mod zed;

use std::collections::HashMap;
use std::fmt::Debug;

pub use file::{FileReader, Form, SessionFile};
pub use records::{is_blank, is_complete};
pub use repeats::{Repeats, SavedRepeats};
pub use tally::{Tally, UNFINISHED, is_note};

/// The reader of a session file to which an agent appends lines. It gets one line after the other.
pub trait Transcript: Debug {
    /// Reads a line.
    fn line(&mut self, line: &str);

    /// Returns the sessions read so far: the file's session and those that it started.
    fn sessions(&mut self) -> &mut Vec<Session>;

    /// Returns what was ignored since the last call.
    fn ignored(&mut self) -> Tally;

    /// Handles the end of a file: a message whose pieces may go on is said if the file `is_over`. Returns whether nothing
    /// waits.
    fn end(&mut self, _is_over: bool) -> bool {
        true
    }

    /// Continues where another reader of the same file ended. `id` is the id of the file's session.
    fn resume(&mut self, id: &str, progress: Progress);

    /// Returns the state that the next reader of the file needs.
    fn progress(self: Box<Self>) -> Progress;
}

/// The state that a reader needs to continue where another reader of the same file ended.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// The names of tools, by the ids of their calls.
    pub tools: HashMap<String, String>,
    /// Messages and records that the agent may write again.
    pub repeats: Repeats,
    /// The id of the last compaction's record.
    pub boundary: Option<String>,
    /// The last slash command, whose prompt may follow.
    pub command: Option<SlashCommand>,
}

/// A slash command whose prompt the agent may record after it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlashCommand {
    /// The id of its record, which is the parent of its prompt.
    pub id: String,
    /// Its name if it has no arguments: then the command itself is no message yet.
    pub name: Option<String>,
}

/// A session of another program, as far as it was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    /// The id that the other program gave it.
    pub id: String,
    /// The other program's id of the session that this one was forked or started from.
    pub parent: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// The model that the file named last.
    pub model: Option<String>,
    /// The folder that the agent worked in.
    pub cwd: Option<String>,
    /// The branch of the folder's repository that the file named last.
    pub branch: Option<String>,
    /// The window of the model in tokens, if the file names it.
    pub window: Option<u64>,
    /// The number of messages that were taken before.
    taken: u64,
    calls: Vec<ModelCall>,
    said: Vec<TimedMessage>,
    /// The bytes of `said`.
    waiting: usize,
}

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedMessage {
    /// The time of the message in Unix seconds, if known.
    pub time: Option<f64>,
    /// The message, as JSON text.
    pub message: String,
}

/// A call of a model, with the usage that the provider reported.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    /// The provider's id of the answer. Several records may have the same one.
    pub id: String,
    /// When the answer was recorded, in Unix seconds.
    pub time: f64,
    /// The model.
    pub model: Option<String>,
    /// The provider's usage object, as JSON text.
    pub usage: String,
}

impl Session {
    /// Creates a session without messages.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    /// Adds a message.
    pub fn push(&mut self, said: TimedMessage) {
        self.waiting += said.message.len();
        self.said.push(said);
    }

    /// Adds a call.
    pub fn push_call(&mut self, call: ModelCall) {
        self.calls.push(call);
    }

    /// Returns whether calls were read that were not taken yet.
    #[must_use]
    pub const fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Returns the calls that were read since the last call of this function.
    pub fn take_calls(&mut self) -> Vec<ModelCall> {
        std::mem::take(&mut self.calls)
    }

    /// Sets how many messages of the session precede the ones read from now on.
    pub const fn begin_at(&mut self, messages: u64) {
        self.taken = messages;
    }

    /// Returns whether no message was read.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.taken == 0 && self.said.is_empty()
    }

    /// Returns the bytes of the messages that were not taken yet.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Returns the messages read since the last call, and the index of the first of them in the session, from 0.
    pub fn take(&mut self) -> (u64, Vec<TimedMessage>) {
        let (first, said) = (self.taken, std::mem::take(&mut self.said));
        self.waiting = 0;
        self.taken = first.saturating_add(u64::try_from(said.len()).unwrap_or(u64::MAX));
        (first, said)
    }
}
