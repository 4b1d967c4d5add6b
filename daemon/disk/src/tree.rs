//! A folder of files and folders that are reached by names below it, and through no link.
//!
//! Every way begins at the folder's own descriptor and goes down name by name, so that neither a name nor a
//! link that somebody puts there in this very moment leads out of it. Names are what the caller has checked:
//! parts between `/`, none of them empty, `.` or `..`.

mod placed;
mod walk;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::error::At;
use crate::file::PRIVATE;
use crate::schedule::step;
use crate::stamp::Stamp;
use crate::{DiskError, folder};

pub use placed::Unplaced;
pub use walk::{Entry, Kind, Walk};

/// Mode of a folder that did not exist before.
const FOLDER: Mode = Mode::RWXU;

/// How often a file is read again that changes while it is read.
const READ_AGAIN: usize = 8;

/// Room that is made before a file is read, in bytes at most.
const READ_AT_ONCE: u64 = 1 << 20;

/// What the names of files begin and end with that are just being written. Hidden ones are no part of the tree.
pub(crate) const TEMPORARY: (&str, &str) = (".mem_", ".tmp");

/// A folder with all that is below it.
#[derive(Debug, Clone)]
pub struct Tree {
    root: PathBuf,
}

/// What is to become of a file.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// Its path below the root.
    pub path: &'a str,
    /// Its new content; `None` when it is to be gone.
    pub content: Option<&'a [u8]>,
}

impl Tree {
    /// The tree below a folder, which need not be there.
    #[must_use]
    pub const fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Its root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the root, for this user only.
    ///
    /// # Errors
    /// A folder that can't be made, or is not this user's own.
    pub fn create(&self) -> Result<(), DiskError> {
        folder::create_private(&self.root)
    }

    /// Reads a whole file; a missing one is `None`.
    ///
    /// # Errors
    /// A file that can't be read, is a link, no regular file, or longer than `limit` bytes; a folder on its way
    /// that is a link.
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

    /// The stamp of a file; `None` when it is missing.
    ///
    /// # Errors
    /// As [`Tree::read`].
    pub fn stamp(&self, path: &str) -> Result<Option<Stamp>, DiskError> {
        let Some(file) = self.open(path)? else { return Ok(None) };
        file.metadata().map(|found| Some(Stamp::of(&found))).at("inspect", &self.root.join(path))
    }

    /// Makes durable what another program wrote: a file and its name, or that there is none.
    ///
    /// # Errors
    /// A sync that failed.
    pub fn sync(&self, path: &str) -> Result<(), DiskError> {
        if let Some(file) = self.open(path)? {
            file.sync_all().at("sync", &self.root.join(path))?;
        }
        let (mut above, _) = split(path);
        loop {
            match self.folder(above, Missing::Left)? {
                Some(folder) => return rustix::fs::fsync(folder).map_err(io::Error::from).at("sync", &self.root),
                None if above.is_empty() => return Ok(()),
                None => above = split(above).0,
            }
        }
    }

    /// Writes what files are to hold beside them, and does nothing to them yet. Folders that are missing are made.
    ///
    /// # Errors
    /// Whatever step failed; no file has changed then.
    pub fn stage(&self, changes: &[Change<'_>]) -> Result<Unplaced, DiskError> {
        step();
        self.create()?;
        let mut unplaced = Unplaced::new(self.root.clone());
        for change in changes {
            let (above, name) = split(change.path);
            let missing = if change.content.is_some() { Missing::Made } else { Missing::Left };
            let Some(folder) = self.folder(above, missing)? else { continue };
            match change.content {
                Some(content) => {
                    let (mut file, temporary) = new_file(&folder).at("create a file beside", &self.root.join(above))?;
                    unplaced.add_written(folder, name, temporary, file.try_clone().at("open", &self.root)?);
                    file.write_all(content).at("write", &self.root.join(change.path))?;
                }
                None => unplaced.add_gone(folder, name),
            }
        }
        Ok(unplaced)
    }

    /// Removes a folder that is empty. Says whether it was removed.
    ///
    /// # Errors
    /// An empty folder that can't be removed.
    pub fn remove_empty(&self, path: &str) -> Result<bool, DiskError> {
        let (above, name) = split(path);
        let Some(folder) = self.folder(above, Missing::Left)? else { return Ok(false) };
        match rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR).map_err(io::Error::from) {
            Ok(()) => rustix::fs::fsync(folder).map_err(io::Error::from).at("sync", &self.root).map(|()| true),
            Err(error) if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound) => {
                Ok(false)
            }
            Err(error) => Err(error).at("remove the folder", &self.root.join(path)),
        }
    }

    /// Makes a folder, and those above it.
    ///
    /// # Errors
    /// A folder that can't be made, or a file in its place.
    pub fn make_folder(&self, path: &str) -> Result<(), DiskError> {
        self.create()?;
        self.folder(path, Missing::Made).map(drop)
    }

    fn open(&self, path: &str) -> Result<Option<File>, DiskError> {
        let (above, name) = split(path);
        let Some(folder) = self.folder(above, Missing::Left)? else { return Ok(None) };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&folder, name, flags, Mode::empty());
        let file = match opened.map_err(io::Error::from) {
            Ok(file) => File::from(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unsuitable(error)).at("open", &self.root.join(path)),
        };
        match file.metadata().at("inspect", &self.root.join(path))?.is_file() {
            true => Ok(Some(file)),
            false => Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file"))
                .at("open", &self.root.join(path)),
        }
    }

    /// The folder at a path; `None` where it is missing, and not made.
    fn folder(&self, path: &str, missing: Missing) -> Result<Option<OwnedFd>, DiskError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&self.root, flags, Mode::empty());
        let mut folder = match opened.map_err(io::Error::from) {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unsuitable(error)).at("open the folder", &self.root),
        };
        for part in path.split('/').filter(|part| !part.is_empty()) {
            if missing == Missing::Made {
                match rustix::fs::mkdirat(&folder, part, FOLDER).map_err(io::Error::from) {
                    Ok(()) => rustix::fs::fsync(&folder).map_err(io::Error::from).at("sync", &self.root)?,
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(error).at("create the folder", &self.root.join(path)),
                }
            }
            folder = match rustix::fs::openat(&folder, part, flags, Mode::empty()).map_err(io::Error::from) {
                Ok(below) => below,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(unsuitable(error)).at("open the folder", &self.root.join(path)),
            };
        }
        Ok(Some(folder))
    }
}

/// What becomes of a folder that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    Made,
    Left,
}

/// The folder and the name of a path.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Says what a link in the way is, in words.
fn unsuitable(error: io::Error) -> io::Error {
    let is_link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    match (is_link, error.kind()) {
        (true, _) => io::Error::new(io::ErrorKind::InvalidData, "it is a link, and links are not followed here"),
        (_, io::ErrorKind::NotADirectory) => io::Error::new(error.kind(), "it is a link or no folder"),
        _ => error,
    }
}

/// A new file with a name that no other has.
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

/// A name for a file that is just being written.
fn temporary_name() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let (prefix, suffix) = TEMPORARY;
    format!("{prefix}{}_{}{suffix}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests;
