//! Log files with a size limit.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::DiskError;
use crate::error::At;
use crate::file;

/// An append-only file that is rotated when it gets too long: it is renamed to `<name>.1`, which
/// replaces the previous one.
#[derive(Debug)]
pub struct RotatingFile {
    path: PathBuf,
    file: File,
    length: u64,
    most: u64,
}

impl RotatingFile {
    /// Opens the file for up to `most` bytes; 0 for no limit. A missing file is created with
    /// private mode. A single text that exceeds the limit is written completely.
    ///
    /// # Errors
    /// A file that can't be opened, is a link, or is not a regular file.
    pub fn open(path: &Path, most: u64) -> Result<Self, DiskError> {
        let file = file::append_to(path)?;
        let length = file.metadata().at("inspect", path)?.len();
        Ok(Self { path: path.to_owned(), file, length, most })
    }

    fn rotate(&mut self) -> io::Result<()> {
        let mut old = self.path.as_os_str().to_owned();
        old.push(".1");
        fs::rename(&self.path, old)?;
        self.file = file::append_to(&self.path).map_err(|error| error.source)?;
        self.length = 0;
        Ok(())
    }
}

impl Write for RotatingFile {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let longer = self.length.saturating_add(u64::try_from(text.len()).unwrap_or(u64::MAX));
        if self.most > 0 && self.length > 0 && longer > self.most {
            // If the rename fails, the file keeps growing: losing a line would be worse than exceeding the limit.
            drop(self.rotate());
        }
        let written = self.file.write(text)?;
        self.length = self.length.saturating_add(u64::try_from(written).unwrap_or(u64::MAX));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn a_long_file_gives_way_and_one_old_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let old = folder.path().join("log.1");
        let mut log = RotatingFile::open(&path, 10).unwrap();
        for (line, now, before) in [
            ("first\n", "first\n", None),
            ("2nd\n", "first\n2nd\n", None),
            ("3\n", "3\n", Some("first\n2nd\n")),
            ("longer than all\n", "longer than all\n", Some("3\n")),
            ("5\n", "5\n", Some("longer than all\n")),
        ] {
            log.write_all(line.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), now);
            assert_eq!(fs::read_to_string(&old).ok().as_deref(), before);
        }
        let mut again = RotatingFile::open(&path, 10).unwrap();
        again.write_all(b"12345678\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "12345678\n");
        let mut endless = RotatingFile::open(&path, 0).unwrap();
        endless.write_all(&[b'x'; 100]).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), 109);
    }
}
