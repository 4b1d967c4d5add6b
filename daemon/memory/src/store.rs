//! A store on disk: lock, re-read if the file changed, apply, write the journal,
//! replace the file, answer.

mod backup;
mod bound;
mod draft;
mod known;
mod shared;
mod transaction;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use herma_disk::file::{self, Placed, Temporary};
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
pub use draft::{Denied, Edit};
use known::Known;
pub use shared::Proposal;
pub use transaction::Transaction;

/// Largest file that is read as a store, in bytes: far beyond any limit in
/// chars, so that a store that grew elsewhere can still be read and shrunk.
const FILE_LIMIT: u64 = 16 << 20;

/// Age after which a temporary file is one that a killed process left.
const LEFTOVER: Duration = Duration::from_mins(1);

/// Texts whose rendering is remembered beyond those of the store.
const RENDERED: usize = 1024;

const TEMPORARY: Temporary = Temporary { prefix: ".mem_", suffix: ".tmp" };

/// Where the files of a store are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// MEMORY.md or USER.md.
    pub file: PathBuf,
    /// The journal: `<target>.jsonl`.
    pub journal: PathBuf,
}

impl Paths {
    /// `<file>.lock`: what Hermes locks too.
    fn lock(&self) -> PathBuf {
        let mut name = self.file.clone().into_os_string();
        name.push(".lock");
        name.into()
    }

    /// The folder that the file is in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("."))
    }
}

/// What a store may hold and keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Chars of the whole store.
    pub chars: usize,
    /// Revisions that the journal keeps at least, from 1.
    pub revisions: usize,
}

/// Why a store can't be used. What is on disk is left as it is.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file, or its journal, is there but can't be read.
    #[error("{} can't be read, so nothing is written to it: {reason}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
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

/// What a store holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The store.
    pub target: Target,
    /// Its limit in chars.
    pub limit: usize,
    /// Its entries.
    pub entries: Arc<[Entry]>,
    /// Its entries as a model may see them.
    pub shown: Arc<[Entry]>,
    /// Its revision.
    pub revision: u64,
    /// Lines of its journal that can't be read.
    pub damaged: u64,
}

impl View {
    /// How full it is.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage { chars: chars(&self.entries), limit: self.limit }
    }

    /// It is longer than its limit.
    #[must_use]
    pub fn over_limit(&self) -> bool {
        self.usage().chars > self.limit
    }

    /// An entry is longer than the whole limit.
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
    /// What made it.
    pub action: Action,
    /// The session that made it.
    pub session: Option<String>,
}

/// One store, owned by one thread.
///
/// Invariant: `known` is what the file held when it was last read or written, and
/// `journal` what its journal holds; both are forgotten after any failure, so that
/// they are read again before the next change.
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
    /// Files that were replaced; forgetting them can wait.
    replaced: Vec<Placed>,
    swept: bool,
    /// The file could not be read at some time.
    was_unreadable: bool,
    /// The newest revision that was ever known: none is given twice, even when the
    /// journal is gone.
    newest: u64,
    /// Its revisions are given elsewhere: what another program writes waits until it got one.
    is_shared: bool,
    /// Revisions of a shared store that are not on the disk yet, oldest first.
    ahead: Vec<Row>,
}

impl Store {
    /// A store that is read when it is first used. `policy` says which texts are
    /// kept out of it, and out of what a model sees of it.
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

    /// What the store holds now. The file is read only when it changed.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn view(&mut self) -> Result<View, StoreError> {
        self.refresh()?;
        Ok(self.current())
    }

    /// Looks at the file itself, whatever its stamp says, unless it has been at rest
    /// for long enough.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn look(&mut self) -> Result<(), StoreError> {
        if let Some(known) = &mut self.known {
            known.placed = None;
        }
        self.refresh()
    }

    /// The revisions that are new since this was asked last.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Gets a store ready after a start: removes temporary files that a killed
    /// process left, and puts a revision that never reached the file in its place.
    /// Nothing is done while another program holds the lock; then
    /// [`Store::begin`] does it later.
    ///
    /// # Errors
    /// A folder that can't be read, or a file that can't be written.
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

    /// Locks the store, as every program that writes to it does, and reads what
    /// is new. `None` while another program holds the lock.
    ///
    /// # Errors
    /// A folder or lock that can't be made, or a file that can't be read.
    pub fn begin(&mut self) -> Result<Option<Transaction<'_>>, StoreError> {
        Ok(self.locked()?.map(|lock| Transaction::new(self, lock)))
    }

    /// The lock, and what is new.
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

    /// The rows of the journal below the revision `before`, newest first, up to
    /// `limit` of them and until their texts have `bytes` bytes. True when older
    /// ones are kept.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn log(&mut self, before: Option<u64>, limit: usize, bytes: usize) -> Result<(Vec<Row>, bool), StoreError> {
        self.refresh()?;
        let unwritten = self.known.iter().flat_map(|known| known.unwritten.iter().rev());
        let unwritten = self.ahead.iter().rev().chain(unwritten).cloned().map(Ok);
        let written = self.journal.iter().flat_map(|journal| journal.marks().rev().map(|mark| journal.row_at(mark)));
        let mut rows = Vec::new();
        let mut taken = 0;
        for row in unwritten.chain(written) {
            let row = row.map_err(StoreError::unreadable)?;
            if before.is_some_and(|before| row.revision >= before) {
                continue;
            }
            if rows.len() == limit || taken > bytes {
                return Ok((rows, true));
            }
            taken += row.before.iter().chain(&*row.after).map(|entry| entry.len()).sum::<usize>();
            rows.push(row);
        }
        Ok((rows, false))
    }

    /// Whether the journal has grown so long that [`Store::maintain`] shortens it.
    #[must_use]
    pub fn needs_maintenance(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.is_long(self.limits.revisions))
    }

    /// Does what can wait until the writers are answered: forgets replaced files, and
    /// shortens a journal that has grown long.
    ///
    /// # Errors
    /// A step that failed; the journal is then as it was.
    pub fn maintain(&mut self) -> Result<(), StoreError> {
        self.replaced.clear();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        if let Some(journal) = self.journal.as_mut().filter(|journal| journal.is_long(self.limits.revisions)) {
            // A power cut may take the file back to any revision since it was synced, and that
            // one must still be known.
            let synced = file::sync(&self.paths.file);
            if let Err(error) = synced.and_then(|()| journal.compact(self.limits.revisions, now.as_secs())) {
                self.forget();
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Notes in the journal that the file is durable, for whoever opens the store
    /// next: what the file holds then, it was given after this.
    ///
    /// # Errors
    /// A file that can't be synced or written.
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

    /// The entries as a model may see them; each text is scanned once.
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
