//! Checks of ownership: herma uses nothing that another user owns or may write.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::DiskError;
use crate::error::At;

/// The user id of root.
const ROOT: u32 = 0;

/// The effective user and group of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProcessOwner {
    user: u32,
    group: u32,
}

impl ProcessOwner {
    fn now() -> Self {
        Self { user: crate::process::user(), group: rustix::process::getegid().as_raw() }
    }
}

/// Owner and mode of a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    owner: u32,
    group: u32,
    mode: u32,
}

impl From<&Metadata> for Found {
    fn from(found: &Metadata) -> Self {
        Self { owner: found.uid(), group: found.gid(), mode: found.permissions().mode() }
    }
}

/// Refuses a home of another user, or one that would be created in a folder of another user: files
/// created there by root would lock its owner out. A folder of root is accepted; its mode decides
/// who may write.
///
/// # Errors
/// A home that doesn't belong to this user, or can't be inspected.
pub fn check_home(home: &Path) -> Result<(), DiskError> {
    let nearest = home.ancestors().find_map(|folder| match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        found => Some(found),
    });
    let Some(found) = nearest else { return Ok(()) };
    let found = Found::from(&found.at("inspect", home)?);
    foreign(ProcessOwner::now(), found).map_or(Ok(()), |words| refused(home, words))
}

fn foreign(asker: ProcessOwner, found: Found) -> Option<String> {
    let is_own = found.owner == asker.user || found.owner == ROOT;
    (!is_own).then(|| format!("it belongs to user {0}; run herma as that user (sudo -u '#{0}' …)", found.owner))
}

/// Refuses a private folder that belongs to another user or is writable by others, because files in
/// it may be from them.
pub(crate) fn check_folder(path: &Path, found: &Metadata) -> Result<(), DiskError> {
    let (asker, found) = (ProcessOwner::now(), Found::from(found));
    let words = if found.owner == asker.user {
        written(asker, found)
            .map(|who| format!("{who} may write in it; look at what lies there, then chmod 700 {}", path.display()))
    } else {
        Some(format!("it belongs to user {}", found.owner))
    };
    words.map_or(Ok(()), |words| refused(path, words))
}

/// Refuses a file that controls a program, if it belongs to neither this user nor root, or is writable by others.
pub(crate) fn check_file(path: &Path, found: &Metadata) -> Result<(), DiskError> {
    let (asker, found) = (ProcessOwner::now(), Found::from(found));
    let words = if found.owner == asker.user || found.owner == ROOT {
        written(asker, found)
            .map(|who| format!("{who} may write it; look at what it says, then chmod 600 {}", path.display()))
    } else {
        Some(format!("it belongs to user {}", found.owner))
    };
    words.map_or(Ok(()), |words| refused(path, words))
}

/// Returns who else may write. The user's own group is assumed to have no other members.
fn written(asker: ProcessOwner, found: Found) -> Option<String> {
    if found.mode & 0o002 != 0 {
        return Some("everybody".into());
    }
    (found.mode & 0o020 != 0 && found.group != asker.group).then(|| format!("group {}", found.group))
}

/// Returns whether others may read a file with a secret. If it belongs to root, its group may read
/// it, so that this user can.
#[must_use]
pub fn is_read_by_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| is_open(Found::from(&found)))
}

const fn is_open(found: Found) -> bool {
    let others = if found.owner == ROOT { 0o007 } else { 0o077 };
    found.mode & others != 0
}

fn refused(path: &Path, words: String) -> Result<(), DiskError> {
    Err(io::Error::new(io::ErrorKind::PermissionDenied, words)).at("use", path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use std::fs::Permissions;

    use super::*;

    #[test]
    fn a_home_is_for_its_owner() {
        let found = |owner| Found { owner, group: 7, mode: 0o755 };
        for (user, owner, is_refused) in
            [(7, 7, false), (0, 0, false), (0, 7, true), (7, 8, true), (7, 0, false), (8, 7, true)]
        {
            let asker = ProcessOwner { user, group: user };
            assert_eq!(foreign(asker, found(owner)).is_some(), is_refused, "user {user}, home of {owner}");
        }
    }

    #[test]
    fn others_may_not_write_what_tells_a_program_what_to_do() {
        let asker = ProcessOwner { user: 7, group: 7 };
        for (group, mode, is_written) in [
            (7, 0o600, false),
            (7, 0o644, false),
            (7, 0o664, false),
            (9, 0o664, true),
            (9, 0o644, false),
            (7, 0o666, true),
            (7, 0o602, true),
        ] {
            assert_eq!(written(asker, Found { owner: 7, group, mode }).is_some(), is_written, "{group} {mode:o}");
        }
    }

    #[test]
    fn a_secret_is_read_by_its_owner_alone_or_by_a_group_that_root_chose() {
        for (owner, mode, is_read) in [
            (7, 0o600, false),
            (7, 0o400, false),
            (7, 0o640, true),
            (7, 0o604, true),
            (ROOT, 0o640, false),
            (ROOT, 0o644, true),
        ] {
            assert_eq!(is_open(Found { owner, group: 9, mode }), is_read, "user {owner} {mode:o}");
        }
    }

    #[test]
    fn real_files_are_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        check_home(folder.path()).unwrap();
        check_home(&folder.path().join("a/b/c")).unwrap();
        let path = folder.path().join("f");
        drop(crate::file::append_to(&path).unwrap());
        check_file(&path, &fs::metadata(&path).unwrap()).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        let error = check_file(&path, &fs::metadata(&path).unwrap()).unwrap_err().to_string();
        assert!(error.contains("everybody may write it") && error.contains("chmod 600"), "{error}");
        let error = check_folder(folder.path(), &fs::metadata(&path).unwrap()).unwrap_err().to_string();
        assert!(error.contains("chmod 700"), "{error}");
    }
}
