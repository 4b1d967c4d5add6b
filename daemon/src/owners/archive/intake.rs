//! The log of appended messages. It makes them durable at once; they move into the archive together, before anything
//! reads it.
//!
//! A commit of the database writes a page for each table and index that a message touches; the log needs one write. All
//! other work still sees the messages in the archive. They are moved there before each other job, before each read, and
//! after a short pause in appends. An append that is refused, large, or not simply the next one of its session goes
//! directly into the archive.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use herma_archive::transcript::{self, Appended};
use herma_archive::{Archive, ArchiveError};
use herma_disk::DiskError;
use herma_disk::write_ahead::WriteAheadLog;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::files::{Files, with_suffix};
use super::transcripts::Append;
use crate::data::clock::unix_now;
use crate::data::numbers::to_u64;
use crate::owners::in_place::in_place;

/// The suffix of the log's file, after the archive's name.
const SUFFIX: &str = "-appends";

/// The largest append that may go into the log, in bytes of its messages. A larger one would only be written twice.
const LARGEST: usize = 64 << 10;

/// How long the daemon works without a log after one could not be created or written.
const PAUSE: Duration = Duration::from_secs(30);

/// The log of an archive, and the messages in it.
#[derive(Debug)]
pub(super) struct Intake {
    path: PathBuf,
    log: Log,
    waiting: Vec<Waiting>,
    /// The generation and next position of each session that had appends since the last job of another kind.
    places: HashMap<String, (u64, u64)>,
    /// The archive's files as its thread last saw them.
    files: Option<Files>,
    /// The messages that were appended in place since the thread last asked.
    direct: InPlaceAppends,
}

/// Appends that were done without the archive's thread.
#[derive(Debug, Default)]
struct InPlaceAppends {
    /// Their size, as the sum of [`Append::weight`].
    weight: usize,
    /// The time of the last append.
    last: Option<Instant>,
    /// Whether the thread was notified and has done nothing since.
    is_notified: bool,
    /// The duration of the last append.
    took: Duration,
}

/// The file of the log.
#[derive(Debug)]
enum Log {
    /// The log accepts records.
    Open(WriteAheadLog),
    /// There is no log yet.
    Missing,
    /// No log can be created or written, since this time. If `bound`, the file may have records of the archive's
    /// current epoch.
    Failed { since: Instant, bound: bool },
    /// A log exists that can't be read and may contain messages. It stays as it is.
    Unreadable,
}

/// Messages that are durable in the log.
#[derive(Debug, Serialize, Deserialize)]
struct Waiting {
    session: String,
    generation: u64,
    position: u64,
    /// The time of the append, in Unix seconds.
    time: f64,
    messages: Vec<Box<RawValue>>,
}

impl Intake {
    /// Creates the intake of the archive at this path, which is not open yet.
    pub(super) fn new(archive: &Path) -> Self {
        Self {
            path: with_suffix(archive, SUFFIX),
            log: Log::Missing,
            waiting: Vec::new(),
            places: HashMap::new(),
            files: None,
            direct: InPlaceAppends { took: Duration::MAX, ..InPlaceAppends::default() },
        }
    }

    /// Moves the messages that an earlier daemon left in the log into the archive, which was just opened.
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

    /// Makes all appends durable in the log and returns their results; `None` if any of them may not go there.
    pub(super) fn keep(&mut self, appends: &[Append], archive: &mut Archive) -> Option<Vec<Appended>> {
        let (waiting, answers): (Vec<Waiting>, Vec<Appended>) =
            self.next_ones(appends, archive).or_else(|| self.forget_places())?.into_iter().unzip();
        let Some(records) = records(&waiting).filter(|records| self.has_room(records, archive)) else {
            return self.forget_places();
        };
        self.write(waiting, &records)?;
        Some(answers)
    }

    /// Writes messages into the log, which has room for them.
    fn write(&mut self, waiting: Vec<Waiting>, records: &[Vec<u8>]) -> Option<()> {
        let Log::Open(log) = &mut self.log else { return self.forget_places() };
        if !log.is_in_place() {
            tracing::error!("the log of appended messages was removed while it was in use, and is created again");
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

    /// Like `keep` for one append, without the archive's thread, and only if there is no other work to do.
    pub(super) fn keep_in_place(&mut self, append: &Append, archive: &Path, most: usize) -> Option<Appended> {
        let is_known = self.places.contains_key(&append.session) && self.files.is_some();
        if !is_known || self.direct.weight >= most {
            return None;
        }
        let (kept, took) = in_place(self.direct.took, || self.keep_known(append, archive));
        self.direct.took = took;
        let kept = kept?;
        self.direct.weight += append.weight();
        self.direct.last = Some(Instant::now());
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
        // If the files have changed, the archive's thread recovers them.
        (Some(Files::at(archive)) == self.files).then_some(answer)
    }

    /// Whether the archive's thread needs a notice that messages wait.
    pub(super) fn must_tell(&mut self) -> bool {
        !std::mem::replace(&mut self.direct.is_notified, true)
    }

    /// Returns the weight of the appends done in place since the last call, by [`Append::weight`].
    pub(super) fn take_in_place_weight(&mut self) -> usize {
        std::mem::take(&mut self.direct.weight)
    }

    /// Whether no append was done in place for this time.
    pub(super) fn is_quiet(&self, time: Duration) -> bool {
        self.direct.last.is_none_or(|last| last.elapsed() >= time)
    }

    /// Notes the archive's current files, after work on the archive.
    pub(super) fn note(&mut self, files: Option<Files>) {
        self.files = files;
        self.direct.is_notified = false;
    }

    /// Forgets the expected positions of all sessions.
    pub(super) fn forget_places<T>(&mut self) -> Option<T> {
        self.places.clear();
        None
    }

    /// Returns each append in its waiting form with its result; `None` if any is not simply the next of its session.
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

    /// Returns an append in its waiting form with its result, if it is the next of its session, small, and stored
    /// exactly.
    fn next_one(&self, append: &Append, archive: Option<&Archive>) -> Option<(Waiting, Appended)> {
        let Append { session, generation, position, messages, .. } = append;
        let place = match (self.places.get(session), archive) {
            (Some(place), _) => *place,
            // The archive does not know the messages that wait.
            (None, Some(_)) if self.waiting.iter().any(|waiting| waiting.session == *session) => return None,
            (None, Some(archive)) => archive.reader().place(session).ok()?,
            (None, None) => return None,
        };
        if place != (*generation, *position) || messages.is_empty() || append.bytes() > LARGEST {
            return None;
        }
        let messages = messages.iter().map(|text| exact(text)).collect::<Option<Vec<_>>>()?;
        let next = *position + to_u64(messages.len());
        let (session, generation, position, time) = (session.clone(), *generation, *position, unix_now());
        Some((Waiting { session, generation, position, time, messages }, Appended::Next(next)))
    }

    /// Whether the log has room for these records, if necessary after its messages moved into the archive.
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
        // A new log would not contain the messages that wait.
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
            // A file with this name contains nothing that the archive lacks.
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

    /// Moves the waiting messages into the archive.
    ///
    /// # Errors
    /// The database failed. The messages stay in the log, and must be moved before any other work.
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
            // This happens only if another archive came into use meanwhile.
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

    /// Moves the waiting messages into another archive that came into use, as far as they fit.
    pub(super) fn switch_archive(&mut self, archive: &mut Archive) {
        // The log is bound to the old archive.
        self.log = Log::Missing;
        self.places.clear();
        if let Err(error) = self.take_over(archive) {
            tracing::warn!("appended messages are still in their log: {error}");
        }
    }

    /// Whether no message waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// Returns the waiting messages as records.
fn records(waiting: &[Waiting]) -> Option<Vec<Vec<u8>>> {
    waiting.iter().map(serde_json::to_vec).collect::<Result<_, _>>().ok()
}

/// Returns a JSON text, if it comes out of a record exactly as it went in.
fn exact(text: &str) -> Option<Box<RawValue>> {
    let value: Box<RawValue> = serde_json::from_str(text).ok()?;
    (value.get().len() == text.len()).then_some(value)
}

#[cfg(test)]
mod tests;
