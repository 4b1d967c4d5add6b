//! A snapshot of the files.

use std::collections::BTreeMap;
use std::sync::Arc;

use herma_disk::stamp::Stamp;

use super::path::FilePath;

/// The files and folders of a profile.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// The newest revision.
    pub revision: u64,
    /// The files that herma keeps, by path.
    pub files: BTreeMap<FilePath, FileSet>,
    /// All entries of the tree. Folders come before their content, and names are sorted.
    pub entries: Vec<Entry>,
    /// Size of the root folder in bytes, according to the file system.
    pub root_bytes: u64,
    /// Entries whose name begins with a dot, each with that as the reason why it is hidden.
    pub hidden: BTreeMap<FilePath, String>,
    /// Entries that are not kept, with the reason: links, files that are too long or not text.
    pub ignored: BTreeMap<FilePath, String>,
}

/// A file that herma keeps.
#[derive(Debug, Clone)]
pub struct FileSet {
    /// Its text.
    pub text: Arc<str>,
    /// The revision that changed it last.
    pub revision: u64,
    /// When it was last written, in Unix seconds.
    pub modified_at: f64,
    /// The file's stamp when it was last read or written. `None` if it was never seen.
    pub(super) stamp: Option<Stamp>,
    /// Whether it was read so long after its last write that an equal stamp means an equal text.
    pub(super) settled: bool,
}

/// An entry of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The path.
    pub path: FilePath,
    /// Size of a folder in bytes, according to the file system. `None` for a kept file.
    pub folder_bytes: Option<u64>,
}

/// The state of a path.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// A folder, or the root.
    Folder,
    /// A kept file.
    File(&'a FileSet),
    /// An entry that is not kept, and the reason.
    Ignored(&'a str),
    /// The path is free.
    Nothing,
}

impl Files {
    /// Returns the state of a path.
    #[must_use]
    pub fn at(&self, path: &FilePath) -> Place<'_> {
        if let Some(file) = self.files.get(path) {
            return Place::File(file);
        }
        if let Some(why) = self.ignored.get(path) {
            return Place::Ignored(why);
        }
        let is_folder = path.is_root()
            || self.entries.iter().any(|entry| entry.path == *path && entry.folder_bytes.is_some())
            || self.below(path).next().is_some();
        if is_folder { Place::Folder } else { Place::Nothing }
    }

    /// Returns the files in a folder, at any depth.
    pub fn below<'a>(&'a self, folder: &'a FilePath) -> impl Iterator<Item = (&'a FilePath, &'a FileSet)> {
        self.files.iter().filter(|(path, _)| path.below(folder).is_some())
    }

    /// Returns the folders in a folder, at any depth, the deepest first.
    #[must_use]
    pub fn folders_below(&self, folder: &FilePath) -> Vec<FilePath> {
        let folders = self.entries.iter().filter(|entry| entry.folder_bytes.is_some());
        let mut folders: Vec<FilePath> =
            folders.map(|entry| &entry.path).filter(|path| path.below(folder).is_some()).cloned().collect();
        folders.sort_by_key(|path| std::cmp::Reverse(path.names().count()));
        folders
    }

    /// Returns the revision of a file, or the newest revision of the files in a folder. Returns 0 for a free path.
    #[must_use]
    pub fn revision_of(&self, path: &FilePath) -> u64 {
        match self.files.get(path) {
            Some(file) => file.revision,
            None => self.below(path).map(|(_, file)| file.revision).max().unwrap_or(0),
        }
    }

    /// Returns the bytes of all texts.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files
            .values()
            .map(|file| file.text.len())
            .fold(0, |sum, bytes| sum + u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// Returns an existing path that some file systems treat as the same as this one or as a folder above it.
    #[must_use]
    pub fn alike(&self, path: &FilePath) -> Option<&FilePath> {
        let wanted: Vec<(FilePath, String)> =
            [path.clone()].into_iter().chain(path.above()).map(|path| (path.clone(), path.folded())).collect();
        let there = self.entries.iter().map(|entry| &entry.path).chain(self.ignored.keys());
        there.into_iter().find(|there| {
            let folded = there.folded();
            wanted.iter().any(|(path, wanted)| *path != **there && *wanted == folded)
        })
    }
}
