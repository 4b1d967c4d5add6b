//! The identity of the archive's files: the archive itself, SQLite's log next to it, and the index of that log.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The suffixes that SQLite appends to the archive's name for its log and the log's index.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];

/// The device and inode of each file, if it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Files {
    archive: Option<(u64, u64)>,
    companions: [Option<(u64, u64)>; 2],
}

/// A change of the files since they were opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// The archive was removed.
    Removed,
    /// Another file has its name.
    Replaced,
    /// The archive exists, but its log is not the one that the daemon wrote.
    LogLost,
}

impl Files {
    /// Returns the files that exist now.
    pub(super) fn at(path: &Path) -> Self {
        Self { archive: identity(path), companions: COMPANIONS.map(|suffix| identity(&with_suffix(path, suffix))) }
    }

    /// Returns how the files have changed. A file that is new is no change, because SQLite creates its log when it
    /// needs it.
    pub(super) fn change(&mut self, path: &Path) -> Option<Change> {
        let now = Self::at(path);
        if now == *self {
            return None;
        }
        if now.archive != self.archive {
            return Some(if now.archive.is_none() { Change::Removed } else { Change::Replaced });
        }
        let is_lost = |(before, now): (&Option<_>, &Option<_>)| before.is_some() && before != now;
        if self.companions.iter().zip(&now.companions).any(is_lost) {
            return Some(Change::LogLost);
        }
        *self = now;
        None
    }

    /// Removes the remaining log of an archive that was closed and copied. Keeps a log that now belongs to another
    /// archive.
    pub(super) fn remove_log(&self, path: &Path) -> io::Result<()> {
        for (suffix, known) in COMPANIONS.iter().zip(&self.companions) {
            let name = with_suffix(path, suffix);
            if known.is_some() && identity(&name) == *known {
                herma_disk::file::remove(&name).map_err(|error| error.source)?;
            }
        }
        Ok(())
    }
}

/// A file that can't be examined counts as missing.
fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Returns the paths of the archive, its log and the log's index, which belong together.
pub(super) fn all(path: &Path) -> [PathBuf; 3] {
    [path.to_owned(), with_suffix(path, COMPANIONS[0]), with_suffix(path, COMPANIONS[1])]
}

/// Returns the archive's path with a suffix.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether SQLite's log exists; a closed database has none. An empty log counts too: a removal empties the log, and a
/// reader writes nothing to it.
pub(super) fn has_log(path: &Path) -> bool {
    with_suffix(path, COMPANIONS[0]).exists()
}

/// Whether something exists here that may contain sessions. An empty file does not count.
pub(super) fn is_something(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(found) => !found.is_file() || found.len() > 0,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test")]

    use super::*;

    #[test]
    fn changes_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let put = |suffix: &str| fs::write(with_suffix(&path, suffix), "x").unwrap();
        let take = |suffix: &str| fs::remove_file(with_suffix(&path, suffix)).unwrap();
        put("");
        let mut files = Files::at(&path);
        assert_eq!(files.change(&path), None);
        put("-wal");
        assert_eq!((files.change(&path), files.change(&path)), (None, None));
        let moved = with_suffix(&path, "-moved");
        fs::rename(with_suffix(&path, "-wal"), &moved).unwrap();
        assert_eq!(files.change(&path), Some(Change::LogLost));
        put("-wal");
        assert_eq!(files.change(&path), Some(Change::LogLost));
        files.remove_log(&path).unwrap();
        assert!(has_log(&path), "the log of another one");
        fs::rename(&moved, with_suffix(&path, "-wal")).unwrap();
        files.remove_log(&path).unwrap();
        assert!(!has_log(&path));
        fs::rename(&path, &moved).unwrap();
        assert_eq!(files.change(&path), Some(Change::Removed));
        put("");
        assert_eq!(files.change(&path), Some(Change::Replaced));
        take("");
        assert!(!is_something(&path));
        fs::write(&path, "").unwrap();
        assert!(!is_something(&path));
        put("");
        assert!(is_something(&path) && is_something(folder.path()));
    }
}
