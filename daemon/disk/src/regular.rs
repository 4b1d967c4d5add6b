//! An open regular file: read in parts, compared, given further names.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::DiskError;
use crate::error::At;
use crate::file::{self, Created};
use crate::stamp::Stamp;

/// Number of bytes compared at once.
const PIECE: usize = 256 << 10;

/// A regular file opened for reading parts of it. It stays readable if its name is removed.
#[derive(Debug)]
pub struct Regular {
    file: File,
    path: PathBuf,
    stamp: Stamp,
    length: u64,
}

impl Regular {
    /// Opens the file; `None` if it is missing. It doesn't block if a named pipe is in the file's place.
    ///
    /// # Errors
    /// A file that can't be opened, or is not a regular file.
    pub fn open(path: &Path) -> Result<Option<Self>, DiskError> {
        let file = match file::open_regular(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.at("open", path)?,
        };
        let metadata = file.metadata().at("inspect", path)?;
        Ok(Some(Self { file, path: path.to_owned(), stamp: Stamp::of(&metadata), length: metadata.len() }))
    }

    /// Returns the path that it was opened with.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its stamp from when it was opened.
    #[must_use]
    pub const fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Returns its length in bytes from when it was opened.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Fills the buffer from `offset` on. Returns how many bytes there were before the end of the file.
    ///
    /// # Errors
    /// A part that can't be read.
    pub fn fill(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, DiskError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.file.read_at(&mut buffer[filled..], offset + u64::try_from(filled).unwrap_or(u64::MAX)) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error).at("read", &self.path),
            }
        }
        Ok(filled)
    }

    /// Reads `length` bytes from `offset` on, or as many as there are.
    ///
    /// # Errors
    /// A part that can't be read.
    pub fn range(&self, offset: u64, length: usize) -> Result<Vec<u8>, DiskError> {
        let left = usize::try_from(self.length.saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length.min(left)];
        let filled = self.fill(offset, &mut bytes)?;
        bytes.truncate(filled);
        Ok(bytes)
    }

    /// Returns whether it has exactly this content. Reads it in pieces.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn holds(&self, content: &[u8]) -> Result<bool, DiskError> {
        if u64::try_from(content.len()).ok() != Some(self.length) {
            return Ok(false);
        }
        let mut buffer = vec![0; PIECE.min(content.len())];
        let mut offset = 0;
        for piece in content.chunks(PIECE) {
            let buffer = &mut buffer[..piece.len()];
            if self.fill(offset, buffer)? != piece.len() || buffer != piece {
                return Ok(false);
            }
            offset += u64::try_from(piece.len()).unwrap_or(u64::MAX);
        }
        Ok(true)
    }

    /// Gives the file a further name, which must not exist, and makes that durable.
    ///
    /// # Errors
    /// A file that is no longer at its path, or a file system that refuses a further name; there is
    /// no new name then. [`Created::Exists`] is not an error.
    pub fn link_as(&self, name: &Path) -> Result<Created, DiskError> {
        match fs::hard_link(&self.path, name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(Created::Exists),
            linked => linked.at("give another name to", &self.path)?,
        }
        let arrived = fs::symlink_metadata(name).map(|metadata| Stamp::of(&metadata));
        let durable = match arrived {
            Ok(stamp) if stamp == self.stamp => file::sync_folder(file::parent(name)),
            _ => Err(io::Error::other("another file is there now")).at("give another name to", &self.path),
        };
        if let Err(error) = durable {
            file::remove(name)?;
            return Err(error);
        }
        Ok(Created::New)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn parts_are_read_up_to_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert!(Regular::open(&path).unwrap().is_none());
        assert!(Regular::open(folder.path()).is_err());
        fs::write(&path, "0123456789").unwrap();
        let file = Regular::open(&path).unwrap().unwrap();
        for (offset, length, expected) in [(0, 3, "012"), (8, 9, "89"), (10, 1, ""), (99, 1, ""), (0, 10, "0123456789")]
        {
            assert_eq!(file.range(offset, length).unwrap(), expected.as_bytes());
        }
        for (content, expected) in [("0123456789", true), ("012345678x", false), ("012345678", false), ("", false)] {
            assert_eq!(file.holds(content.as_bytes()).unwrap(), expected, "{content}");
        }
    }

    #[test]
    fn a_further_name_never_takes_one_that_is_taken_nor_names_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two, three] = ["1", "2", "3"].map(|name| folder.path().join(name));
        fs::write(&one, "one").unwrap();
        let file = Regular::open(&one).unwrap().unwrap();
        assert_eq!(file.link_as(&two).unwrap(), Created::New);
        assert_eq!(file.link_as(&two).unwrap(), Created::Exists);
        assert_eq!(Stamp::now(&two).unwrap(), Some(file.stamp()));
        fs::remove_file(&one).unwrap();
        assert!(file.link_as(&three).is_err());
        fs::write(&one, "another").unwrap();
        assert!(file.link_as(&three).is_err());
        assert!(!three.exists());
    }
}
