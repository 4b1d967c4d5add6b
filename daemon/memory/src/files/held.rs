//! What the files are at one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use herma_disk::stamp::Stamp;

use super::path::FilePath;

/// The files and folders of a profile.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// The newest revision.
    pub revision: u64,
    /// The files that are kept, by their paths.
    pub files: BTreeMap<FilePath, Held>,
    /// What the tree has, folders before what is in them, names in their order.
    pub entries: Vec<Entry>,
    /// Bytes of the root, as the file system says.
    pub root_bytes: u64,
    /// What has a name that begins with a dot, and that this is so.
    pub hidden: BTreeMap<FilePath, String>,
    /// What is there and not kept, and why: links, files that are too long or no text.
    pub unkept: BTreeMap<FilePath, String>,
}

/// A file that is kept.
#[derive(Debug, Clone)]
pub struct Held {
    /// Its text.
    pub text: Arc<str>,
    /// The revision that changed it last.
    pub revision: u64,
    /// When it was written last, in Unix seconds.
    pub modified_at: f64,
    /// Which file it was when it was read or written last; `None` when it was never seen.
    pub(super) stamp: Option<Stamp>,
    /// It was read so long after it was written that an equal stamp means an equal text.
    pub(super) settled: bool,
}

/// Something in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where.
    pub path: FilePath,
    /// Bytes of a folder, as the file system says; `None` for a file that is kept.
    pub folder_bytes: Option<u64>,
}

/// What is at a path.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// A folder, or the root.
    Folder,
    /// A file that is kept.
    File(&'a Held),
    /// Something that is not, and why.
    Unkept(&'a str),
    /// Nothing.
    Nothing,
}

impl Files {
    /// What is at a path.
    #[must_use]
    pub fn at(&self, path: &FilePath) -> Place<'_> {
        if let Some(file) = self.files.get(path) {
            return Place::File(file);
        }
        if let Some(why) = self.unkept.get(path) {
            return Place::Unkept(why);
        }
        let is_folder = path.is_root()
            || self.entries.iter().any(|entry| entry.path == *path && entry.folder_bytes.is_some())
            || self.below(path).next().is_some();
        if is_folder { Place::Folder } else { Place::Nothing }
    }

    /// The files in a folder, at any depth.
    pub fn below<'a>(&'a self, folder: &'a FilePath) -> impl Iterator<Item = (&'a FilePath, &'a Held)> {
        self.files.iter().filter(|(path, _)| path.below(folder).is_some())
    }

    /// The folders in a folder, at any depth, the deepest first.
    #[must_use]
    pub fn folders_below(&self, folder: &FilePath) -> Vec<FilePath> {
        let folders = self.entries.iter().filter(|entry| entry.folder_bytes.is_some());
        let mut folders: Vec<FilePath> =
            folders.map(|entry| &entry.path).filter(|path| path.below(folder).is_some()).cloned().collect();
        folders.sort_by_key(|path| std::cmp::Reverse(path.names().count()));
        folders
    }

    /// The revision of a file, or the newest one of the files in a folder; 0 when nothing is there.
    #[must_use]
    pub fn revision_of(&self, path: &FilePath) -> u64 {
        match self.files.get(path) {
            Some(file) => file.revision,
            None => self.below(path).map(|(_, file)| file.revision).max().unwrap_or(0),
        }
    }

    /// Bytes of all texts.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files
            .values()
            .map(|file| file.text.len())
            .fold(0, |sum, bytes| sum + u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// A path that is there and that some file systems take for this one, or for a folder above it.
    #[must_use]
    pub fn alike(&self, path: &FilePath) -> Option<&FilePath> {
        let wanted: Vec<(FilePath, String)> =
            [path.clone()].into_iter().chain(path.above()).map(|path| (path.clone(), path.folded())).collect();
        let there = self.entries.iter().map(|entry| &entry.path).chain(self.unkept.keys());
        there.into_iter().find(|there| {
            let folded = there.folded();
            wanted.iter().any(|(path, wanted)| *path != **there && *wanted == folded)
        })
    }
}
