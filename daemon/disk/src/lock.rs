//! Advisory locks on files that are never renamed over: flock(2), which other
//! programs that lock the same file see too.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::DiskError;
use crate::error::At;

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
    /// A lock file that can't be opened or locked.
    pub fn try_now(path: &Path) -> Result<Option<Self>, DiskError> {
        let file = open(path)?;
        match fs4::FileExt::try_lock(&file) {
            Ok(()) => Ok(Some(Self { file })),
            Err(fs4::TryLockError::WouldBlock) => Ok(None),
            Err(fs4::TryLockError::Error(error)) => Err(error).at("lock", path),
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

/// Who holds a lock, as [`Lock::sign`] wrote it; empty when nobody signed.
///
/// # Errors
/// A lock file that can't be read.
pub fn holder(path: &Path) -> Result<String, DiskError> {
    let mut text = String::new();
    File::open(path).and_then(|file| file.take(4096).read_to_string(&mut text)).at("read", path)?;
    Ok(text.trim().to_owned())
}

fn open(path: &Path) -> Result<File, DiskError> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path).at("open", path)
}

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
}
