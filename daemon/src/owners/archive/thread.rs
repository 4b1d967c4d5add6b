//! The thread of the archive: opens the file, does the jobs, sets a damaged file aside.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, TryRecvError};

use herma_archive::{Archive, ArchiveError};
use herma_disk::quarantine;

use super::{Condition, Job, Refill, Shared};

/// Messages that are put into the text index at one time, while nobody waits.
const SLICE: usize = 200;

/// The archive of a home, and how far it can be used.
pub(super) fn begin(path: &Path) -> (Option<Archive>, Condition) {
    // SQLite would make the file readable for others; its log and index take after
    // it.
    if let Err(error) = herma_disk::file::append_to(path) {
        return (None, broken(error.to_string()));
    }
    match Archive::open(path) {
        Ok(archive) => (Some(archive), Condition::InUse(None)),
        Err(error) if error.is_damaged() => begin_anew(path, &error),
        Err(error @ ArchiveError::Newer { .. }) => {
            tracing::error!("the archive is only read: {error}");
            (None, Condition::ReadOnly(error.to_string()))
        }
        Err(error) => (None, broken(format!("{}: {error}", path.display()))),
    }
}

/// Sets a damaged archive aside and begins a new one.
fn begin_anew(path: &Path, damage: &ArchiveError) -> (Option<Archive>, Condition) {
    let kept = match quarantine::quarantine(&[path.to_owned(), beside(path, "-wal"), beside(path, "-shm")]) {
        Ok(kept) => kept,
        Err(error) => return (None, broken(format!("{damage}; it could not be set aside: {error}"))),
    };
    let words = format!("a damaged archive was set aside as {}: {damage}", kept.display());
    tracing::error!("{words}");
    let opened = herma_disk::file::append_to(path).map_err(|error| error.to_string());
    match opened.and_then(|_| Archive::open(path).map_err(|error| error.to_string())) {
        Ok(archive) => (Some(archive), Condition::InUse(Some(words))),
        Err(error) => (None, broken(format!("{words}; no new one could be made: {error}"))),
    }
}

fn broken(words: String) -> Condition {
    tracing::error!("the archive is not in use: {words}");
    Condition::Broken(words)
}

pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether SQLite's log is there, which a closed database has not. An empty one
/// counts: a removal empties the log, and a reader writes nothing to it.
pub(super) fn has_log(path: &Path) -> bool {
    beside(path, "-wal").exists()
}

/// Does the jobs, and while there are none puts messages into the text index.
pub(super) fn serve(archive: Archive, jobs: &Receiver<Job>, shared: &Shared, refill: &Refill) {
    let mut archive = archive;
    let mut behind = true;
    loop {
        let job = if behind {
            match jobs.try_recv() {
                Ok(job) => Some(job),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => return,
            }
        } else {
            match jobs.recv() {
                Ok(job) => Some(job),
                Err(_) => return,
            }
        };
        // The archive itself stays whole: SQLite rolls back a transaction whose
        // guard is dropped.
        let done = catch_unwind(AssertUnwindSafe(|| match job {
            Some(job) => job(&mut archive).map(|()| true),
            None => archive.index_pending(SLICE).map(|left| left > 0).map_err(Arc::new),
        }));
        match done {
            Ok(Ok(is_behind)) => behind = is_behind,
            Ok(Err(error)) if error.is_damaged() => match renewed(archive, shared, &error, refill) {
                Some(anew) => archive = anew,
                None => return,
            },
            Ok(Err(error)) => {
                behind = false;
                tracing::warn!("the archive: {error}");
            }
            Err(_) => {
                behind = false;
                tracing::error!("a job of the archive panicked");
            }
        }
    }
}

/// What takes the place of an archive that turned out to be damaged.
fn renewed(archive: Archive, shared: &Shared, damage: &ArchiveError, refill: &Refill) -> Option<Archive> {
    let mut readers = shared.readers();
    readers.clear();
    drop(archive);
    let (anew, condition) = begin_anew(&shared.path, damage);
    shared.become_(condition);
    shared.epoch.fetch_add(1, Ordering::AcqRel);
    drop(readers);
    let mut anew = anew?;
    refill(&mut anew);
    Some(anew)
}
