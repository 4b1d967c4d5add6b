//! The reader of a file with one session, of programs whose records need little more than a translation.

use std::fmt::Debug;
use std::marker::PhantomData;

use serde_json::Value;

use crate::parts;
use crate::records::new_records;
use crate::repeats::Repeats;
use crate::{Progress, Session, Tally, TimedMessage, Transcript, time};

/// The kind under which known records are counted that nobody said.
pub(crate) const NOTE: &str = "system";

/// A program's form of records.
pub trait Form: Debug {
    /// Returns whether an object is a whole record, not part of one.
    fn is_record(object: &Value) -> bool;

    /// Reads a record into the file.
    fn read(record: &Value, file: &mut SessionFile);
}

/// What was read of a file.
#[derive(Debug)]
pub struct SessionFile {
    /// The one session, as the trait wants it.
    sessions: Vec<Session>,
    repeats: Repeats,
    pub(crate) tally: Tally,
    /// The answer or the words whose pieces are being read.
    pending: Option<Pending>,
}

/// A message that a program records in pieces.
#[derive(Debug)]
struct Pending {
    time: Option<f64>,
    role: &'static str,
    /// What tells it from the message before it.
    of: String,
    text: String,
}

impl SessionFile {
    /// Returns the session.
    pub(crate) fn session(&mut self) -> &mut Session {
        if self.sessions.is_empty() {
            self.sessions.push(Session::default());
        }
        &mut self.sessions[0]
    }

    /// Adds a message with the time of its record.
    pub(crate) fn say(&mut self, time: Option<f64>, message: Option<String>) {
        if let Some(message) = message {
            self.session().push(TimedMessage { time, message });
        }
    }

    /// Adds a message of the user, unless it is empty.
    pub(crate) fn say_as_user(&mut self, time: Option<f64>, text: &str) {
        self.say(time, (!text.is_empty()).then(|| parts::message("user", text)));
    }

    /// Adds a piece to the message of a role. A piece of another one ends the message before it.
    pub(crate) fn piece(&mut self, time: Option<f64>, role: &'static str, of: &str, text: &str) {
        if self.pending.as_ref().is_some_and(|pending| (pending.role, pending.of.as_str()) != (role, of)) {
            self.flush();
        }
        let begin = || Pending { time, role, of: of.to_owned(), text: String::new() };
        self.pending.get_or_insert_with(begin).text.push_str(text);
    }

    /// Ends the message whose pieces were read.
    pub(crate) fn flush(&mut self) {
        let Some(Pending { time, role, text, .. }) = self.pending.take() else { return };
        let message = if role == "user" {
            parts::message(role, &text)
        } else {
            parts::assistant(&text, vec![]).unwrap_or_default()
        };
        self.say(time, (!text.trim().is_empty()).then_some(message));
    }

    /// Counts a record that nobody said.
    pub(crate) fn note(&mut self) {
        self.tally.add(NOTE);
    }

    /// Returns whether something of a kind is read for the first time. What has no id is always new.
    pub(crate) fn is_new(&mut self, kind: &str, id: &str) -> bool {
        id.is_empty() || self.repeats.is_new_key(&format!("{kind} {id}"))
    }
}

/// Reads the records of one file.
#[derive(Debug)]
pub struct FileReader<F> {
    file: SessionFile,
    form: PhantomData<F>,
}

impl<F: Form> FileReader<F> {
    /// Creates a reader for a file. `name` is its name without the extension, which is the session's id unless a record
    /// has another.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let sessions = vec![Session::new(name)];
        let file = SessionFile { sessions, repeats: Repeats::default(), tally: Tally::default(), pending: None };
        Self { file, form: PhantomData }
    }
}

impl<F: Form> Transcript for FileReader<F> {
    fn line(&mut self, line: &str) {
        let file = &mut self.file;
        let records = new_records(line, F::is_record, &mut file.repeats, &mut file.tally);
        records.iter().for_each(|record| F::read(record, file));
    }

    fn sessions(&mut self) -> &mut Vec<Session> {
        &mut self.file.sessions
    }

    fn ignored(&mut self) -> Tally {
        std::mem::take(&mut self.file.tally)
    }

    fn end(&mut self, is_over: bool) -> bool {
        if is_over {
            self.file.flush();
        }
        self.file.pending.is_none()
    }

    fn resume(&mut self, id: &str, progress: Progress) {
        self.file.sessions = vec![Session::new(id)];
        self.file.repeats = progress.repeats;
    }

    fn progress(self: Box<Self>) -> Progress {
        Progress { repeats: self.file.repeats, ..Progress::default() }
    }
}

/// Returns the time in a record's `timestamp`.
pub(crate) fn time_of(record: &Value) -> Option<f64> {
    record.get("timestamp").and_then(time::read)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// Reads records. Returns the session, its messages, and what was left out.
    pub(crate) fn read<F: Form>(records: &[Value]) -> (Session, Vec<Value>, Vec<(String, u64)>) {
        let mut reader = FileReader::<F>::new("s");
        records.iter().for_each(|record| reader.line(&record.to_string()));
        let tally = reader.ignored();
        let mut session = reader.sessions().remove(0);
        let messages = session.take().1.into_iter().map(|said| serde_json::from_str(&said.message).unwrap()).collect();
        (session, messages, tally.iter().map(|(kind, count)| (kind.to_owned(), count)).collect())
    }
}
