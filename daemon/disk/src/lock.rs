//! Advisory locks with flock(2), on files that are never renamed over. Other programs that lock the
//! same file respect them.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::DiskError;
use crate::error::At;
use crate::file::open_own;
use crate::schedule::step;

/// How often to open a lock file that is removed or replaced at the same moment.
const ATTEMPTS: usize = 16;

/// A lock that is held until this is dropped. The file stays, because a deleted lock file could be locked twice.
#[derive(Debug)]
#[must_use = "the lock ends when this is dropped"]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock on `path` if it is free; `None` if another holder has it. A missing file is created.
    ///
    /// # Errors
    /// A lock file that can't be opened or locked, or is not a regular file.
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

    /// Takes the lock on `path` and waits while another holder has it. A missing file is created.
    ///
    /// # Errors
    /// A lock file that can't be opened or locked, or is not a regular file.
    pub fn wait(path: &Path) -> Result<Self, DiskError> {
        loop {
            let lock = Self { file: open(path)? };
            fs4::FileExt::lock(&lock.file).at("lock", path)?;
            // Otherwise the lock file was removed or replaced, and other programs lock the new one.
            if lock.is_in_place(path) {
                return Ok(lock);
            }
        }
    }

    /// Returns whether the path still refers to the locked file. If the path can't be inspected for
    /// another reason than a missing file, it counts as in place.
    #[must_use]
    pub fn is_in_place(&self, path: &Path) -> bool {
        let Ok(own) = self.file.metadata() else { return true };
        match std::fs::symlink_metadata(path) {
            Ok(here) => (here.dev(), here.ino()) == (own.dev(), own.ino()),
            Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
        }
    }

    /// Writes a description of the holder into the lock file, for people.
    ///
    /// # Errors
    /// A lock file that can't be written.
    pub fn sign(&mut self, path: &Path, text: &str) -> Result<(), DiskError> {
        self.file.set_len(0).at("write", path)?;
        self.file.seek(SeekFrom::Start(0)).at("write", path)?;
        self.file.write_all(text.as_bytes()).at("write", path)
    }
}

/// A lock that is taken repeatedly; its file stays open between uses.
#[derive(Debug)]
pub struct LockFile {
    path: PathBuf,
    open: Option<(Arc<File>, (u64, u64))>,
}

impl LockFile {
    /// Creates the lock on `path`; the file is opened when the lock is first taken.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self { path, open: None }
    }

    /// Takes the lock like [`Lock::try_now`]. A lock file that was removed or replaced is opened
    /// again, because other programs lock the new one.
    ///
    /// # Errors
    /// A lock file that can't be opened or locked, or is not a regular file.
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
            // A lock on a removed file is void, because other programs lock the new file.
            let here = std::fs::metadata(&self.path).ok().map(|here| (here.dev(), here.ino()));
            if here == Some(*identity) {
                return Ok(locked);
            }
            self.open = None;
        }
        Ok(None)
    }
}

/// A lock of a [`LockFile`], held until this is dropped.
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
        // Unlocking fails only for an invalid descriptor.
        drop(fs4::FileExt::unlock(&*self.file));
    }
}

/// Returns the description of the holder that [`Lock::sign`] wrote; empty if there is none.
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

/// Tries to lock the file; returns whether the lock was free.
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
