//! Files of herma in the home that hooks and commands write, and files of agents that they read. Opening a file never
//! waits, even if the path is a named pipe.

use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom};
use std::path::Path;

use herma_disk::file::Temporary;
use herma_disk::{cache, file, folder};

pub use herma_disk::DiskError;
pub use herma_disk::lock::Lock;

/// The names of temporary files, before they are renamed.
const TEMPORARY: Temporary = Temporary { prefix: ".tmp", suffix: "" };

/// Opens a regular file for reading.
///
/// # Errors
/// It can't be opened, or is not a regular file.
pub fn open(path: &Path) -> Result<File> {
    file::open(path).map_err(|error| error.source)
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// It can't be read, is not a regular file, or is longer.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let read = file::read_bytes(path, limit).map_err(|error| error.source)?;
    read.map(|(bytes, _)| bytes).ok_or_else(|| std::io::ErrorKind::NotFound.into())
}

/// Reads the first bytes of a regular file.
///
/// # Errors
/// It can't be read, or is not a regular file.
pub fn read_begin(path: &Path, bytes: u64) -> Result<Vec<u8>> {
    let mut read = Vec::new();
    open(path)?.take(bytes).read_to_end(&mut read)?;
    Ok(read)
}

/// Reads the last bytes of a regular file.
///
/// # Errors
/// It can't be read, or is not a regular file.
pub fn read_end(path: &Path, bytes: u64) -> Result<Vec<u8>> {
    let mut file = open(path)?;
    let begin = file.metadata()?.len().saturating_sub(bytes);
    file.seek(SeekFrom::Start(begin))?;
    let mut read = Vec::new();
    file.take(bytes).read_to_end(&mut read)?;
    Ok(read)
}

/// Opens a file to append lines to. If it is missing, it is created readable for this user alone. It must not be a
/// link.
///
/// # Errors
/// It can't be opened, or is not a regular file.
pub fn append_to(path: &Path) -> Result<File> {
    file::append_to(path).map_err(|error| error.source)
}

/// Creates a folder and its parents, for this user alone.
///
/// # Errors
/// It can't be created.
pub fn make(path: &Path) -> Result<()> {
    folder::create(path).map_err(|error| error.source)
}

/// Writes a file for this user alone, and creates its folder if it is missing.
///
/// # Errors
/// It can't be written. Then it keeps its old content.
pub fn put(path: &Path, content: &[u8]) -> Result<()> {
    make(path.parent().unwrap_or_else(|| Path::new(".")))?;
    replace(path, content)
}

/// Does the same as [`put`], and the new content survives a power cut.
///
/// # Errors
/// It can't be written. Then it keeps its old content.
pub fn put_durably(path: &Path, content: &[u8]) -> Result<()> {
    make(path.parent().unwrap_or_else(|| Path::new(".")))?;
    file::replace(path, content, TEMPORARY).map(drop).map_err(|error| error.source)
}

/// Replaces a file for this user alone, atomically. It is not synced, so a power cut may lose the new content.
///
/// # Errors
/// It can't be written. Then it keeps its old content.
pub fn replace(path: &Path, content: &[u8]) -> Result<()> {
    cache::put(path, content, TEMPORARY).map_err(|error| error.source)
}

/// Removes a file if possible. Errors are ignored.
pub fn remove(path: &Path) {
    drop(file::remove(path));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
        for path in [pipe.as_path(), folder.path()] {
            assert!(open(path).is_err() && read(path, 9).is_err(), "{}", path.display());
        }
        assert!(append_to(&pipe).is_err());
        let file = folder.path().join("file");
        replace(&file, b"nine char").unwrap();
        assert_eq!(read(&file, 9).unwrap(), b"nine char");
        assert!(read(&file, 8).is_err());
    }
}
