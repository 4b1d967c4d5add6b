//! Reads what other programs keep of conversations, and says it in herma's form: messages as chat completions
//! have them, with times, by session.
//!
//! No file is opened here. A [`Transcript`] ([`claude_code::Reader`], [`codex::Reader`]) is given one line after the
//! other; [`chatgpt::read`] gets a whole conversation, [`hermes::message`] a row. What was read is the same however
//! often it is read, so that a message is known by its place. What is no part of the conversation is left out, and
//! counted in a [`Tally`] by what it was; nothing that stands in a file makes a reader fail.

pub mod chatgpt;
pub mod claude_code;
pub mod codex;
mod elements;
pub mod hermes;
mod parts;
mod records;
mod repeats;
mod tally;
mod time;

use std::collections::HashMap;
use std::fmt::Debug;

pub use records::{is_blank, is_complete};
pub use repeats::{Noted, Repeats};
pub use tally::{Tally, UNFINISHED};

/// The reader of a session file to which an agent adds lines. It is given one line after the other.
pub trait Transcript: Debug {
    /// Reads a line.
    fn line(&mut self, line: &str);

    /// Returns the sessions whose records were read: that of the file, and those that it started.
    fn sessions(&mut self) -> &mut Vec<Session>;

    /// Returns what was ignored since the last call.
    fn ignored(&mut self) -> Tally;

    /// Continues where another reader of the same file ended. `id` is the id of the file's session.
    fn resume(&mut self, id: &str, progress: Progress);

    /// Returns what the next reader of the file needs.
    fn progress(self: Box<Self>) -> Progress;
}

/// What a reader needs in order to continue where another reader of the same file ended.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// Names of tools by the ids of their calls.
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

/// A session as another program keeps it, as far as it was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    /// That program's own name for it.
    pub id: String,
    /// The session that it came out of, by that program's name.
    pub parent: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// The model that it was said to last.
    pub model: Option<String>,
    /// The folder that the agent worked in.
    pub cwd: Option<String>,
    /// Messages of it that were taken before.
    taken: u64,
    calls: Vec<ModelCall>,
    said: Vec<Said>,
    /// Bytes of these.
    waiting: usize,
}

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// When, in Unix seconds, where that is known.
    pub time: Option<f64>,
    /// The message, as JSON text.
    pub message: String,
}

/// A call of a model, with what its provider reported.
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
    /// One of which nothing was read.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    /// Adds a message.
    pub fn push(&mut self, said: Said) {
        self.waiting += said.message.len();
        self.said.push(said);
    }

    /// Adds a call.
    pub fn push_call(&mut self, call: ModelCall) {
        self.calls.push(call);
    }

    /// The calls that were read since the last call of this function.
    pub fn take_calls(&mut self) -> Vec<ModelCall> {
        std::mem::take(&mut self.calls)
    }

    /// Says that the session has so many messages before those that were read.
    pub const fn begin_at(&mut self, messages: u64) {
        self.taken = messages;
    }

    /// Bytes of the messages that nobody took yet.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// The messages that were read since the last call, and the place of the first of them in the session, from 0.
    pub fn take(&mut self) -> (u64, Vec<Said>) {
        let (first, said) = (self.taken, std::mem::take(&mut self.said));
        self.waiting = 0;
        self.taken = first.saturating_add(u64::try_from(said.len()).unwrap_or(u64::MAX));
        (first, said)
    }
}
