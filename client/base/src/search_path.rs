//! Finds programs as a shell does.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Returns the program that a shell starts for a name, in the folders of `PATH`.
#[must_use]
pub fn find(name: impl AsRef<Path>) -> Option<PathBuf> {
    find_in(name, &std::env::var_os("PATH").unwrap_or_default())
}

/// Does the same with folders in the form of `PATH`.
fn find_in(name: impl AsRef<Path>, folders: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(folders).map(|folder| folder.join(&name)).find(|path| is_program(path))
}

/// Returns whether a shell would start something for a word, which is a name or a path.
#[must_use]
pub fn has(word: impl AsRef<Path>) -> bool {
    let word = word.as_ref();
    if word.components().count() > 1 { is_program(word) } else { find(word).is_some() }
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_executable_files_in_the_folders() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain");
        crate::user_file::write(&plain, "").unwrap_or_else(|_| panic!("it can't be written"));
        let shell = find("sh").unwrap();
        let folders = std::env::join_paths([folder.path(), shell.parent().unwrap()]).unwrap();
        assert_eq!(find_in("sh", &folders), Some(shell.clone()));
        assert_eq!(find_in("plain", &folders), None);
        assert_eq!(find_in("no-such-program-of-herma", &folders), None);
        assert!(has(&shell) && has("sh") && !has(&plain) && !has("no-such-program-of-herma"));
    }
}
