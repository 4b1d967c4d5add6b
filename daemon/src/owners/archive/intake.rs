//! Appends on their way into the archive: durable in a log of their own at once, and taken over together
//! before anybody looks.
//!
//! A commit of the database writes a page for each table and index that a message touches; the log
//! takes one write. Whatever else is done with the archive sees the messages in it: they are taken over
//! before each other job, before a read, and when nobody appends for a while. What is refused, large, or not simply
//! the next of its session goes the straight way.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use herma_archive::transcript::{self, Appended};
use herma_archive::{Archive, ArchiveError};
use herma_disk::DiskError;
use herma_disk::write_ahead::WriteAheadLog;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::files::{Files, beside};
use super::transcripts::Append;
use crate::data::clock::unix_now;
use crate::data::numbers::wide;
use crate::owners::in_place::in_place;

/// What the log is called, after the archive's name.
const SUFFIX: &str = "-appends";

/// Bytes of messages of one append that may go into the log: larger ones would only be written twice.
const LARGEST: usize = 64 << 10;

/// How long it is left at that after a log could not be made or written.
const PAUSE: Duration = Duration::from_secs(30);

/// The log of an archive, and what waits in it.
#[derive(Debug)]
pub(super) struct Intake {
    path: PathBuf,
    log: Log,
    waiting: Vec<Waiting>,
    /// Generation and next position of the sessions that were appended to since the last job of another kind.
    places: HashMap<String, (u64, u64)>,
    /// The archive's files as its thread saw them last.
    files: Option<Files>,
    /// What was appended in place since the archive's thread asked.
    beside: Beside,
}

/// What was appended beside the archive's thread.
#[derive(Debug, Default)]
struct Beside {
    /// By [`Append::weight`].
    weight: usize,
    /// When the last one was.
    last: Option<Instant>,
    /// The thread was told, and has not done anything since.
    is_told: bool,
    /// How long the last one took.
    took: Duration,
}

/// The file.
#[derive(Debug)]
enum Log {
    /// It takes records.
    Open(WriteAheadLog),
    /// There is none yet.
    Missing,
    /// None can be made, or it can't be written, since then. Where it is `bound` it may have records of the epoch that
    /// the archive is at.
    Failed { since: Instant, bound: bool },
    /// One is there that can't be read, and may hold messages: it stays as it is.
    Unreadable,
}

/// Messages that are durable in the log.
#[derive(Debug, Serialize, Deserialize)]
struct Waiting {
    session: String,
    generation: u64,
    position: u64,
    /// When they came, in Unix seconds.
    time: f64,
    messages: Vec<Box<RawValue>>,
}

impl Intake {
    /// The intake of the archive at that path, which is not open yet.
    pub(super) fn new(archive: &Path) -> Self {
        Self {
            path: beside(archive, SUFFIX),
            log: Log::Missing,
            waiting: Vec::new(),
            places: HashMap::new(),
            files: None,
            beside: Beside { took: Duration::MAX, ..Beside::default() },
        }
    }

    /// The archive was opened: what an earlier daemon left in the log is taken over.
    pub(super) fn begin(&mut self, archive: &mut Archive) {
        self.waiting.clear();
        self.read(archive);
        if let Err(error) = self.take_over(archive) {
            tracing::warn!("appended messages are still in their log: {error}");
        }
    }

    fn read(&mut self, archive: &Archive) {
        self.log = Log::Missing;
        let read = archive
            .reader()
            .epoch()
            .map_err(|error| error.to_string())
            .and_then(|epoch| WriteAheadLog::open(&self.path, epoch).map_err(|error: DiskError| error.to_string()));
        match read {
            Ok(None) => {}
            Ok(Some((log, records))) => {
                self.log = Log::Open(log);
                let count = records.len();
                self.waiting = records.iter().filter_map(|record| serde_json::from_slice(record).ok()).collect();
                if self.waiting.len() < count {
                    tracing::error!(
                        "appended messages may be missing: {} records are of no known form",
                        count - self.waiting.len()
                    );
                }
            }
            Err(words) => {
                tracing::error!("appended messages may be missing: {words}");
                self.log = Log::Unreadable;
            }
        }
    }

    /// Makes appends durable in the log, if they may go there: all of them, or none. What each comes to.
    pub(super) fn keep(&mut self, appends: &[Append], archive: &mut Archive) -> Option<Vec<Appended>> {
        let (waiting, answers): (Vec<Waiting>, Vec<Appended>) =
            self.next_ones(appends, archive).or_else(|| self.forget_places())?.into_iter().unzip();
        let Some(records) = records(&waiting).filter(|records| self.has_room(records, archive)) else {
            return self.forget_places();
        };
        self.write(waiting, &records)?;
        Some(answers)
    }

    /// Writes what waits into the log, which has room for it.
    fn write(&mut self, waiting: Vec<Waiting>, records: &[Vec<u8>]) -> Option<()> {
        let Log::Open(log) = &mut self.log else { return self.forget_places() };
        if !log.is_in_place() {
            tracing::error!("the log of appended messages was taken away, and is made anew");
            self.log = Log::Missing;
            return self.forget_places();
        }
        if let Err(error) = log.append(records) {
            tracing::warn!("messages are appended without their log: {error}");
            self.log = Log::Failed { since: Instant::now(), bound: true };
            return self.forget_places();
        }
        self.waiting.extend(waiting);
        Some(())
    }

    /// The same for one append, beside the archive's thread: only where nothing else is to be done.
    pub(super) fn keep_in_place(&mut self, append: &Append, archive: &Path, most: usize) -> Option<Appended> {
        let is_known = self.places.contains_key(&append.session) && self.files.is_some();
        if !is_known || self.beside.weight >= most {
            return None;
        }
        let (kept, took) = in_place(self.beside.took, || self.keep_known(append, archive));
        self.beside.took = took;
        let kept = kept?;
        self.beside.weight += append.weight();
        self.beside.last = Some(Instant::now());
        Some(kept)
    }

    fn keep_known(&mut self, append: &Append, archive: &Path) -> Option<Appended> {
        let (waiting, answer) = self.next_one(append, None)?;
        let waiting = vec![waiting];
        let records = records(&waiting)?;
        match &self.log {
            Log::Open(log) if log.has_room(records.iter().map(Vec::len)) => self.write(waiting, &records)?,
            _ => return None,
        }
        if let Appended::Next(next) = answer {
            self.places.insert(append.session.clone(), (append.generation, next));
        }
        // What is elsewhere by now, the archive's thread puts right.
        (Some(Files::at(archive)) == self.files).then_some(answer)
    }

    /// Whether the archive's thread is to be told that something waits.
    pub(super) fn must_tell(&mut self) -> bool {
        !std::mem::replace(&mut self.beside.is_told, true)
    }

    /// What was appended in place since this was asked last, by [`Append::weight`].
    pub(super) fn take_beside(&mut self) -> usize {
        std::mem::take(&mut self.beside.weight)
    }

    /// Whether nothing was appended in place for so long.
    pub(super) fn is_quiet(&self, time: Duration) -> bool {
        self.beside.last.is_none_or(|last| last.elapsed() >= time)
    }

    /// Notes the archive's files as they are by now, after something was done with it.
    pub(super) fn note(&mut self, files: Option<Files>) {
        self.files = files;
        self.beside.is_told = false;
    }

    /// What was expected of sessions counts no more.
    pub(super) fn forget_places<T>(&mut self) -> Option<T> {
        self.places.clear();
        None
    }

    /// Each append as it waits, with its answer; `None` where one is anything but the next of its session.
    fn next_ones(&mut self, appends: &[Append], archive: &Archive) -> Option<Vec<(Waiting, Appended)>> {
        let each = appends.iter().map(|append| {
            let (waiting, answer) = self.next_one(append, Some(archive))?;
            if let Appended::Next(next) = answer {
                self.places.insert(append.session.clone(), (append.generation, next));
            }
            Some((waiting, answer))
        });
        each.collect()
    }

    /// An append as it waits, with its answer, if it is the next of its session, small, and kept exactly.
    fn next_one(&self, append: &Append, archive: Option<&Archive>) -> Option<(Waiting, Appended)> {
        let Append { session, generation, position, messages, .. } = append;
        let place = match (self.places.get(session), archive) {
            (Some(place), _) => *place,
            // The archive doesn't know of what waits.
            (None, Some(_)) if self.waiting.iter().any(|waiting| waiting.session == *session) => return None,
            (None, Some(archive)) => archive.reader().place(session).ok()?,
            (None, None) => return None,
        };
        if place != (*generation, *position) || messages.is_empty() || append.bytes() > LARGEST {
            return None;
        }
        let messages = messages.iter().map(|text| exact(text)).collect::<Option<Vec<_>>>()?;
        let next = *position + wide(messages.len());
        let (session, generation, position, time) = (session.clone(), *generation, *position, unix_now());
        Some((Waiting { session, generation, position, time, messages }, Appended::Next(next)))
    }

    /// Whether the log can take these records, if need be after what is in it was taken over.
    fn has_room(&mut self, records: &[Vec<u8>], archive: &mut Archive) -> bool {
        let lengths = || records.iter().map(Vec::len);
        match &self.log {
            Log::Open(log) if log.has_room(lengths()) => return true,
            Log::Open(_) => {
                if let Err(error) = self.take_over(archive) {
                    tracing::debug!("the log of appended messages is full: {error}");
                    return false;
                }
            }
            Log::Failed { since, bound: false } if since.elapsed() >= PAUSE => self.log = Log::Missing,
            Log::Missing => {}
            Log::Failed { .. } | Log::Unreadable => return false,
        }
        // A new one would not have what waits.
        if !self.waiting.is_empty() {
            return false;
        }
        if let Log::Missing = self.log {
            self.make(archive);
        }
        matches!(&self.log, Log::Open(log) if log.has_room(lengths()))
    }

    fn make(&mut self, archive: &Archive) {
        let made = archive.reader().epoch().map_err(|error| error.to_string()).and_then(|epoch| {
            // What has its name holds nothing that this archive lacks.
            drop(herma_disk::file::remove(&self.path));
            WriteAheadLog::create(&self.path, epoch).map_err(|error| error.to_string())
        });
        self.log = match made {
            Ok(log) => Log::Open(log),
            Err(words) => {
                tracing::debug!("messages are appended without a log: {words}");
                Log::Failed { since: Instant::now(), bound: false }
            }
        };
    }

    /// Puts what waits into the archive.
    ///
    /// # Errors
    /// A failure of the database: it stays in the log, and has to be tried again before
    /// anything else.
    pub(super) fn take_over(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        if self.waiting.is_empty() && !matches!(self.log, Log::Failed { bound: true, .. }) {
            return Ok(());
        }
        let messages: Vec<Vec<&str>> =
            self.waiting.iter().map(|waiting| waiting.messages.iter().map(|text| text.get()).collect()).collect();
        let appends: Vec<transcript::Append<'_>> = self
            .waiting
            .iter()
            .zip(&messages)
            .map(|(waiting, messages)| {
                let Waiting { session, generation, position, time, .. } = waiting;
                transcript::Append { session, generation: *generation, position: *position, time: *time, messages }
            })
            .collect();
        let (epoch, answers) = archive.take_over(&appends)?;
        let refused = answers.iter().filter(|answer| !matches!(answer, Ok(Appended::Next(_)))).count();
        if refused > 0 {
            // Only where another archive came into use meanwhile.
            tracing::error!("{refused} appends fit the archive no more, and are lost");
        }
        self.waiting.clear();
        match &mut self.log {
            Log::Failed { bound, .. } => *bound = false,
            Log::Open(log) => {
                if let Err(error) = log.clear(epoch) {
                    tracing::warn!("messages are appended without their log: {error}");
                    self.log = Log::Failed { since: Instant::now(), bound: false };
                }
            }
            Log::Missing | Log::Unreadable => {}
        }
        Ok(())
    }

    /// Another archive came into use: what waits belongs into it as far as it fits.
    pub(super) fn go_on_with(&mut self, archive: &mut Archive) {
        // The log is bound to the other one.
        self.log = Log::Missing;
        self.places.clear();
        if let Err(error) = self.take_over(archive) {
            tracing::warn!("appended messages are still in their log: {error}");
        }
    }

    /// Whether anything waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// What waits, as records.
fn records(waiting: &[Waiting]) -> Option<Vec<Vec<u8>>> {
    waiting.iter().map(serde_json::to_vec).collect::<Result<_, _>>().ok()
}

/// A JSON text that comes out of a record as it went in.
fn exact(text: &str) -> Option<Box<RawValue>> {
    let value: Box<RawValue> = serde_json::from_str(text).ok()?;
    (value.get().len() == text.len()).then_some(value)
}

#[cfg(test)]
mod tests;
