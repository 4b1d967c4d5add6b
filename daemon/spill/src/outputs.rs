//! The folder with the full texts: `<root>/<session>/<id>.txt`.
//!
//! A handle is derived from the two names, so that it leads to its file without the catalog too.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use herma_disk::DiskError;
use herma_disk::file::Temporary;

use crate::catalog::{Catalog, Record, State};
use crate::handle::Handle;
use crate::name;
use crate::path_locks::PathLocks;
use crate::readings::ReturnedTexts;

mod collect;
mod keep;
mod read;
mod rewrite;
mod search;
mod sweep;

pub use collect::{Collected, Expired, Gone};
pub use keep::{Kept, Origin};
pub use read::View;
pub use rewrite::Rewritten;
pub use sweep::Swept;

/// The maximum length of an output that is read back, in bytes.
const FILE_LIMIT: u64 = 1 << 30;

const TEMPORARY: Temporary = Temporary { prefix: ".out_", suffix: ".tmp" };

/// The suffix of the file of an output.
const SUFFIX: &str = ".txt";

/// The suffix of the file of an output's index, after the output's name.
const INDEX_SUFFIX: &str = ".txt.idx";

/// Spilled outputs on disk, for use by any thread.
#[derive(Debug)]
pub struct Outputs {
    root: PathBuf,
    catalog: Mutex<Catalog>,
    path_locks: PathLocks,
    readings: ReturnedTexts,
    indexes: Mutex<read::Indexes>,
    stopped: AtomicBool,
    /// Folders whose names are known to be durable.
    durable: Mutex<std::collections::HashSet<String>>,
}

impl Outputs {
    /// Returns the outputs below `root`, which need not exist yet. The catalog is in memory only.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self::with(root, Catalog::default())
    }

    /// Returns the outputs below `root`, with the catalog in a file. Only the holder of the home's lock may call this.
    /// [`Outputs::sweep`] must follow.
    #[must_use]
    pub fn open(root: PathBuf, catalog: &Path) -> Self {
        Self::with(root, Catalog::open(catalog))
    }

    fn with(root: PathBuf, catalog: Catalog) -> Self {
        Self {
            root,
            catalog: Mutex::new(catalog),
            path_locks: PathLocks::default(),
            readings: ReturnedTexts::default(),
            indexes: Mutex::default(),
            stopped: AtomicBool::new(false),
            durable: Mutex::default(),
        }
    }

    /// Makes a running sweep or collection, and any later one, end before its next file, because the daemon is about to
    /// stop. Outputs are still kept and read.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Returns the number of kept outputs, and their bytes. Identical outputs count their bytes once.
    #[must_use]
    pub fn usage(&self) -> (u64, u64) {
        self.catalog().known.usage()
    }

    /// Returns the records of the outputs of a session, or of all, the newest first. A session has also the outputs
    /// that were found in its folder.
    #[must_use]
    pub fn list(&self, session: Option<&str>, limit: usize) -> Vec<Record> {
        self.list_where(session, limit, |_| true)
    }

    /// Returns those of them that `is_asked` accepts. `is_asked` must not use these outputs, because they are locked
    /// meanwhile.
    #[must_use]
    pub fn list_where(&self, session: Option<&str>, limit: usize, is_asked: impl Fn(&Record) -> bool) -> Vec<Record> {
        let folder = session.map(name::safe);
        let is_of_session = |record: &Record| match (session, &folder) {
            (Some(session), Some(folder)) => *record.session == *session || record.is_found_in(folder),
            _ => true,
        };
        self.catalog().known.newest(limit, |record| is_of_session(record) && is_asked(record))
    }

    /// Returns the record of an output.
    #[must_use]
    pub fn record(&self, handle: Handle) -> Option<Record> {
        self.catalog().known.get(handle).cloned()
    }

    /// Returns where the file of an output is, or was.
    #[must_use]
    pub fn path(&self, record: &Record) -> PathBuf {
        self.root.join(&*record.file)
    }

    /// Returns when an earlier daemon last collected outputs, in Unix seconds.
    #[must_use]
    pub fn last_seen(&self) -> Option<f64> {
        self.catalog().last_seen
    }

    /// Returns the notices for the log since the last call.
    #[must_use]
    pub fn take_notices(&self) -> Vec<String> {
        self.catalog().take_notices()
    }

    /// Remembers a text that is returned to an agent, so that it is not spilled when it comes back.
    pub fn gave(&self, text: &str) {
        self.readings.gave(text);
    }

    /// Whether a content was returned to an agent before.
    #[must_use]
    pub fn is_reading(&self, content: &str) -> bool {
        self.readings.is_reading(content)
    }

    fn catalog(&self) -> MutexGuard<'_, Catalog> {
        self.catalog.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the records of all outputs that are kept now.
    fn kept(&self) -> Vec<Record> {
        self.catalog().known.records().filter(|record| record.state == State::Kept).cloned().collect()
    }

    /// Removes the file of an output and that of its index. Returns how many bytes that frees.
    fn remove_file(&self, file: &str) -> Result<u64, DiskError> {
        let path = self.root.join(file);
        let freed = herma_disk::file::remove_name(&path)?;
        let index = read::index_path(&path);
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner).forget(&path);
        herma_disk::file::remove(&index)?;
        Ok(freed)
    }
}

#[cfg(test)]
mod tests;
