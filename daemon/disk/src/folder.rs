//! Private folders and their contents.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::At;
use crate::{DiskError, owner};

/// Creates the folder and missing parents, accessible to this user only. That is durable if the
/// parent folder can be synced. An existing folder is unchanged.
///
/// # Errors
/// A folder that can't be created, or a file with its name.
pub fn create(path: &Path) -> Result<(), DiskError> {
    let above = crate::file::parent(path);
    let mut made = DirBuilder::new().mode(0o700).create(path);
    if made.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) && above != path {
        create(above)?;
        made = DirBuilder::new().mode(0o700).create(path);
    }
    match made {
        Ok(()) => {
            // The parent folder may be searchable but not readable.
            drop(crate::file::sync_folder(above));
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error).at("create the folder", path),
    }
}

/// Creates the folder, or removes all access of others from an existing one.
///
/// # Errors
/// A folder that can't be created, belongs to another user or is writable by others. Files in it
/// would not be private, and existing ones may be from others.
pub fn create_private(path: &Path) -> Result<(), DiskError> {
    create(path)?;
    let metadata = fs::metadata(path).at("inspect", path)?;
    owner::check_folder(path, &metadata)?;
    if metadata.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700)).at("set the mode of", path)?;
    }
    Ok(())
}

/// Makes renames in the folder durable.
///
/// # Errors
/// A folder that can't be opened or synced.
pub fn sync(path: &Path) -> Result<(), DiskError> {
    crate::file::sync_folder(path)
}

/// Returns the names in a folder, sorted; empty if it is missing. Names that are not UTF-8 are left
/// out, because herma creates none.
///
/// # Errors
/// A folder that can't be read.
pub fn names(path: &Path) -> Result<Vec<String>, DiskError> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.at("list", path)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        if let Ok(name) = entry.at("list", path)?.file_name().into_string() {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Removes an empty folder; does nothing if it is missing or not empty. Returns whether it was removed.
///
/// # Errors
/// An empty folder that can't be removed.
pub fn remove_empty(path: &Path) -> Result<bool, DiskError> {
    match fs::remove_dir(path) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound) => Ok(false),
        Err(error) => Err(error).at("remove the folder", path),
    }
}

/// Removes files that a killed process left: those with this prefix and suffix that are older than
/// `age`. Returns the removed files.
///
/// # Errors
/// A folder that can't be read, or a file that can't be removed.
pub fn sweep(
    path: &Path,
    prefix: &str,
    suffix: &str,
    age: Duration,
    now: SystemTime,
) -> Result<Vec<PathBuf>, DiskError> {
    let mut removed = Vec::new();
    for name in names(path)? {
        if !(name.starts_with(prefix) && name.ends_with(suffix)) {
            continue;
        }
        let file = path.join(name);
        let old = fs::symlink_metadata(&file)
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|modified| now.duration_since(modified).is_ok_and(|since| since > age));
        if old {
            crate::file::remove(&file)?;
            removed.push(file);
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn a_private_folder_keeps_others_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        create(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        create_private(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn only_an_empty_folder_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (below, file) = (folder.path().join("a"), folder.path().join("a/f"));
        create(&below).unwrap();
        drop(crate::file::append_to(&file).unwrap());
        assert!(!remove_empty(&below).unwrap());
        assert_eq!(crate::file::remove_name(&file).unwrap(), 0);
        assert!(remove_empty(&below).unwrap());
        assert!(!remove_empty(&below).unwrap());
    }

    #[test]
    fn only_old_leftovers_are_swept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".mem_x.tmp");
        let other = folder.path().join("notes.tmp");
        for path in [&file, &other] {
            crate::file::append_to(path).unwrap();
        }
        let sweep = |now| sweep(folder.path(), ".mem_", ".tmp", Duration::from_mins(1), now).unwrap();
        assert!(sweep(SystemTime::now()).is_empty());
        assert_eq!(sweep(SystemTime::now() + Duration::from_mins(2)), [file]);
        assert_eq!(names(folder.path()).unwrap(), ["notes.tmp"]);
    }
}
