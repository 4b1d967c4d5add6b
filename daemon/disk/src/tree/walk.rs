//! What is in a tree.

use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{TEMPORARY, Tree};
use crate::DiskError;
use crate::error::At;
use crate::stamp::Stamp;

/// Folders below each other that are looked into.
const DEPTH: usize = 32;

/// Age after which a file that was being written is one that a killed process left.
const LEFTOVER: Duration = Duration::from_mins(1);

/// What is in a tree: folders before what is in them, names in their order. Hidden names are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walk {
    /// Files, folders and other things.
    pub entries: Vec<Entry>,
    /// Bytes that the root has, as the file system says.
    pub root_bytes: u64,
}

/// One thing in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path below the root. Bytes that are no text are shown as U+FFFD, and then it is [`Kind::Other`].
    pub path: String,
    /// What it is.
    pub kind: Kind,
}

/// What something in a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File(Stamp),
    /// A folder, and the bytes that the file system says it has.
    Folder(u64),
    /// A link, a pipe, a name that is no text, a folder too deep: it is never opened.
    Other,
}

impl Tree {
    /// Looks at everything in the tree; a missing root is an empty tree. Leftovers of killed processes are removed.
    ///
    /// # Errors
    /// A folder that can't be read, or more than `most` things.
    pub fn walk(&self, most: usize) -> Result<Walk, DiskError> {
        let mut walk = Walk::default();
        let mut room = most;
        match fs::symlink_metadata(self.root()) {
            Ok(root) if root.is_dir() => walk.root_bytes = root.len(),
            Ok(_) => {
                let error = io::Error::new(io::ErrorKind::NotADirectory, "it is a link or no folder");
                return Err(error).at("list", self.root());
            }
            Err(_) => {}
        }
        match below(self.root(), "", 0, &mut room, &mut walk.entries) {
            Err(error) if error.source.kind() == io::ErrorKind::NotFound && error.path == self.root() => {
                Ok(Walk::default())
            }
            walked => walked.map(|()| walk),
        }
    }
}

fn below(folder: &Path, path: &str, depth: usize, room: &mut usize, entries: &mut Vec<Entry>) -> Result<(), DiskError> {
    let mut found: Vec<DirEntry> = Vec::new();
    for entry in fs::read_dir(folder).at("list", folder)? {
        let entry = entry.at("list", folder)?;
        if entry.file_name().as_encoded_bytes().first() == Some(&b'.') {
            remove_leftover(&entry);
            continue;
        }
        *room = room.checked_sub(1).ok_or_else(too_many).at("list", folder)?;
        found.push(entry);
    }
    found.sort_by_key(DirEntry::file_name);
    for entry in found {
        let name = entry.file_name();
        let shown = name.to_string_lossy();
        let path = if path.is_empty() { shown.to_string() } else { format!("{path}/{shown}") };
        // Not followed where it is a link.
        let metadata = match entry.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            metadata => metadata.at("inspect", &entry.path())?,
        };
        let kind = if name.to_str().is_some() { kind(&metadata, depth) } else { Kind::Other };
        entries.push(Entry { path: path.clone(), kind });
        if matches!(kind, Kind::Folder(_)) {
            below(&entry.path(), &path, depth + 1, room, entries)?;
        }
    }
    Ok(())
}

fn kind(metadata: &Metadata, depth: usize) -> Kind {
    match metadata {
        found if found.is_file() => Kind::File(Stamp::of(found)),
        found if found.is_dir() && depth < DEPTH => Kind::Folder(found.len()),
        _ => Kind::Other,
    }
}

fn remove_leftover(entry: &DirEntry) {
    let name = entry.file_name();
    let (prefix, suffix) = TEMPORARY;
    let is_ours = name.to_str().is_some_and(|name| name.starts_with(prefix) && name.ends_with(suffix));
    let modified = || entry.metadata().and_then(|metadata| metadata.modified());
    if is_ours
        && modified().is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > LEFTOVER))
        && let Err(error) = fs::remove_file(entry.path())
    {
        tracing::debug!("{} stays: {error}", entry.path().display());
    }
}

fn too_many() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "more files and folders lie below it than are read")
}
