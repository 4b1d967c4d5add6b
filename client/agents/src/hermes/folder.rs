//! The plugin folder of a home: its files, and which of them herma did not write.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use herma_base::Failure;
use serde::{Deserialize, Serialize};

use super::package::{self, File};

/// The path of the folder in a home.
const FOLDER: &str = "plugins/herma";

/// The file that records the installed files.
pub(super) const RECORD: &str = "installed.json";

/// The folders that Python creates by itself.
pub(super) const CACHE: &str = "__pycache__";

/// The files that an install wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The version of herma.
    pub(super) version: String,
    /// The hash of each file, by the file's path in the folder.
    pub(super) files: BTreeMap<String, String>,
}

impl Record {
    /// Returns the record of the files that this program writes.
    pub(super) fn own() -> Self {
        let files = package::files().into_iter().map(|file| (file.path, package::sha256(file.data))).collect();
        Self { version: package::VERSION.into(), files }
    }
}

/// The current content of the folder.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    /// The record of the last install. `None` if it is missing or can't be read.
    pub(super) record: Option<Record>,
    /// Everything in the folder except Python's caches, by path.
    pub(super) found: BTreeMap<PathBuf, Kind>,
}

/// The kind of an entry in the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    /// A link, which is never followed, or anything else that is not a file.
    Other,
}

impl Folder {
    /// Returns the path of the folder in a home.
    pub(super) fn path(home: &Path) -> PathBuf {
        home.join(FOLDER)
    }

    /// Reads the folder. A missing folder is empty.
    pub(super) fn look(path: &Path) -> Result<Self, Failure> {
        if path.is_symlink() {
            let words = "it is a link; herma writes a folder of its own there, so remove the link first";
            return Err(Failure::File(format!("{}: {words}", path.display())));
        }
        let mut found = BTreeMap::new();
        if path.exists() {
            walk(path, Path::new(""), &mut found).map_err(|error| failed(path, &error))?;
        }
        let record = std::fs::read(path.join(RECORD)).ok();
        let record = record.and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok()).map(|mut record| {
            record.files.retain(|path, _| is_inside(path));
            record
        });
        Ok(Self { path: path.to_owned(), record, found })
    }

    /// Returns the bytes of a file, or `None` if there is no such file.
    pub(super) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Failure> {
        if self.found.get(Path::new(path)) != Some(&Kind::File) {
            return Ok(None);
        }
        let path = self.path.join(path);
        std::fs::read(&path).map(Some).map_err(|error| failed(&path, &error))
    }

    /// Returns the paths that this or the installed version of herma writes.
    pub(super) fn named(&self, own: &[File]) -> BTreeSet<String> {
        let recorded = self.record.iter().flat_map(|record| record.files.keys().cloned());
        own.iter().map(|file| file.path.clone()).chain(recorded).collect()
    }

    /// Returns whether the bytes are those that this or the installed version of herma writes there.
    pub(super) fn is_own(&self, own: &[File], path: &str, bytes: &[u8]) -> bool {
        let recorded = self.record.as_ref().and_then(|record| record.files.get(path));
        recorded.is_some_and(|hash| *hash == package::sha256(bytes))
            || own.iter().any(|file| file.path == path && file.data == bytes)
    }

    /// Returns the files of herma that were changed since the install.
    pub(super) fn edited(&self, own: &[File]) -> Result<Vec<String>, Failure> {
        let mut edited = Vec::new();
        for path in self.named(own) {
            if self.read(&path)?.is_some_and(|bytes| !self.is_own(own, &path, &bytes)) {
                edited.push(path);
            }
        }
        Ok(edited)
    }

    /// Returns whether all files have the content that this program writes.
    pub(super) fn is_current(&self, own: &[File]) -> Result<bool, Failure> {
        for file in own {
            if self.read(&file.path)?.as_deref() != Some(file.data) {
                return Ok(false);
            }
        }
        Ok(self.record.as_ref() == Some(&Record::own()))
    }
}

/// Returns whether a path from a file stays inside the folder.
fn is_inside(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

fn walk(root: &Path, below: &Path, found: &mut BTreeMap<PathBuf, Kind>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(root.join(below))? {
        let entry = entry?;
        let (path, kind) = (below.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() && entry.file_name() == CACHE {
            continue;
        }
        if kind.is_dir() {
            walk(root, &path, found)?;
        }
        let kind = if kind.is_dir() {
            Kind::Folder
        } else if kind.is_file() {
            Kind::File
        } else {
            Kind::Other
        };
        found.insert(path, kind);
    }
    Ok(())
}

/// Returns the error for a file, with its path.
pub(super) fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::File(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_nothing_outside() {
        for (path, expected) in [
            ("a.py", true),
            ("lib/herma/a.py", true),
            ("../a", false),
            ("/etc/passwd", false),
            ("a/../../b", false),
            ("", false),
        ] {
            assert_eq!(is_inside(path), expected, "{path}");
        }
    }
}
