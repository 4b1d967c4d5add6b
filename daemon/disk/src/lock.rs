//! Advisory locks on files that are never renamed over: flock(2), which other
//! programs that lock the same file see too.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::DiskError;
use crate::error::At;
use crate::file::open_own;
use crate::schedule::step;

/// How often a lock file is opened that is removed or replaced in the same moment.
const ATTEMPTS: usize = 16;

/// A lock that is held until this is dropped. The file stays, for a deleted
/// lock file could be locked twice.
#[derive(Debug)]
#[must_use = "the lock ends when this is dropped"]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock on `path`, which is created when missing, if nobody holds it;
    /// `None` when somebody does.
    ///
    /// # Errors
    /// A lock file that can't be opened or locked, or is no regular file.
    pub fn try_now(path: &Path) -> Result<Option<Self>, DiskError> {
        for _ in 0..ATTEMPTS {
            let lock = Self { file: open(path)? };
            step();
            if !try_lock(&lock.file, path)? {
                return Ok(None);
            }
            step();
            if lock.is_in_place(path) {
                return Ok(Some(lock));
            }
        }
        Ok(None)
    }

    /// Takes the lock on `path`, which is created when missing. If somebody holds it, this waits.
    ///
    /// # Errors
    /// A lock file that can't be opened or locked, or is no regular file.
    pub fn wait(path: &Path) -> Result<Self, DiskError> {
        loop {
            let lock = Self { file: open(path)? };
            fs4::FileExt::lock(&lock.file).at("lock", path)?;
            // The lock file was removed or replaced meanwhile, and others lock the new one.
            if lock.is_in_place(path) {
                return Ok(lock);
            }
        }
    }

    /// Whether the file at `path` is still the one that is locked. One that can't be looked at
    /// for another reason than that it is gone counts as in place.
    #[must_use]
    pub fn is_in_place(&self, path: &Path) -> bool {
        let Ok(own) = self.file.metadata() else { return true };
        match std::fs::symlink_metadata(path) {
            Ok(here) => (here.dev(), here.ino()) == (own.dev(), own.ino()),
            Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
        }
    }

    /// Writes who holds the lock into its file, for people who look.
    ///
    /// # Errors
    /// A lock file that can't be written.
    pub fn sign(&mut self, path: &Path, text: &str) -> Result<(), DiskError> {
        self.file.set_len(0).at("write", path)?;
        self.file.seek(SeekFrom::Start(0)).at("write", path)?;
        self.file.write_all(text.as_bytes()).at("write", path)
    }
}

/// A lock that is taken again and again: its file stays open in between.
#[derive(Debug)]
pub struct LockFile {
    path: PathBuf,
    open: Option<(Arc<File>, (u64, u64))>,
}

impl LockFile {
    /// The lock on `path`, whose file is opened when it is first taken.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self { path, open: None }
    }

    /// As [`Lock::try_now`]. A lock file that was removed or replaced meanwhile is
    /// opened anew, for the others lock the new one.
    ///
    /// # Errors
    /// A lock file that can't be opened or locked, or is no regular file.
    pub fn try_now(&mut self) -> Result<Option<Locked>, DiskError> {
        for _ in 0..ATTEMPTS {
            let (file, identity) = match &self.open {
                Some(open) => open,
                None => {
                    let file = Arc::new(open(&self.path)?);
                    let metadata = file.metadata().at("inspect", &self.path)?;
                    self.open.insert((file, (metadata.dev(), metadata.ino())))
                }
            };
            step();
            let locked = Locked::take(file, &self.path)?;
            step();
            // What was removed meanwhile is no lock, for the others lock the new file.
            let here = std::fs::metadata(&self.path).ok().map(|here| (here.dev(), here.ino()));
            if here == Some(*identity) {
                return Ok(locked);
            }
            self.open = None;
        }
        Ok(None)
    }
}

/// A [`LockFile`] that is held until this is dropped.
#[derive(Debug)]
#[must_use = "the lock ends when this is dropped"]
pub struct Locked {
    file: Arc<File>,
}

impl Locked {
    fn take(file: &Arc<File>, path: &Path) -> Result<Option<Self>, DiskError> {
        Ok(try_lock(file, path)?.then(|| Self { file: Arc::clone(file) }))
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // It can only fail for a file that is no file.
        drop(fs4::FileExt::unlock(&*self.file));
    }
}

/// Who holds a lock, as [`Lock::sign`] wrote it; empty when nobody signed.
///
/// # Errors
/// A lock file that can't be read.
pub fn holder(path: &Path) -> Result<String, DiskError> {
    let mut text = String::new();
    open_own(path, OpenOptions::new().read(true))
        .and_then(|file| file.take(4096).read_to_string(&mut text))
        .at("read", path)?;
    Ok(text.trim().to_owned())
}

/// Whether the lock was free, and is had now.
fn try_lock(file: &File, path: &Path) -> Result<bool, DiskError> {
    match fs4::FileExt::try_lock(file) {
        Ok(()) => Ok(true),
        Err(fs4::TryLockError::WouldBlock) => Ok(false),
        Err(fs4::TryLockError::Error(error)) => Err(error).at("lock", path),
    }
}

fn open(path: &Path) -> Result<File, DiskError> {
    let mut options = OpenOptions::new();
    open_own(path, options.read(true).write(true).create(true).truncate(false).mode(0o600)).at("open", path)
}

#[cfg(all(test, feature = "shuttle"))]
mod schedules;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn a_held_lock_is_seen_and_ends_with_its_value() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l");
        let mut lock = Lock::try_now(&path).unwrap().unwrap();
        lock.sign(&path, "pid 1").unwrap();
        assert!(Lock::try_now(&path).unwrap().is_none());
        assert_eq!(holder(&path).unwrap(), "pid 1");
        drop(lock);
        assert!(Lock::try_now(&path).unwrap().is_some());
    }

    #[test]
    fn a_lock_whose_file_is_gone_or_another_one_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("f");
        std::fs::create_dir(&below).unwrap();
        let path = below.join("l");
        let lock = Lock::try_now(&path).unwrap().unwrap();
        assert!(lock.is_in_place(&path));
        std::fs::remove_file(&path).unwrap();
        assert!(!lock.is_in_place(&path));
        let other = Lock::try_now(&path).unwrap().unwrap();
        assert!(!lock.is_in_place(&path) && other.is_in_place(&path));
        std::fs::remove_dir_all(&below).unwrap();
        assert!(!other.is_in_place(&path));
        std::fs::write(&below, "").unwrap();
        assert!(!other.is_in_place(&path));
    }

    #[test]
    fn a_lock_that_stays_open_excludes_others_also_after_its_file_was_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l");
        let mut lock = LockFile::new(path.clone());
        for _ in 0..2 {
            let held = lock.try_now().unwrap().unwrap();
            assert!(Lock::try_now(&path).unwrap().is_none());
            drop(held);
            let other = Lock::try_now(&path).unwrap().unwrap();
            assert!(lock.try_now().unwrap().is_none());
            drop(other);
            std::fs::remove_file(&path).unwrap();
        }
    }
}
