//! Listing of a tree.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, FileType, Stat};

use super::{TEMPORARY, Tree, open_folder};
use crate::DiskError;
use crate::error::At;
use crate::stamp::Stamp;

/// The most nested folders that are listed.
const DEPTH: usize = 32;

/// The age at which a temporary file is a leftover of a killed process.
const LEFTOVER: Duration = Duration::from_mins(1);

/// The contents of a tree: folders before their contents, sorted by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walk {
    /// Files, folders and other objects.
    pub entries: Vec<Entry>,
    /// Size of the root folder itself in bytes, according to the file system.
    pub root_bytes: u64,
}

/// One object in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path below the root. Bytes that are not UTF-8 are shown as U+FFFD; the entry is then [`Kind::Other`].
    pub path: String,
    /// Its kind.
    pub kind: Kind,
}

/// The kind of an object in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File(Stamp),
    /// A folder, with its own size in bytes according to the file system.
    Folder(u64),
    /// A folder that can't be listed.
    Closed,
    /// An object whose name begins with a dot. Such a folder is not listed.
    Hidden,
    /// A link, a pipe, a name that is not UTF-8, or a folder nested too deep: it is never opened.
    Other,
}

impl Tree {
    /// Lists everything in the tree; a missing root is an empty tree. Removes leftovers of killed
    /// processes that are more than a minute old.
    ///
    /// # Errors
    /// A root that can't be read or is a link, or more than `most` objects.
    pub fn walk(&self, most: usize) -> Result<Walk, DiskError> {
        self.look(most, LEFTOVER)
    }

    /// Removes all leftovers of killed processes. No other process may write to the tree meanwhile.
    ///
    /// # Errors
    /// As for [`Tree::walk`].
    pub fn sweep(&self, most: usize) -> Result<(), DiskError> {
        self.look(most, Duration::ZERO).map(drop)
    }

    fn look(&self, most: usize, leftover: Duration) -> Result<Walk, DiskError> {
        let mut walk = Walk::default();
        let Some(root) = self.folder("")? else { return Ok(walk) };
        let found = rustix::fs::fstat(&root).map_err(io::Error::from).at("inspect", self.root())?;
        walk.root_bytes = size(&found);
        let mut looking = Looking { room: most, leftover, entries: &mut walk.entries };
        looking.below(&root, "", 0).at("list", self.root())?;
        Ok(walk)
    }
}

/// The state of a listing.
struct Looking<'a> {
    /// The number of objects that may still be found.
    room: usize,
    /// The age at which a temporary file is a leftover.
    leftover: Duration,
    entries: &'a mut Vec<Entry>,
}

impl Looking<'_> {
    fn below(&mut self, folder: &OwnedFd, path: &str, depth: usize) -> io::Result<()> {
        for name in self.names(folder)? {
            let shown = String::from_utf8_lossy(&name);
            let path = if path.is_empty() { shown.to_string() } else { format!("{path}/{shown}") };
            let found = match rustix::fs::statat(folder, &*name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(rustix::io::Errno::NOENT) => continue,
                found => found?,
            };
            let kind = match std::str::from_utf8(&name) {
                Ok(name) if name.starts_with('.') => Kind::Hidden,
                Ok(_) => kind(&found, depth),
                Err(_) => Kind::Other,
            };
            let at = self.entries.len();
            self.entries.push(Entry { path: path.clone(), kind });
            if !matches!(kind, Kind::Folder(_)) {
                continue;
            }
            // It may be a link by now, which is not followed.
            let looked = match open_folder(folder, &shown) {
                Ok(Some(opened)) => self.below(&opened, &path, depth + 1),
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            match looked {
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Err(error),
                Err(_) => self.entries[at].kind = Kind::Closed,
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// Returns the sorted names in a folder.
    fn names(&mut self, folder: &OwnedFd) -> io::Result<Vec<Vec<u8>>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(folder)? {
            let name = entry?.file_name().to_bytes().to_owned();
            if name == b"." || name == b".." || is_leftover(folder, &name, self.leftover) {
                continue;
            }
            self.room = self.room.checked_sub(1).ok_or_else(too_many)?;
            names.push(name);
        }
        names.sort_unstable();
        Ok(names)
    }
}

fn kind(found: &Stat, depth: usize) -> Kind {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Kind::File(Stamp::of_stat(found)),
        FileType::Directory if depth < DEPTH => Kind::Folder(size(found)),
        _ => Kind::Other,
    }
}

fn size(found: &Stat) -> u64 {
    u64::try_from(found.st_size).unwrap_or(0)
}

/// Returns whether a file is a temporary file. Removes one that is older than `age`.
fn is_leftover(folder: &OwnedFd, name: &[u8], age: Duration) -> bool {
    let (prefix, suffix) = TEMPORARY;
    if !(name.starts_with(prefix.as_bytes()) && name.ends_with(suffix.as_bytes())) {
        return false;
    }
    if let Ok(found) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        && FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
        && Stamp::of_stat(&found).is_older(age, SystemTime::now())
        && let Err(error) = rustix::fs::unlinkat(folder, name, AtFlags::empty())
    {
        tracing::debug!("{} stays: {error}", String::from_utf8_lossy(name));
    }
    true
}

fn too_many() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "more files and folders lie below it than are read")
}
