//! What a file operation can fail with: the operation, the path and the cause.

use std::io;
use std::path::{Path, PathBuf};

/// A file operation that failed.
#[derive(Debug, thiserror::Error)]
#[error("failed to {operation} {}: {source}", path.display())]
pub struct DiskError {
    /// What was tried, as a verb phrase.
    pub operation: &'static str,
    /// On which file or folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// The causes that a caller treats differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// No space or no quota is left.
    Full,
    /// The system refused access, or the file system is read-only.
    Refused,
    /// The file or folder is not there.
    Missing,
    /// It is there but not what it should be: a folder, not UTF-8, over the
    /// limit.
    Unsuitable,
    /// Anything else: an I/O error.
    Failed,
}

impl DiskError {
    /// Which of the causes this is.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self.source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Cause::Full,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Cause::Refused,
            io::ErrorKind::NotFound => Cause::Missing,
            io::ErrorKind::IsADirectory
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::FileTooLarge => Cause::Unsuitable,
            _ => Cause::Failed,
        }
    }
}

/// Adds operation and path to an I/O result.
pub(crate) trait At<T> {
    fn at(self, operation: &'static str, path: &Path) -> Result<T, DiskError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, operation: &'static str, path: &Path) -> Result<T, DiskError> {
        self.map_err(|source| DiskError { operation, path: path.to_owned(), source })
    }
}
