//! The files on disk: check for changes, apply, write the journal, put in place, answer.
//!
//! The journal is synced before a file is replaced, and the file's folder before the next change. So only the newest
//! change can be in the journal without being in place. A settled line after the row shows that it is in place. Without
//! that line, an opened store puts the change in place if the files are still those that it replaces.

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
use super::file_set::Files;
use super::limits::FileLimits;
use super::path::FilePath;
use super::refusal::FileRefusal;
use super::row::{FileAction, FileRow};
use super::rules::Rules;
use crate::journal::{Journal, TEMPORARY};
use crate::store::StoreError;

pub use transaction::Transaction;

/// Maximum number of files and folders in a walk.
const MAX_ENTRIES: usize = 20_000;

/// Longest file of another program that is read, in bytes. Longer ones are left alone.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Maximum bytes of all texts in memory. Further files are left alone.
const MAX_TOTAL_BYTES: u64 = 32 << 20;

/// Size in bytes above which a journal is shortened, however few changes it has.
const LONGEST_JOURNAL: u64 = 64 << 20;

/// Age at which a temporary file counts as left over from a killed process.
const LEFTOVER: Duration = Duration::from_mins(1);

/// A new revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEvent {
    /// The revision.
    pub revision: u64,
    /// The action that made it.
    pub action: FileAction,
    /// The files that it changed.
    pub paths: Vec<FilePath>,
    /// The session that made it.
    pub session: Option<String>,
    /// The agent that made it.
    pub agent: Option<String>,
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The effect of the change.
    pub done: Done,
    /// The newest revision.
    pub revision: u64,
    /// The revision of the changed file or folder; 0 if it is removed.
    pub own_revision: u64,
    /// Whether nothing had to be changed.
    pub is_same: bool,
    /// Findings for which the guard only warns.
    pub warnings: Vec<Finding>,
}

/// The reason why a command failed.
#[derive(Debug)]
pub enum FileStoreError {
    /// The command is refused.
    Refused(FileRefusal),
    /// The journal does not have that revision.
    NotKept {
        /// The requested revision.
        revision: u64,
        /// The oldest and the newest kept revision.
        kept: Option<(u64, u64)>,
    },
    /// The files or the journal can't be read or written.
    Store(StoreError),
}

impl From<FileRefusal> for FileStoreError {
    fn from(refusal: FileRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<StoreError> for FileStoreError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<DiskError> for FileStoreError {
    fn from(error: DiskError) -> Self {
        Self::Store(error.into())
    }
}

/// Whether changes by other programs must be in the journal before the store answers. A reader needs no writable disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Journalling {
    Needed,
    Wanted,
}

/// The files of a profile, used by one thread at a time.
///
/// Invariant: `known` is the state of the tree when it was last walked or changed, and `journal` the content of its
/// journal. A failure drops both, so that they are read again before the next change.
#[derive(Debug)]
pub struct FileStore {
    tree: Tree,
    journal_path: PathBuf,
    limits: FileLimits,
    policy: Arc<Policy>,
    journal: Option<Journal<FileRow>>,
    known: Option<Files>,
    /// The files as found when their changes could not be written to the journal.
    unwritten: Option<Files>,
    events: Vec<FileEvent>,
    /// The newest revision ever known. No revision is assigned twice, even if the journal is gone.
    newest: u64,
}

/// The files according to the journal: their texts, and the revisions that last changed them.
type State = BTreeMap<FilePath, (Arc<str>, u64)>;

impl FileStore {
    /// Creates a store that is read at its first use: the files below `root`, with the journal at `journal_path`.
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

    /// Returns the folder of the files.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.tree.root()
    }

    /// Returns the limits.
    #[must_use]
    pub const fn limits(&self) -> FileLimits {
        self.limits
    }

    /// Returns the guard's policy.
    #[must_use]
    pub const fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// Returns the number of unreadable lines in the journal.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.journal.as_ref().map_or(0, Journal::damaged)
    }

    /// Returns the current files. Reads only files that changed.
    ///
    /// # Errors
    /// A folder or the journal can't be read, or there are more files than the store walks.
    pub fn view(&mut self) -> Result<&Files, StoreError> {
        self.look(Journalling::Wanted)
    }

    /// Returns the folders that the last walk found, without the root.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        let entries = self.known.iter().flat_map(|known| &known.entries);
        let folders = entries.filter(|entry| entry.folder_bytes.is_some());
        folders.map(|entry| self.root().join(entry.path.as_str())).collect()
    }

    /// Drops the known state, after an unexpected error.
    pub fn reset(&mut self) {
        self.forget();
    }

    /// Returns the revisions that are new since the last call.
    pub fn take_events(&mut self) -> Vec<FileEvent> {
        std::mem::take(&mut self.events)
    }

    /// Walks the tree and starts a change.
    ///
    /// # Errors
    /// As [`FileStore::view`].
    pub fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        self.look(Journalling::Needed)?;
        Ok(Transaction::new(self))
    }

    /// Notes in the journal that everything is in place, for the next process that opens it.
    ///
    /// # Errors
    /// The note can't be written.
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

/// Returns the index of the first row to keep, given the bytes of each row. Keeps the newest `keep` rows, or fewer if
/// they exceed half of the longest journal. Always keeps the newest row.
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

/// Removes temporary files that a killed process left while it shortened a journal.
fn sweep(journal_path: &Path) -> Result<(), DiskError> {
    let journals = journal_path.parent().unwrap_or(Path::new("."));
    folder::sweep(journals, TEMPORARY.prefix, TEMPORARY.suffix, LEFTOVER, SystemTime::now()).map(drop)
}

#[cfg(test)]
mod tests;
