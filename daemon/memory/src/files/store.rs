//! The files on disk: look whether they are still those that are known, apply, write the journal, put in place, answer.
//!
//! The journal is synced before a file takes its place, and the folder of the file before the next change. So at most
//! the newest change can be in the journal and not in its place, which a line behind it tells apart: after a crash it
//! is put in place where the files still are those that it replaced.

mod log;
mod look;
mod past;
mod put_back;
mod transaction;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use herma_disk::tree::Tree;
use herma_disk::{DiskError, folder};
use herma_guard::{Finding, Policy};

use super::edit::Done;
use super::held::Files;
use super::limits::FileLimits;
use super::path::FilePath;
use super::refusal::FileRefusal;
use super::row::{FileAction, FileRow};
use super::rules::Rules;
use crate::journal::{Journal, TEMPORARY};
use crate::store::StoreError;

pub use transaction::Transaction;

/// Files and folders that are looked at.
const MOST_ENTRIES: usize = 20_000;

/// Bytes of a file that another program made and that is read. Longer ones are left alone.
const LONGEST_READ: u64 = 1 << 20;

/// Bytes of all texts that are held: what is beyond them is left alone.
const MOST_HELD: u64 = 32 << 20;

/// Bytes of a journal that is shortened, however few changes it has.
const LONGEST_JOURNAL: u64 = 64 << 20;

/// Age after which a temporary file is one that a killed process left.
const LEFTOVER: Duration = Duration::from_mins(1);

/// A new revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEvent {
    /// The revision.
    pub revision: u64,
    /// What made it.
    pub action: FileAction,
    /// The files that it changed.
    pub paths: Vec<FilePath>,
    /// The session that made it.
    pub session: Option<String>,
}

/// What a change came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What was done.
    pub done: Done,
    /// The newest revision.
    pub revision: u64,
    /// The revision of what was changed; 0 when it is gone.
    pub own_revision: u64,
    /// Nothing had to be changed.
    pub is_same: bool,
    /// What the guard only warns of.
    pub warnings: Vec<Finding>,
}

/// Why something was not done.
#[derive(Debug)]
pub enum FileDenied {
    /// It may not be.
    Refused(FileRefusal),
    /// That revision is not in the journal.
    NotKept {
        /// The one that was asked for.
        revision: u64,
        /// The oldest and the newest one that is kept.
        kept: Option<(u64, u64)>,
    },
    /// The files or the journal can't be read or written.
    Store(StoreError),
}

impl From<FileRefusal> for FileDenied {
    fn from(refusal: FileRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<StoreError> for FileDenied {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<DiskError> for FileDenied {
    fn from(error: DiskError) -> Self {
        Self::Store(error.into())
    }
}

/// Whether what another program did has to be in the journal before anything is answered: whoever only reads needs no
/// disk that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Journalling {
    Needed,
    Wanted,
}

/// The files of a profile, used by one thread at a time.
///
/// Invariant: `known` is what the tree held when it was last looked at or changed, and `journal` what its journal holds;
/// both are forgotten after any failure, so that they are read again before the next change.
#[derive(Debug)]
pub struct FileStore {
    tree: Tree,
    journal_path: PathBuf,
    limits: FileLimits,
    policy: Arc<Policy>,
    journal: Option<Journal<FileRow>>,
    known: Option<Files>,
    /// What there was to be seen when the journal could not take it.
    unwritten: Option<Files>,
    events: Vec<FileEvent>,
    /// The newest revision that was ever known: none is given twice, even when the journal is gone.
    newest: u64,
}

/// What the journal says of the files: their texts, and the revisions that changed them last.
type State = BTreeMap<FilePath, (Arc<str>, u64)>;

impl FileStore {
    /// Files that are read when they are first used: those below `root`, with the journal at `journal_path`.
    #[must_use]
    pub const fn new(root: PathBuf, journal_path: PathBuf, limits: FileLimits, policy: Arc<Policy>) -> Self {
        let tree = Tree::new(root);
        Self {
            tree,
            journal_path,
            limits,
            policy,
            journal: None,
            known: None,
            unwritten: None,
            events: Vec::new(),
            newest: 0,
        }
    }

    /// Where the files are.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.tree.root()
    }

    /// How much is kept.
    #[must_use]
    pub const fn limits(&self) -> FileLimits {
        self.limits
    }

    /// What the guard blocks.
    #[must_use]
    pub const fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// Lines of the journal that can't be read.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.journal.as_ref().map_or(0, Journal::damaged)
    }

    /// What is there now. Files are read only where they changed.
    ///
    /// # Errors
    /// A folder or a journal that can't be read, or more files than are looked at.
    pub fn view(&mut self) -> Result<&Files, StoreError> {
        self.look(Journalling::Wanted)
    }

    /// The folders that were seen when the files were looked at last, the root not among them.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        let entries = self.known.iter().flat_map(|known| &known.entries);
        let folders = entries.filter(|entry| entry.folder_bytes.is_some());
        folders.map(|entry| self.root().join(entry.path.as_str())).collect()
    }

    /// Forgets what is known, after something went wrong that nobody foresaw.
    pub fn begin_anew(&mut self) {
        self.forget();
    }

    /// The revisions that are new since this was asked last.
    pub fn take_events(&mut self) -> Vec<FileEvent> {
        std::mem::take(&mut self.events)
    }

    /// Looks at what is there, to change it.
    ///
    /// # Errors
    /// As [`FileStore::view`].
    pub fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        self.look(Journalling::Needed)?;
        Ok(Transaction::new(self))
    }

    /// Notes in the journal that everything is in its place, for whoever opens it next.
    ///
    /// # Errors
    /// A note that can't be written.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        match &mut self.journal {
            Some(journal) => journal.flush().map_err(StoreError::from),
            None => Ok(()),
        }
    }

    fn rules(&self) -> Rules<'_> {
        Rules { limits: self.limits, policy: &self.policy }
    }

    fn forget(&mut self) {
        self.newest = self.newest.max(self.known.as_ref().map_or(0, |known| known.revision));
        self.known = None;
        self.journal = None;
    }

    /// Shortens a journal that has grown long.
    fn maintain(&mut self) -> Result<(), StoreError> {
        let keep = self.limits.revisions;
        let Some(journal) = &mut self.journal else { return Ok(()) };
        if !journal.is_long(keep) && journal.bytes() <= LONGEST_JOURNAL {
            return Ok(());
        }
        let lengths: Vec<u64> = journal.marks().map(|mark| mark.bytes()).collect();
        let from = kept_from(&lengths, keep);
        let Some(first_kept) = journal.marks().nth(from).map(|mark| mark.revision) else { return Ok(()) };
        if from == 0 {
            return Ok(());
        }
        let revision = first_kept.saturating_sub(1);
        let state = past::state(journal, Some(revision))?;
        let first = past::found(revision, unix_now(), &state);
        journal.shorten(from, Some(&first), unix_seconds())?;
        Ok(())
    }
}

/// The place of the first row that stays, of rows with these lengths: the newest `keep`, or as many as are half of what
/// a journal may have; always the newest one.
fn kept_from(lengths: &[u64], keep: usize) -> usize {
    let mut bytes = 0_u64;
    let fits = lengths.iter().rev().take(keep).take_while(|length| {
        bytes = bytes.saturating_add(**length);
        bytes <= LONGEST_JOURNAL / 2
    });
    lengths.len().saturating_sub(fits.count().max(1))
}

fn unix_now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Removes what a killed process left of a journal that it was shortening.
fn sweep(journal_path: &Path) -> Result<(), DiskError> {
    let journals = journal_path.parent().unwrap_or(Path::new("."));
    folder::sweep(journals, TEMPORARY.prefix, TEMPORARY.suffix, LEFTOVER, SystemTime::now()).map(drop)
}

#[cfg(test)]
mod tests;
