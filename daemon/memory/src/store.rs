//! A store on disk: lock, re-read if the file changed, apply, write the journal,
//! replace the file, answer.

mod backup;
mod transaction;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use herma_disk::file::{self, Placed, Temporary};
use herma_disk::lock::LockFile;
use herma_disk::stamp::Stamp;
use herma_disk::{Cause, DiskError, folder};
use herma_guard::Policy;

use crate::change;
use crate::entries::{Entry, chars, join, parse};
use crate::journal::line::{Action, Author, Row};
use crate::journal::{self, Journal};
use crate::legacy;
use crate::recovery::{Found, Verdict, judge, merge};
use crate::render::shown;
use crate::target::Target;
use crate::usage::Usage;

pub use transaction::{Denied, Edit, Transaction};

/// Largest file that is read as a store, in bytes: far beyond any limit in
/// chars, so that a store that grew elsewhere can still be read and shrunk.
const FILE_LIMIT: u64 = 16 << 20;

/// Age after which a temporary file is one that a killed process left.
const LEFTOVER: Duration = Duration::from_mins(1);

/// Pause between two looks at a file that is just being written.
const PAUSE: Duration = Duration::from_millis(2);

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
    /// The newest revision that was ever known: none is given twice, even when the
    /// journal is gone.
    newest: u64,
}

#[derive(Debug)]
struct Known {
    stamp: Option<Stamp>,
    /// Another write would have left another stamp.
    settled: bool,
    /// The file, when it was put in place by this store.
    placed: Option<Placed>,
    entries: Arc<[Entry]>,
    revision: u64,
    /// What the file holds instead, when it is at an older revision and has to be
    /// replaced.
    behind: Option<Arc<[Entry]>>,
    /// Changes by others that are not in the journal yet.
    unwritten: Vec<Row>,
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
            newest: 0,
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
        Ok(Some(Transaction::new(self, lock)))
    }

    /// The rows of the journal below the revision `before`, newest first, up to
    /// `limit` of them and until their texts have `bytes` bytes. True when older
    /// ones are kept.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn log(&mut self, before: Option<u64>, limit: usize, bytes: usize) -> Result<(Vec<Row>, bool), StoreError> {
        self.refresh()?;
        let unwritten = self.known.iter().flat_map(|known| known.unwritten.iter().rev().cloned().map(Ok));
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

    /// Whether the journal has grown so long that [`Store::rest`] shortens it.
    #[must_use]
    pub fn wants_rest(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.is_long(self.limits.revisions))
    }

    /// Does what can wait until the writers are answered: forgets replaced files, and
    /// shortens a journal that has grown long.
    ///
    /// # Errors
    /// A step that failed; the journal is then as it was.
    pub fn rest(&mut self) -> Result<(), StoreError> {
        self.replaced.clear();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        if let Some(journal) = &mut self.journal
            && let Err(error) = journal.compact(self.limits.revisions, now.as_secs())
        {
            self.forget();
            return Err(error.into());
        }
        Ok(())
    }

    /// Notes in the journal that the file is durable, for whoever opens the store
    /// next: what the file holds then, it was given after this.
    ///
    /// # Errors
    /// A file that can't be synced or written.
    pub fn settle(&mut self) -> Result<(), StoreError> {
        let is_clean = self.known.as_ref().is_some_and(|known| known.behind.is_none() && known.unwritten.is_empty());
        if let Some(journal) = self.journal.as_mut().filter(|_| is_clean)
            && journal.newest().is_some()
        {
            folder::sync(self.paths.folder())?;
            journal.settle()?;
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
        self.newest = self.known.as_ref().map_or(self.newest, |known| known.revision);
        self.known = None;
        self.journal = None;
    }

    fn current(&mut self) -> View {
        let (entries, revision) = match &self.known {
            Some(known) => (Arc::clone(&known.entries), known.revision),
            None => (Arc::default(), 0),
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

    /// Reads what is new, and makes a revision of what others wrote.
    fn refresh(&mut self) -> Result<(), StoreError> {
        let now = Stamp::now(&self.paths.file).map_err(StoreError::unreadable)?;
        let is_same =
            |known: &Known| known.stamp == now && (known.settled || known.placed.as_ref().is_some_and(Placed::is_held));
        let journal_is_current = self.journal.as_ref().is_none_or(Journal::is_current);
        if journal_is_current && self.known.as_ref().is_some_and(is_same) {
            return Ok(());
        }
        if !journal_is_current {
            self.forget();
        }
        let before = self.known.take();
        let (text, stamp, settled) = self.read().map_err(StoreError::unreadable)?;
        let found = parse(&text);
        let known = match before {
            Some(mut known) => {
                (known.stamp, known.settled, known.placed) = (stamp, settled, None);
                match known.behind.clone() {
                    Some(held) if *held != *found => self.take_merged(&mut known, &held, found),
                    None if *known.entries != *found => self.take_external(&mut known, found),
                    _ => {}
                }
                known
            }
            None => self.open(found, stamp, settled)?,
        };
        let known = self.known.insert(known);
        if !known.unwritten.is_empty()
            && let Some(journal) = &mut self.journal
            && journal.commit(known.unwritten.clone(), None).is_ok()
        {
            // Whoever only reads needs no disk that can be written.
            known.unwritten.clear();
        }
        Ok(())
    }

    /// The file's text and stamp, and whether another write would have left another
    /// stamp. One that has just become empty is read again until it stays so: an
    /// editor that writes in place cuts it first.
    fn read(&self) -> Result<(String, Option<Stamp>, bool), DiskError> {
        loop {
            let reading = SystemTime::now();
            let read = file::read_text(&self.paths.file, FILE_LIMIT)?;
            let (text, stamp) = read.map_or((String::new(), None), |(text, stamp)| (text, Some(stamp)));
            let settled = stamp.is_none_or(|stamp| stamp.is_settled(reading));
            if !text.is_empty() || settled || stamp.is_some_and(|stamp| stamp.modified_at() > unix(reading)) {
                return Ok((text, stamp, settled));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// What a file means that is seen for the first time.
    fn open(&mut self, found: Vec<Entry>, stamp: Option<Stamp>, settled: bool) -> Result<Known, StoreError> {
        let journal = match self.journal.take() {
            Some(journal) => journal,
            None => Journal::open(&self.paths.journal).map_err(StoreError::unreadable)?,
        };
        let mut known = Known {
            stamp,
            settled,
            placed: None,
            entries: Arc::default(),
            revision: 0,
            behind: None,
            unwritten: Vec::new(),
        };
        match journal.newest() {
            None => {
                let counted = legacy::revision(&self.paths.journal, &join(&found)).map_err(StoreError::unreadable)?;
                // A journal that is gone took the past with it, so nobody can say that the
                // text is still the same.
                let lost = if self.newest > 0 { self.newest + 1 } else { 0 };
                known.revision = counted.max(journal.revision()).max(lost);
                if !found.is_empty() {
                    known.revision = known.revision.max(1);
                    known.entries = found.into();
                    known.unwritten.push(external(known.revision, &known.entries, &known.entries));
                }
            }
            Some(newest) => {
                known.entries = Arc::clone(&newest.after);
                known.revision = journal.revision().max(self.newest);
                if *known.entries != *found {
                    match self.judge(&journal, newest, &found, stamp).map_err(StoreError::unreadable)? {
                        Verdict::Replay => known.behind = Some(found.into()),
                        Verdict::External => self.take_external(&mut known, found),
                    }
                }
            }
        }
        self.journal = Some(journal);
        Ok(known)
    }

    fn judge(
        &self,
        journal: &Journal,
        newest: &Row,
        entries: &[Entry],
        stamp: Option<Stamp>,
    ) -> Result<Verdict, DiskError> {
        let last: Vec<_> = journal.marks().rev().take_while(|mark| mark.time.total_cmp(&newest.time).is_eq()).collect();
        let before_last = match last.last() {
            Some(first) => journal.row_at(first)?.before,
            None => Arc::default(),
        };
        let found = Found {
            entries,
            written_at: stamp.map(|stamp| stamp.modified_at()),
            before_last: &before_last,
            may_be_unfinished: newest.action != Action::External && !journal.is_settled(),
        };
        judge(&found, || {
            for mark in journal.marks().rev() {
                if *journal.row_at(mark)?.before == *entries {
                    return Ok(Some(mark.time));
                }
            }
            Ok(None)
        })
    }

    fn take_external(&mut self, known: &mut Known, found: Vec<Entry>) {
        let found: Arc<[Entry]> = found.into();
        known.revision += 1;
        known.unwritten.push(external(known.revision, &known.entries, &found));
        known.entries = found;
        known.behind = None;
        self.events.push(Event { revision: known.revision, action: Action::External, session: None });
    }

    /// Somebody changed the file before the newest revision could be put in its place:
    /// both changes count.
    fn take_merged(&mut self, known: &mut Known, held: &[Entry], found: Vec<Entry>) {
        let merged = merge(held, &known.entries, &found);
        let found: Arc<[Entry]> = found.into();
        self.take_external(known, merged);
        known.behind = (known.entries != found).then_some(found);
    }

    /// Puts the newest revision in the place of a file that is behind it. The lock
    /// must be held.
    fn catch_up(&mut self) -> Result<(), StoreError> {
        if let Some(known) = self.known.as_mut().filter(|known| known.behind.is_some()) {
            let text = join(&known.entries);
            let stamp = file::replace(&self.paths.file, text.as_bytes(), TEMPORARY)?;
            tracing::info!("{}: put revision {} in place", self.paths.file.display(), known.revision);
            (known.stamp, known.settled, known.placed, known.behind) = (Some(stamp), false, None, None);
        }
        Ok(())
    }
}

fn external(revision: u64, before: &Arc<[Entry]>, after: &Arc<[Entry]>) -> Row {
    Row {
        revision,
        time: unix(SystemTime::now()),
        action: Action::External,
        author: Author::default(),
        before: Arc::clone(before),
        after: Arc::clone(after),
    }
}

/// Unix seconds.
fn unix(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
mod tests;
