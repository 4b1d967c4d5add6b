//! A store on disk: lock, read again if the file changed, apply, write the journal, replace the file, answer.

mod backup;
mod bound;
mod draft;
mod known;
mod scrub;
mod shared;
mod transaction;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use herma_disk::file::{self, CommittedFile, Temporary};
use herma_disk::lock::{LockFile, Locked};
use herma_disk::{Cause, DiskError, folder};
use herma_guard::Policy;

use crate::change;
use crate::entries::{Entry, chars};
use crate::journal::line::{Action, Row};
use crate::journal::{self, Journal};
use crate::render::shown;
use crate::target::Target;
use crate::usage::Usage;

pub use bound::Bound;
pub use draft::{Edit, EditError};
use known::Known;
pub use scrub::ScrubbedJournal;
pub use shared::Proposal;
pub use transaction::Transaction;

/// Largest file that is read as a store, in bytes. It is far above any limit in chars, so that a store that grew
/// elsewhere can still be read and shrunk.
const FILE_LIMIT: u64 = 16 << 20;

/// Age at which a temporary file counts as left over from a killed process.
const LEFTOVER: Duration = Duration::from_mins(1);

/// Maximum number of cached renderings in addition to those of the store's entries.
const RENDERED: usize = 1024;

const TEMPORARY: Temporary = Temporary { prefix: ".mem_", suffix: ".tmp" };

/// The paths of a store's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// MEMORY.md or USER.md.
    pub file: PathBuf,
    /// The journal: `<target>.jsonl`.
    pub journal: PathBuf,
}

impl Paths {
    /// Returns `<file>.lock`, which Hermes locks too.
    fn lock(&self) -> PathBuf {
        let mut name = self.file.clone().into_os_string();
        name.push(".lock");
        name.into()
    }

    /// Returns the folder of the file.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("."))
    }
}

/// The limits of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Chars of the whole store.
    pub chars: usize,
    /// Revisions that the journal keeps at least. The minimum is 1.
    pub revisions: usize,
}

/// The default of [`LogQuery::bytes`].
const LOG_BYTES: usize = 16 << 20;

/// Which rows of the journal to return.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogQuery {
    /// Limits the rows to revisions below this one.
    pub before: Option<u64>,
    /// Limits the rows to times from this one on, in Unix seconds.
    pub since: Option<f64>,
    /// Limits the rows to times before this one.
    pub until: Option<f64>,
    /// The largest number of rows.
    pub limit: usize,
    /// The texts of the rows end with the one that exceeds this number of bytes.
    pub bytes: usize,
}

impl Default for LogQuery {
    fn default() -> Self {
        Self { before: None, since: None, until: None, limit: usize::MAX, bytes: LOG_BYTES }
    }
}

impl LogQuery {
    fn wants(&self, row: &Row) -> bool {
        self.before.is_none_or(|before| row.revision < before)
            && self.since.is_none_or(|since| row.time >= since)
            && self.until.is_none_or(|until| row.time < until)
    }
}

/// The reason why a store can't be used. Its files stay as they are.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file or its journal exists but can't be read.
    #[error("{} can't be read, so nothing is written to it: {reason}", path.display())]
    Unreadable {
        /// The unreadable file.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// A lock, write or sync failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl StoreError {
    fn unreadable(error: DiskError) -> Self {
        Self::Unreadable { path: error.path, reason: error.source.to_string() }
    }
}

/// The content of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The store.
    pub target: Target,
    /// Its limit in chars.
    pub limit: usize,
    /// Its entries.
    pub entries: Arc<[Entry]>,
    /// The entries as a model may see them.
    pub shown: Arc<[Entry]>,
    /// Its revision.
    pub revision: u64,
    /// Number of unreadable lines in its journal.
    pub damaged: u64,
}

impl View {
    /// Returns how full the store is.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage { chars: chars(&self.entries), limit: self.limit }
    }

    /// Whether the store is longer than its limit.
    #[must_use]
    pub fn over_limit(&self) -> bool {
        self.usage().chars > self.limit
    }

    /// Whether an entry is longer than the whole limit.
    #[must_use]
    pub fn drifted(&self) -> bool {
        change::longest(&self.entries) > self.limit
    }
}

/// A new revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The revision.
    pub revision: u64,
    /// The action that made it.
    pub action: Action,
    /// The session that made it.
    pub session: Option<String>,
    /// The agent that made it.
    pub agent: Option<String>,
}

impl Event {
    fn of(row: &Row) -> Self {
        let (session, agent) = (row.author.session.clone(), row.author.agent.clone());
        Self { revision: row.revision, action: row.action.clone(), session, agent }
    }
}

/// One store, owned by one thread.
///
/// Invariant: `known` is the file's content at its last read or write, and `journal` has the content of the journal
/// file. A failure drops both, so that they are read again before the next change.
#[derive(Debug)]
pub struct Store {
    paths: Paths,
    target: Target,
    limits: Limits,
    policy: Arc<Policy>,
    lock: LockFile,
    journal: Option<Journal>,
    known: Option<Known>,
    rendered: HashMap<Entry, Entry>,
    events: Vec<Event>,
    /// Files that were replaced. Dropping them can wait.
    replaced: Vec<CommittedFile>,
    swept: bool,
    /// Whether the file was ever unreadable.
    was_unreadable: bool,
    /// The newest revision ever known. No revision is assigned twice, even if the journal is gone.
    newest: u64,
    /// Whether the shared database assigns the revisions. Edits by other programs then wait until they have one.
    is_shared: bool,
    /// Revisions of a shared store that are not on disk yet, oldest first.
    ahead: Vec<Row>,
}

impl Store {
    /// Creates a store that is read at its first use. `policy` decides which texts can't be written, and which a model
    /// can't see.
    #[must_use]
    pub fn new(paths: Paths, target: Target, limits: Limits, policy: Arc<Policy>) -> Self {
        Self {
            lock: LockFile::new(paths.lock()),
            paths,
            target,
            limits,
            policy,
            journal: None,
            known: None,
            rendered: HashMap::new(),
            events: Vec::new(),
            replaced: Vec::new(),
            swept: false,
            was_unreadable: false,
            newest: 0,
            is_shared: false,
            ahead: Vec::new(),
        }
    }

    /// Returns the store's content. Reads the file only if it changed.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn view(&mut self) -> Result<View, StoreError> {
        self.refresh()?;
        Ok(self.current())
    }

    /// Reads the file even if its stamp is the same, unless it has been unchanged for long enough.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn look(&mut self) -> Result<(), StoreError> {
        if let Some(known) = &mut self.known {
            known.placed = None;
        }
        self.refresh()
    }

    /// Returns the revisions that are new since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Prepares a store after a start. Removes temporary files of killed processes, and writes a revision that never
    /// reached the file. Does nothing while another program holds the lock. Then [`Store::begin`] does it later.
    ///
    /// # Errors
    /// The folder can't be read, or the file can't be written.
    pub fn tidy(&mut self) -> Result<(), StoreError> {
        if self.paths.folder().is_dir()
            && let Some(lock) = self.lock.try_now()?
        {
            self.sweep()?;
            self.refresh()?;
            self.catch_up()?;
            drop(lock);
        }
        Ok(())
    }

    /// Locks the store, as every program that writes to it does, and reads new content. Returns `None` while another
    /// program holds the lock.
    ///
    /// # Errors
    /// The folder or the lock can't be created, or the file can't be read.
    pub fn begin(&mut self) -> Result<Option<Transaction<'_>>, StoreError> {
        Ok(self.locked()?.map(|lock| Transaction::new(self, lock)))
    }

    /// Takes the lock and reads new content.
    fn locked(&mut self) -> Result<Option<Locked>, StoreError> {
        let lock = match self.lock.try_now() {
            Err(error) if error.cause() == Cause::Missing => {
                folder::create(self.paths.folder())?;
                self.lock.try_now()
            }
            tried => tried,
        };
        let Some(lock) = lock? else { return Ok(None) };
        if !self.swept {
            self.sweep()?;
        }
        self.refresh()?;
        self.catch_up()?;
        Ok(Some(lock))
    }

    /// Returns rows of the journal, newest first. The flag is true if there are older ones that the query wants.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn log(&mut self, query: &LogQuery) -> Result<(Vec<Row>, bool), StoreError> {
        self.refresh()?;
        let unwritten = self.known.iter().flat_map(|known| known.unwritten.iter().rev());
        let unwritten = self.ahead.iter().rev().chain(unwritten).cloned().map(Ok);
        let written = self.journal.iter().flat_map(|journal| journal.marks().rev().map(|mark| journal.row_at(mark)));
        let mut rows = Vec::new();
        let mut taken = 0;
        for row in unwritten.chain(written) {
            let row = row.map_err(StoreError::unreadable)?;
            if !query.wants(&row) {
                continue;
            }
            if rows.len() == query.limit || taken > query.bytes {
                return Ok((rows, true));
            }
            taken += row.before.iter().chain(&*row.after).map(|entry| entry.len()).sum::<usize>();
            rows.push(row);
        }
        Ok((rows, false))
    }

    /// Whether the journal is so long that [`Store::maintain`] shortens it.
    #[must_use]
    pub fn needs_maintenance(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.is_long(self.limits.revisions))
    }

    /// Does the work that can wait until the writers have their answers: drops replaced files, and shortens a long
    /// journal.
    ///
    /// # Errors
    /// A step failed. The journal is then unchanged.
    pub fn maintain(&mut self) -> Result<(), StoreError> {
        self.replaced.clear();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        if let Some(journal) = self.journal.as_mut().filter(|journal| journal.is_long(self.limits.revisions)) {
            // A power cut may restore the file as of any revision since its last sync. The journal must still have that
            // one.
            let synced = file::sync(&self.paths.file);
            if let Err(error) = synced.and_then(|()| journal.compact(self.limits.revisions, now.as_secs())) {
                self.forget();
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Notes in the journal that the file is durable. The next process that opens the store then knows that any other
    /// content was written later.
    ///
    /// # Errors
    /// The file can't be synced or written.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        let is_clean = self.known.as_ref().is_some_and(Known::is_clean);
        if let Some(journal) = self.journal.as_mut().filter(|_| is_clean)
            && journal.newest().is_some()
        {
            file::sync(&self.paths.file)?;
            journal.flush()?;
        }
        Ok(())
    }

    fn sweep(&mut self) -> Result<(), DiskError> {
        let now = SystemTime::now();
        folder::sweep(self.paths.folder(), TEMPORARY.prefix, TEMPORARY.suffix, LEFTOVER, now)?;
        if let Some(journals) = self.paths.journal.parent() {
            let Temporary { prefix, suffix } = journal::TEMPORARY;
            folder::sweep(journals, prefix, suffix, LEFTOVER, now)?;
        }
        self.swept = true;
        Ok(())
    }

    fn forget(&mut self) {
        self.newest = self.newest.max(self.known.as_ref().map_or(0, |known| known.revision));
        self.known = None;
        self.journal = None;
    }

    fn current(&mut self) -> View {
        let (entries, revision) = match (&self.known, self.ahead.last()) {
            (Some(known), Some(newest)) => (known.with_bound(&known.on_top_of(&newest.after)), newest.revision),
            (Some(known), None) => (known.with_bound(known.wanted()), known.revision),
            (None, _) => (Arc::default(), 0),
        };
        let shown = self.shown(&entries);
        let damaged = self.journal.as_ref().map_or(0, Journal::damaged);
        View { target: self.target, limit: self.limits.chars, entries, shown, revision, damaged }
    }

    /// Renders the entries for a model. Scans each text once.
    fn shown(&mut self, entries: &[Entry]) -> Arc<[Entry]> {
        if self.rendered.len() > entries.len() + RENDERED {
            self.rendered.clear();
        }
        let render = |entry: &Entry| match self.rendered.get(entry) {
            Some(known) => Arc::clone(known),
            None => {
                let shown = shown(&self.policy, self.target, entry);
                let shown = if *shown == **entry { Arc::clone(entry) } else { shown.into() };
                self.rendered.insert(Arc::clone(entry), Arc::clone(&shown));
                shown
            }
        };
        entries.iter().map(render).collect()
    }
}

/// Unix seconds.
fn unix(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
mod tests;
