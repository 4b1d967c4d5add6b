//! A folder with everything below it, accessed by name and never through a link.
//!
//! Every access begins at the descriptor of the root folder and descends name by name. So neither a
//! name nor a link that another program creates at that moment can lead out of it. The caller has
//! checked the names: parts between `/`, none of them empty, `.` or `..`. A folder `..` is refused
//! here too.

mod placed;
mod walk;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use crate::error::At;
use crate::file::PRIVATE;
use crate::schedule::step;
use crate::stamp::Stamp;
use crate::{DiskError, folder};

pub use placed::{Changed, StagedChanges};
pub use walk::{Entry, Kind, Walk};

/// Mode of a new folder.
const FOLDER: Mode = Mode::RWXU;

/// How often a file is read again if it changes during the read.
const READ_AGAIN: usize = 8;

/// The most bytes allocated before a file is read.
const READ_AT_ONCE: u64 = 1 << 20;

/// The most files kept open until they are synced; if there are more, each is synced as it is written.
const HELD_OPEN: usize = 16;

/// Prefix and suffix of temporary files. Hidden files are not part of the tree.
pub(crate) const TEMPORARY: (&str, &str) = (".mem_", ".tmp");

/// A folder with everything below it.
#[derive(Debug, Clone)]
pub struct Tree {
    root: PathBuf,
}

/// A change of one file.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// Its path below the root.
    pub path: &'a str,
    /// Its new content; `None` to remove it.
    pub content: Option<&'a [u8]>,
    /// The stamp of the existing file; `None` if there is none.
    pub expected: Option<Stamp>,
}

impl Tree {
    /// Creates the tree below a folder, which may be missing.
    #[must_use]
    pub const fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns the root folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Creates the root folder, accessible to this user only.
    ///
    /// # Errors
    /// A folder that can't be created, or belongs to another user.
    pub fn create(&self) -> Result<(), DiskError> {
        folder::create_private(&self.root)
    }

    /// Reads a whole file; `None` if it is missing.
    ///
    /// # Errors
    /// A file that can't be read, is a link, is not a regular file, or has more than `limit` bytes;
    /// a parent folder that is a link.
    pub fn read(&self, path: &str, limit: u64) -> Result<Option<(Vec<u8>, Stamp)>, DiskError> {
        let mut read = self.read_once(path, limit)?;
        for _ in 0..READ_AGAIN {
            match &read {
                Some((bytes, stamp)) if u64::try_from(bytes.len()) != Ok(stamp.size()) => {
                    read = self.read_once(path, limit)?;
                }
                _ => break,
            }
        }
        Ok(read)
    }

    fn read_once(&self, path: &str, limit: u64) -> Result<Option<(Vec<u8>, Stamp)>, DiskError> {
        let Some(file) = self.open(path)? else { return Ok(None) };
        let at = self.root.join(path);
        let stamp = Stamp::of(&file.metadata().at("inspect", &at)?);
        let mut bytes = Vec::with_capacity(usize::try_from(stamp.size().min(limit).min(READ_AT_ONCE)).unwrap_or(0));
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).at("read", &at)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
            let error = io::Error::new(io::ErrorKind::FileTooLarge, format!("longer than {limit} bytes"));
            return Err(error).at("read", &at);
        }
        Ok(Some((bytes, stamp)))
    }

    /// Makes changes by another program durable: a file and its name, or that the file is missing.
    ///
    /// # Errors
    /// A failed sync.
    pub fn sync(&self, path: &str) -> Result<(), DiskError> {
        if let Some(file) = self.open(path)? {
            file.sync_all().at("sync", &self.root.join(path))?;
        }
        let (mut above, _) = split(path);
        loop {
            match self.folder(above)? {
                Some(folder) => return rustix::fs::fsync(folder).map_err(io::Error::from).at("sync", &self.root),
                None if above.is_empty() => return Ok(()),
                None => above = split(above).0,
            }
        }
    }

    /// Writes the new contents of files to temporary files in the root, without changing the files
    /// yet. `folders_gone` are removed after the removed files and before the new ones, the deepest
    /// first, if they are empty then.
    ///
    /// # Errors
    /// Any failed step; nothing has changed then.
    pub fn stage(&self, changes: &[Change<'_>], folders_gone: &[&str]) -> Result<StagedChanges, DiskError> {
        step();
        self.create()?;
        let missing = || io::Error::new(io::ErrorKind::NotFound, "it went away");
        let root = self.folder("")?.ok_or_else(missing).at("open the folder", &self.root)?;
        let mut unplaced = StagedChanges::new(self.clone(), root, folders_gone);
        let are_held = changes.len() <= HELD_OPEN;
        for change in changes {
            let Some(content) = change.content else {
                unplaced.add(change, None);
                continue;
            };
            let (mut file, temporary) = unplaced.new_file().at("create a file in", &self.root)?;
            let written = file.write_all(content).and_then(|()| if are_held { Ok(()) } else { file.sync_all() });
            unplaced.add(change, Some((are_held.then_some(file), temporary)));
            written.at("write", &self.root.join(change.path))?;
        }
        Ok(unplaced)
    }

    /// Removes an empty folder. Returns whether it was removed.
    ///
    /// # Errors
    /// An empty folder that can't be removed.
    pub fn remove_empty(&self, path: &str) -> Result<bool, DiskError> {
        let (above, name) = split(path);
        let Some(folder) = self.folder(above)? else { return Ok(false) };
        match rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR).map_err(io::Error::from) {
            Ok(()) => rustix::fs::fsync(folder).map_err(io::Error::from).at("sync", &self.root).map(|()| true),
            Err(error) if is_no_empty_folder(&error) => Ok(false),
            Err(error) => Err(error).at("remove the folder", &self.root.join(path)),
        }
    }

    /// Creates a folder and its parents.
    ///
    /// # Errors
    /// A folder that can't be created, or a file with its name.
    pub fn make_folder(&self, path: &str) -> Result<(), DiskError> {
        self.create()?;
        self.made_folder(path, &mut Vec::new()).map(drop)
    }

    fn open(&self, path: &str) -> Result<Option<File>, DiskError> {
        let (above, name) = split(path);
        let Some(folder) = self.folder(above)? else { return Ok(None) };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&folder, name, flags, Mode::empty());
        let file = match opened.map_err(io::Error::from) {
            Ok(file) => File::from(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unsuitable(error)).at("open", &self.root.join(path)),
        };
        if file.metadata().at("inspect", &self.root.join(path))?.is_file() {
            Ok(Some(file))
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file"))
                .at("open", &self.root.join(path))
        }
    }

    /// Opens the folder at a path; `None` if it or a parent is missing or a file.
    fn folder(&self, path: &str) -> Result<Option<OwnedFd>, DiskError> {
        let opened = rustix::fs::open(&self.root, folder_flags(), Mode::empty());
        let mut folder = match opened.map_err(io::Error::from) {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unsuitable(error)).at("open the folder", &self.root),
        };
        for name in names(path) {
            folder = match open_folder(&folder, name) {
                Ok(Some(below)) => below,
                Ok(None) => return Ok(None),
                Err(error) => return Err(error).at("open the folder", &self.root.join(path)),
            };
        }
        Ok(Some(folder))
    }

    /// Opens the folder at a path and creates missing ones. Adds the created folders to `made`, the highest first.
    fn made_folder(&self, path: &str, made: &mut Vec<String>) -> Result<OwnedFd, DiskError> {
        let opened = rustix::fs::open(&self.root, folder_flags(), Mode::empty()).map_err(io::Error::from);
        let mut folder = opened.map_err(unsuitable).at("open the folder", &self.root)?;
        let mut at = String::new();
        for name in names(path) {
            at = if at.is_empty() { name.to_owned() } else { format!("{at}/{name}") };
            match rustix::fs::mkdirat(&folder, name, FOLDER).map_err(io::Error::from) {
                Ok(()) => {
                    made.push(at.clone());
                    rustix::fs::fsync(&folder).map_err(io::Error::from).at("sync", &self.root)?;
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).at("create the folder", &self.root.join(&at)),
            }
            let in_the_way = || io::Error::new(io::ErrorKind::NotADirectory, "a file is there");
            folder = open_folder(&folder, name)
                .and_then(|below| below.ok_or_else(in_the_way))
                .at("open the folder", &self.root.join(&at))?;
        }
        Ok(folder)
    }
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// Opens a subfolder; `None` if it is missing or a file. A link is an error, and so is `.` or `..`.
fn open_folder(folder: &OwnedFd, name: &str) -> io::Result<Option<OwnedFd>> {
    if matches!(name, "." | "..") {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "its path has `.` or `..` in it"));
    }
    match rustix::fs::openat(folder, name, folder_flags(), Mode::empty()).map_err(io::Error::from) {
        Ok(below) => Ok(Some(below)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
            match found.map(|found| FileType::from_raw_mode(found.st_mode)) {
                Ok(FileType::RegularFile) => Ok(None),
                _ => Err(unsuitable(error)),
            }
        }
        Err(error) => Err(unsuitable(error)),
    }
}

/// Splits a path into its folder and its name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Replaces the system's error with a message that names a link in the path.
fn unsuitable(error: io::Error) -> io::Error {
    let is_link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    match (is_link, error.kind()) {
        (true, _) => io::Error::new(io::ErrorKind::InvalidData, "it is a link, and links are not followed here"),
        (_, io::ErrorKind::NotADirectory) => io::Error::new(error.kind(), "it is a link or no folder"),
        _ => error,
    }
}

/// Returns whether the error means that there is no such folder, or that it is not empty.
fn is_no_empty_folder(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::DirectoryNotEmpty
            | io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::AlreadyExists
    )
}

/// Creates a file with a unique name in a folder.
fn new_file(folder: &OwnedFd) -> io::Result<(File, String)> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    loop {
        let name = temporary_name();
        match rustix::fs::openat(folder, &*name, flags, Mode::from_raw_mode(PRIVATE)).map_err(io::Error::from) {
            Ok(file) => return Ok((File::from(file), name)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns a unique name for a temporary file.
fn temporary_name() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let (prefix, suffix) = TEMPORARY;
    format!("{prefix}{}_{}{suffix}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests;
