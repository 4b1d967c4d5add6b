//! Removing the name of a socket that nobody listens on any more.

use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;

use crate::DiskError;
use crate::error::At;

/// Removes the name if it is a socket; anything else is left alone.
///
/// The caller must hold the daemon's lock and have seen that nobody answers.
///
/// # Errors
/// A name that is no socket, or can't be removed.
pub fn remove_stale(path: &Path) -> Result<(), DiskError> {
    let kind = fs::symlink_metadata(path).at("inspect", path)?.file_type();
    if !kind.is_socket() {
        let error = std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a socket");
        return Err(error).at("remove", path);
    }
    crate::file::remove(path)
}

/// Lets only this user connect.
///
/// # Errors
/// A mode that can't be set.
pub fn make_private(path: &Path) -> Result<(), DiskError> {
    fs::set_permissions(path, Permissions::from_mode(0o600)).at("set the mode of", path)
}
