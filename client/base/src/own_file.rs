//! Access to the hooks' own files and to files of the clients. It never blocks, even if a path is a pipe.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file for reading.
///
/// # Errors
/// It can't be opened, or is no regular file.
pub fn open(path: &Path) -> std::io::Result<File> {
    let file = File::options().read(true).custom_flags(flags(OFlags::NONBLOCK)).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(Error::new(ErrorKind::InvalidInput, "it is no file")) }
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// It can't be read, is no regular file, or is longer.
pub fn read(path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= limit);
    if fits { Ok(bytes) } else { Err(ErrorKind::FileTooLarge.into()) }
}

/// Reads the first bytes of a regular file.
///
/// # Errors
/// It can't be read, or is no regular file.
pub fn read_begin(path: &Path, bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut read = Vec::new();
    open(path)?.take(bytes).read_to_end(&mut read)?;
    Ok(read)
}

/// Reads the last bytes of a regular file.
///
/// # Errors
/// It can't be read, or is no regular file.
pub fn read_end(path: &Path, bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let begin = file.metadata()?.len().saturating_sub(bytes);
    file.seek(SeekFrom::Start(begin))?;
    let mut read = Vec::new();
    file.take(bytes).read_to_end(&mut read)?;
    Ok(read)
}

/// Files for the user alone, that are no links.
#[expect(
    clippy::disallowed_methods,
    reason = "they are the hooks' own, and the client does not know the daemon's disk"
)]
pub fn own() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags(flags(OFlags::NOFOLLOW | OFlags::NONBLOCK));
    options
}

/// Creates a folder for the user alone, and those above it.
///
/// # Errors
/// It can't be created.
pub fn make(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// A file for the user alone, in a folder that is made where it is missing.
pub fn put(path: &Path, text: &[u8]) -> std::io::Result<()> {
    make(path.parent().unwrap_or_else(|| Path::new(".")))?;
    replace(path, text)
}

/// A file that is there whole or not at all. It is not synced: what a power cut takes of it is read again.
#[expect(
    clippy::disallowed_methods,
    reason = "they are the hooks' own, and the client does not know the daemon's disk"
)]
pub fn replace(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(0o600)).tempfile_in(folder)?;
    file.write_all(text)?;
    file.persist(path)?;
    Ok(())
}

/// Removes a file, if it is there and can be removed.
#[expect(
    clippy::disallowed_methods,
    reason = "they are the hooks' own, and the client does not know the daemon's disk"
)]
pub fn remove(path: &Path) {
    drop(std::fs::remove_file(path));
}

fn flags(flags: OFlags) -> i32 {
    i32::try_from(flags.bits()).unwrap_or_default()
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
        assert!(own().append(true).open(&pipe).is_err());
        let file = folder.path().join("file");
        replace(&file, b"nine char").unwrap();
        assert_eq!(read(&file, 9).unwrap(), b"nine char");
        assert!(read(&file, 8).is_err());
    }
}
