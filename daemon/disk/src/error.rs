//! The error of a file operation: the operation, the path and the cause.

use std::io;
use std::path::{Path, PathBuf};

/// A failed file operation.
#[derive(Debug, thiserror::Error)]
#[error("failed to {operation} {}: {source}", path.display())]
pub struct DiskError {
    /// The operation, as a verb phrase.
    pub operation: &'static str,
    /// The path of the file or folder.
    pub path: PathBuf,
    /// The error of the operating system.
    pub source: io::Error,
}

/// Causes that callers treat differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The disk or a quota is full.
    Full,
    /// The system refused access, or the file system is read-only.
    Refused,
    /// The file or folder doesn't exist.
    Missing,
    /// It exists but is not usable: a folder, not UTF-8, over the size limit.
    Unsuitable,
    /// Anything else: an I/O error.
    Failed,
}

impl DiskError {
    /// Returns the cause of the error.
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
