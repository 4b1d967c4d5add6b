//! A folder that all hosts mount. Only this user can read its files. It has a marker: the empty folder of a missing
//! mount has none, so no text is put into it or reported as missing from it.

use std::fs;
use std::path::{Path, PathBuf};

use herma_disk::file::{self, Created, Temporary};
use herma_disk::folder;

use super::{Found, Name};

/// The name of the marker.
pub(super) const MARKER: &str = ".herma-objects";

/// The marker's text for people.
const SAYS: &str = "herma keeps outputs of tools in this folder (docs/sharing.md). Without this file it takes the folder for one \
that is not mounted.\n";

const TEMPORARY: Temporary = Temporary { prefix: ".object_", suffix: ".tmp" };

/// A folder.
#[derive(Clone)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) const fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Whether it is the folder with the texts of the space. A folder that has some gets its marker.
    pub(super) fn is_marked(&self, space: &str) -> Result<bool, String> {
        self.check_there()?;
        if is_there(&self.0.join(MARKER)) {
            return Ok(true);
        }
        let has_texts = self.of_space(space).is_dir();
        if has_texts {
            self.mark()?;
        }
        Ok(has_texts)
    }

    pub(super) fn mark(&self) -> Result<(), String> {
        let made = file::create(&self.0.join(MARKER), SAYS.as_bytes(), TEMPORARY);
        made.map(drop).map_err(|error| error.to_string())
    }

    pub(super) fn put(&self, name: &Name, text: &[u8]) -> Result<(), String> {
        self.check_marked()?;
        let words = |error: herma_disk::DiskError| error.to_string();
        let (space, path) = (self.of_space(&name.space), self.path(name));
        folder::create_private(&space).map_err(words)?;
        folder::create_private(&space.join(name.first())).map_err(words)?;
        if file::create(&path, text, TEMPORARY).map_err(words)? == Created::Exists {
            // A power cut may have left a part of it.
            let is_whole = fs::metadata(&path).is_ok_and(|found| found.len() == text.len() as u64);
            if !is_whole {
                file::replace(&path, text, TEMPORARY).map_err(words)?;
            }
        }
        // The folder may have been unmounted meanwhile.
        self.check_marked()
    }

    pub(super) fn get(&self, name: &Name, bytes: u64) -> Result<Found, String> {
        self.check_marked()?;
        let path = self.path(name);
        let length = match fs::metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => return Err(format!("{}: {error}", path.display())),
            Ok(found) => found.len(),
        };
        if length != bytes {
            return Ok(Found::Other);
        }
        let read = file::read_bytes(&path, bytes).map_err(|error| error.to_string())?;
        Ok(match read {
            None => Found::Nothing,
            Some((text, _)) if text.len() as u64 == bytes => Found::Text(text),
            Some(_) => Found::Other,
        })
    }

    pub(super) fn remove(&self, name: &Name) -> Result<(), String> {
        self.check_marked()?;
        file::remove(&self.path(name)).map_err(|error| error.to_string())
    }

    fn path(&self, name: &Name) -> PathBuf {
        self.of_space(&name.space).join(name.first()).join(&name.digits)
    }

    /// Returns the folder of a space, named as in a bucket.
    fn of_space(&self, space: &str) -> PathBuf {
        self.0.join(match space {
            "." => "%2E",
            ".." => "%2E%2E",
            name => name,
        })
    }

    fn check_there(&self) -> Result<(), String> {
        let found = fs::metadata(&self.0).map_err(|error| error.to_string());
        let is_folder =
            found.and_then(|found| found.is_dir().then_some(()).ok_or_else(|| "it is no folder".to_owned()));
        is_folder.map_err(|words| format!("the folder {} can't be used: {words}", self.0.display()))
    }

    fn check_marked(&self) -> Result<(), String> {
        self.check_there()?;
        if is_there(&self.0.join(MARKER)) { Ok(()) } else { Err(format!("it is not mounted: it has no file {MARKER}")) }
    }
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
