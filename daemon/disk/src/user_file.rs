//! Files of the user or of another program: exports, settings of agents, units of a service
//! manager. Unlike for herma's own files, the umask decides who may read them.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::DiskError;
use crate::error::At;
use crate::file::{self, Created, open_own};

/// Mode of a new file before the umask is applied.
const SHARED: u32 = 0o666;

/// The beginning of the names of drafts. The id of the process that writes the draft follows.
const DRAFT: &str = ".herma.";

/// Creates a folder and missing parents, with the access that the umask gives.
///
/// # Errors
/// A folder that can't be created.
pub fn create_folder(path: &Path) -> Result<(), DiskError> {
    DirBuilder::new().recursive(true).create(path).at("create the folder", path)
}

/// Replaces a file with `content` atomically and durably, and creates missing parent folders. A
/// symlink stays and its file is replaced or created. The mode of an existing file is kept, and its
/// owner if this user may give files to that owner. A file that can't be renamed over, such as a
/// mount point, is written in place.
///
/// # Errors
/// Any failed step. The file then has its old content; only a file that is written in place may be
/// partly written.
pub fn write(path: &Path, content: &[u8]) -> Result<(), DiskError> {
    let (real, found) = file::resolve_links(path)?;
    create_folder(file::parent(&real))?;
    let draft = match &found {
        Some(found) => Draft::like(&real, found)?,
        None => begin(&real, SHARED)?,
    };
    draft.write(content)?.place(true).map(drop)
}

/// Writes a backup of a file's content under the first free name, with the mode and owner of the
/// file. Returns that name.
///
/// # Errors
/// Any failed step, or no free name.
pub fn back_up(
    content: &[u8],
    found: &Metadata,
    names: impl IntoIterator<Item = PathBuf>,
) -> Result<PathBuf, DiskError> {
    let mut last = PathBuf::new();
    for name in names {
        let is_free = fs::symlink_metadata(&name).is_err();
        if is_free && Draft::like(&name, found)?.write(content)?.place(false)? == Created::New {
            return Ok(name);
        }
        last = name;
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists)).at("create", &last)
}

/// A file without a name yet.
#[derive(Debug)]
pub struct Draft {
    file: tempfile::NamedTempFile,
    path: PathBuf,
}

impl Draft {
    /// Begins a file that only this user may read. Its folder must exist.
    ///
    /// # Errors
    /// A folder in which no file can be created.
    pub fn private(path: &Path) -> Result<Self, DiskError> {
        begin(path, file::PRIVATE)
    }

    /// Begins a file with the mode of another one, and with its owner if this user may give files to
    /// that owner.
    ///
    /// # Errors
    /// A folder in which no file can be created, or a mode that can't be set.
    pub fn like(path: &Path, found: &Metadata) -> Result<Self, DiskError> {
        let draft = begin(path, file::PRIVATE)?;
        match file::keep_owner_and_mode(draft.file.as_file(), found) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let mode = Permissions::from_mode(found.permissions().mode() & 0o777);
                draft.file.as_file().set_permissions(mode).at("set the mode of", path)?;
            }
            kept => kept.at("set the mode of", path)?,
        }
        Ok(draft)
    }

    /// Returns the open file.
    #[must_use]
    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Writes content.
    ///
    /// # Errors
    /// A failed write.
    pub fn write(mut self, content: &[u8]) -> Result<Self, DiskError> {
        self.file.write_all(content).at("write", &self.path)?;
        Ok(self)
    }

    /// Makes the content durable. The file has no name yet.
    ///
    /// # Errors
    /// A failed sync.
    pub fn sync(&self) -> Result<(), DiskError> {
        self.file.as_file().sync_all().at("sync", &self.path)
    }

    /// Makes the file durable and gives it its name. Replaces an existing file only if `may_replace`.
    ///
    /// # Errors
    /// Any failed step.
    pub fn place(self, may_replace: bool) -> Result<Created, DiskError> {
        self.sync()?;
        let Self { file, path } = self;
        let placed = if may_replace { file.persist(&path) } else { file.persist_noclobber(&path) };
        match placed {
            Ok(_) => file::sync_folder(file::parent(&path))?,
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => return Ok(Created::Exists),
            Err(error) if may_replace && file::is_mount_point(&error.error) => {
                let content = fs::read(error.file.path()).at("read", error.file.path())?;
                file::overwrite(&path, &content)?;
            }
            Err(error) => return Err(error.error).at("rename to", &path),
        }
        Ok(Created::New)
    }
}

fn begin(path: &Path, mode: u32) -> Result<Draft, DiskError> {
    let folder = file::parent(path);
    let file = tempfile::Builder::new()
        .prefix(&format!("{DRAFT}{}.", std::process::id()))
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)
        .at("create a file in", folder)?;
    Ok(Draft { file, path: path.to_owned() })
}

/// Removes the drafts in a folder whose process was killed. One that can't be removed stays.
pub fn remove_drafts(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let writer = name.to_str().and_then(|name| name.strip_prefix(DRAFT)?.split_once('.')?.0.parse().ok());
        if writer.and_then(Pid::from_raw).is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH)) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// Opens a file for reading and writing; a missing one is created.
///
/// # Errors
/// A file that can't be opened, is a link, or is not a regular file.
pub fn open(path: &Path) -> Result<File, DiskError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(SHARED);
    open_own(path, &mut options).at("open", path)
}

/// Creates a file with this mode, for writing.
///
/// # Errors
/// A file that exists or can't be created.
pub fn create(path: &Path, mode: u32) -> Result<File, DiskError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode);
    options.open(path).at("create", path)
}

/// Copies a file with its mode.
///
/// # Errors
/// A file that can't be read or written.
pub fn copy(from: &Path, to: &Path) -> Result<(), DiskError> {
    create_folder(file::parent(to))?;
    fs::copy(from, to).map(drop).at("copy", from)
}

/// Removes a folder with everything in it; does nothing if it is missing.
///
/// # Errors
/// An object in it that can't be removed.
pub fn remove_tree(path: &Path) -> Result<(), DiskError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("remove the folder", path),
        _ => Ok(()),
    }
}

/// Swaps two files or folders atomically. Returns false if the file system can't.
#[must_use]
pub fn exchange(one: &Path, other: &Path) -> bool {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_new_file_has_the_access_of_any_other_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("deep/er/file"), folder.path().join("other"));
        write(&path, b"one").unwrap();
        fs::write(&other, "x").unwrap();
        assert_eq!(mode(&path), mode(&other));
        assert_eq!(fs::read(&path).unwrap(), b"one");
    }

    #[test]
    fn mode_and_link_of_an_existing_file_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&path, "one").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        write(&link, b"two").unwrap();
        assert!(link.is_symlink());
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"two".to_vec(), 0o640));
    }

    #[test]
    fn a_link_to_a_missing_file_stays_and_the_file_is_created() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link, other) =
            (folder.path().join("dots/file"), folder.path().join("link"), folder.path().join("o"));
        symlink("dots/file", &link).unwrap();
        fs::write(&other, "x").unwrap();
        write(&link, b"one").unwrap();
        assert!(link.is_symlink());
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"one".to_vec(), mode(&other)));
    }

    #[test]
    fn a_folder_that_may_not_be_read_gets_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::set_permissions(folder.path(), Permissions::from_mode(0o300)).unwrap();
        let written = write(&path, b"one").and_then(|()| write(&path, b"two"));
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        written.unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
    }

    #[test]
    fn copies_take_free_names_and_the_mode_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "now").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let found = fs::metadata(&path).unwrap();
        let names = ["a", "b"].map(|name| folder.path().join(name));
        assert_eq!(back_up(b"1", &found, names.clone()).unwrap(), names[0]);
        assert_eq!(back_up(b"2", &found, names.clone()).unwrap(), names[1]);
        assert!(back_up(b"3", &found, names.clone()).is_err());
        assert_eq!((fs::read(&names[0]).unwrap(), mode(&names[0])), (b"1".to_vec(), 0o640));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing temporary stays");
    }

    #[test]
    fn a_link_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        drop(open(&path).unwrap());
        symlink(&path, &link).unwrap();
        assert!(open(&link).is_err() && open(folder.path()).is_err());
    }
}
