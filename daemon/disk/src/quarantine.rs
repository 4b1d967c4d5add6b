//! Quarantine: moves damaged files aside without losing them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::DiskError;
use crate::error::At;

/// The most quarantined copies of one file; then a person has to clean up.
const MOST: u32 = 1000;

/// Renames files that belong together to `<name>.damaged-<n>`, with the first number that is free
/// for all of them. Skips missing files. Returns the new path of the first file. Never replaces or
/// removes a file.
///
/// # Errors
/// A failed rename, or no free number.
pub fn quarantine(files: &[PathBuf]) -> Result<PathBuf, DiskError> {
    let Some(first) = files.first() else { return Ok(PathBuf::new()) };
    let number = (1..=MOST)
        .find(|number| !files.iter().any(|file| fs::symlink_metadata(named(file, *number)).is_ok()))
        .ok_or_else(|| io::Error::new(io::ErrorKind::AlreadyExists, "too many were put into quarantine before"))
        .at("quarantine", first)?;
    for file in files {
        match fs::rename(file, named(file, number)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            renamed => renamed.at("quarantine", file)?,
        }
    }
    crate::file::sync_folder(crate::file::parent(first))?;
    Ok(named(first, number))
}

fn named(file: &Path, number: u32) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".damaged-{number}"));
    name.into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn files_go_together_and_replace_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a.db", "a.db-wal", "a.db-shm"].map(|name| folder.path().join(name));
        fs::write(&paths[0], "one").unwrap();
        fs::write(&paths[1], "log").unwrap();
        assert_eq!(quarantine(&paths).unwrap(), folder.path().join("a.db.damaged-1"));
        fs::write(&paths[0], "two").unwrap();
        assert_eq!(quarantine(&paths).unwrap(), folder.path().join("a.db.damaged-2"));
        let names = crate::folder::names(folder.path()).unwrap();
        assert_eq!(names, ["a.db-wal.damaged-1", "a.db.damaged-1", "a.db.damaged-2"]);
        assert_eq!(fs::read_to_string(folder.path().join("a.db.damaged-1")).unwrap(), "one");
    }
}
