//! Socket paths: ownership, and removal of a stale one.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::DiskError;
use crate::error::At;

/// Removes a stale socket.
///
/// The caller must hold the daemon's lock and have checked that nothing answers on the socket.
///
/// # Errors
/// A path that is not a socket, which is left alone, or one that can't be removed.
pub fn remove_stale(path: &Path) -> Result<(), DiskError> {
    let kind = fs::symlink_metadata(path).at("inspect", path)?.file_type();
    if !kind.is_socket() {
        let error = io::Error::new(io::ErrorKind::InvalidInput, "it is not a socket");
        return Err(error).at("remove", path);
    }
    crate::file::remove(path)
}

/// The path of a socket that this process listens on.
#[derive(Debug)]
pub struct BoundSocket {
    path: PathBuf,
    identity: (u64, u64),
}

impl BoundSocket {
    /// Records the path right after the socket was bound.
    ///
    /// # Errors
    /// A path that can't be inspected.
    pub fn at(path: &Path) -> Result<Self, DiskError> {
        let here = fs::symlink_metadata(path).at("inspect", path)?;
        Ok(Self { path: path.to_owned(), identity: (here.dev(), here.ino()) })
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether clients still find a socket at the path. If the path can't be inspected for
    /// another reason than a missing file, it counts as in place.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        match fs::symlink_metadata(&self.path) {
            Ok(here) => here.file_type().is_socket(),
            Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
        }
    }

    /// Removes the path. Does nothing if it is missing or now belongs to another process.
    ///
    /// # Errors
    /// A path that can't be removed.
    pub fn remove(&self) -> Result<(), DiskError> {
        match fs::symlink_metadata(&self.path) {
            Ok(here) if (here.dev(), here.ino()) == self.identity => crate::file::remove(&self.path),
            _ => Ok(()),
        }
    }
}

/// Restricts connections to this user.
///
/// # Errors
/// A mode that can't be set.
pub fn make_private(path: &Path) -> Result<(), DiskError> {
    fs::set_permissions(path, Permissions::from_mode(0o600)).at("set the mode of", path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_the_own_socket_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let first = UnixListener::bind(&path).unwrap();
        let own = BoundSocket::at(&path).unwrap();
        assert!(own.is_in_place());
        fs::remove_file(&path).unwrap();
        assert!(!own.is_in_place());
        own.remove().unwrap();
        let second = UnixListener::bind(&path).unwrap();
        own.remove().unwrap();
        assert!(path.exists() && own.is_in_place());
        BoundSocket::at(&path).unwrap().remove().unwrap();
        assert!(!path.exists());
        drop((first, second));
    }
}
