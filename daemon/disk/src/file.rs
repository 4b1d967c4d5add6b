//! Reads a file with a size limit, and writes one in the only permitted way: a temporary file next
//! to it, mode set, write, fsync, rename, fsync of the folder.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::At;
use crate::schedule::step;
use crate::stamp::Stamp;
use crate::{DiskError, owner};

/// Mode of a new file.
pub(crate) const PRIVATE: u32 = 0o600;

/// The most bytes allocated before a file is read.
const READ_AT_ONCE: u64 = 1 << 20;

/// How often a file is read again if it changes during the read.
const READ_AGAIN: usize = 8;

/// The most symbolic links to follow from a store to its real file; more count as a loop.
const LINKS: usize = 16;

/// Reads a whole text file; `None` if it is missing.
///
/// The stamp comes from the open file, so text and stamp belong together.
///
/// # Errors
/// A file that can't be opened or read, is not a regular file, is longer than
/// `limit` bytes or is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<Option<(String, Stamp)>, DiskError> {
    let Some((bytes, stamp)) = read_bytes(path, limit)? else { return Ok(None) };
    let text = String::from_utf8(bytes)
        .map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            io::Error::new(io::ErrorKind::InvalidData, format!("not UTF-8 at byte {at}"))
        })
        .at("read", path)?;
    Ok(Some((text, stamp)))
}

/// Reads a text file that controls what a program does.
///
/// # Errors
/// As for [`read_text`], and a file that belongs to neither this user nor root, or is writable by others.
pub fn read_trusted_text(path: &Path, limit: u64) -> Result<Option<(String, Stamp)>, DiskError> {
    match open_regular(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => owner::check_file(path, &opened.and_then(|file| file.metadata()).at("open", path)?)?,
    }
    read_text(path, limit)
}

/// Reads a whole file; `None` if it is missing. A file that shrinks or grows during the read is
/// read again a few times, so that bytes and stamp belong together.
///
/// # Errors
/// As for [`read_text`], except for the encoding.
pub fn read_bytes(path: &Path, limit: u64) -> Result<Option<(Vec<u8>, Stamp)>, DiskError> {
    let mut read = read_once(path, limit)?;
    for _ in 0..READ_AGAIN {
        match &read {
            Some((bytes, stamp)) if u64::try_from(bytes.len()) != Ok(stamp.size()) => read = read_once(path, limit)?,
            _ => break,
        }
    }
    Ok(read)
}

fn read_once(path: &Path, limit: u64) -> Result<Option<(Vec<u8>, Stamp)>, DiskError> {
    let file = match open_regular(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.at("open", path)?,
    };
    let metadata = file.metadata().at("inspect", path)?;
    // One more than the length, so that one read also reaches the end.
    let room = metadata.len().min(limit).saturating_add(1).min(READ_AT_ONCE);
    let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or(0));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).at("read", path)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        let error = io::Error::new(io::ErrorKind::FileTooLarge, format!("longer than {limit} bytes"));
        return Err(error).at("read", path);
    }
    Ok(Some((bytes, Stamp::of(&metadata))))
}

/// Opens a regular file for reading. It never blocks, even if a named pipe is in the file's place.
///
/// # Errors
/// A file that can't be opened, or is not a regular file.
pub fn open(path: &Path) -> Result<File, DiskError> {
    open_regular(path).at("open", path)
}

/// Opens a file without blocking, because opening a named pipe would wait for a writer.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if !kind.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file"));
    }
    Ok(file)
}

/// Opens one of herma's own files with these options. Refuses a link, which another user may have
/// placed there, and anything but a regular file: a named pipe would block, and a device would be
/// written to.
pub(crate) fn open_own(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let file = options.custom_flags(i32::try_from(flags.bits()).unwrap_or(0)).open(path).map_err(|error| {
        let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        let is_pipe = error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error());
        match (is_link, is_pipe) {
            (true, _) => io::Error::new(io::ErrorKind::InvalidData, "it is a link, and only the file itself is used"),
            (_, true) => io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file"),
            _ => error,
        }
    })?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file"))
    }
}

/// Returns the real path of a file, with links resolved; `None` if it is missing.
///
/// # Errors
/// A folder that can't be searched, or a loop of links.
pub fn real_path(path: &Path) -> Result<Option<PathBuf>, DiskError> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(Some(real)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).at("follow", path),
    }
}

/// The name of a temporary file next to its target: `prefix`, random letters, `suffix`.
#[derive(Debug, Clone, Copy)]
pub struct Temporary {
    /// Start of its name.
    pub prefix: &'static str,
    /// End of its name.
    pub suffix: &'static str,
}

/// Replaces the file with `content` atomically. When this returns, the change survives a power cut.
/// A symlink stays and its real file is replaced. Mode and owner of an existing file are kept. A
/// file that can't be renamed over, such as a mount point, is written in place.
///
/// # Errors
/// Any failed step. The file then has its old content and the temporary file is removed. Only a
/// file that is written in place may be partly written.
pub fn replace(path: &Path, content: &[u8], temporary: Temporary) -> Result<Stamp, DiskError> {
    stage(path, content, temporary)?.finish()
}

/// Does the same as [`replace`], with content that is written piece by piece.
///
/// # Errors
/// As for [`replace`], and a mount point, which can't be replaced this way.
pub fn replace_with(
    path: &Path,
    temporary: Temporary,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Stamp, DiskError> {
    let mut staged = begin(path, temporary)?;
    write(staged.file.as_file_mut()).at("write", path)?;
    staged.finish()
}

/// New content in a temporary file next to its target. If this is dropped, the temporary file is
/// removed and the target is unchanged.
#[derive(Debug)]
pub struct Staged<'a> {
    file: tempfile::NamedTempFile,
    content: Option<&'a [u8]>,
    real: PathBuf,
    replaces: bool,
}

/// A file that was put in place. While this is held, no other file can get its inode, so an equal
/// stamp means the same file. If the file was replaced meanwhile, the file system frees it when
/// this is dropped.
#[derive(Debug)]
pub struct CommittedFile {
    /// Its stamp.
    pub stamp: Stamp,
    held: Option<File>,
}

impl CommittedFile {
    /// Returns whether an equal stamp means the same file.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        self.held.is_some()
    }
}

/// Makes the current state of a path durable, also a change by another program: the file and its name, or that the
/// file or even its folder is missing.
///
/// # Errors
/// A file that can't be opened, or a failed sync.
pub fn sync(path: &Path) -> Result<(), DiskError> {
    let (real, found) = resolve_links(path)?;
    if found.is_some() {
        File::open(&real).and_then(|file| file.sync_all()).at("sync", &real)?;
    }
    let folder = parent(&real).ancestors().find(|folder| folder.is_dir());
    folder.map_or(Ok(()), sync_folder)
}

/// Writes `content` to a temporary file next to the target, without syncing it.
///
/// # Errors
/// Any failed step; nothing is left then.
pub fn stage<'a>(path: &Path, content: &'a [u8], temporary: Temporary) -> Result<Staged<'a>, DiskError> {
    step();
    let staged = begin(path, temporary)?;
    staged.file.as_file().write_all_at(content, 0).at("write", &staged.real)?;
    Ok(Staged { content: Some(content), ..staged })
}

fn begin<'a>(path: &Path, temporary: Temporary) -> Result<Staged<'a>, DiskError> {
    let (real, before) = resolve_links(path)?;
    let file = new_temporary(parent(&real), temporary)?;
    if let Some(before) = &before {
        keep_owner_and_mode(file.as_file(), before).at("set the mode of", file.path())?;
    }
    Ok(Staged { file, content: None, real, replaces: before.is_some() })
}

impl Staged<'_> {
    /// Makes the new content durable; the target is still unchanged.
    ///
    /// # Errors
    /// A failed sync.
    pub fn sync(&self) -> Result<(), DiskError> {
        self.file.as_file().sync_all().at("sync", &self.real)
    }

    /// Renames the temporary file over the target. The name of a new file is durable when this
    /// returns. New content of an existing file survives a crash of this process; it survives a
    /// power cut only once the folder is synced.
    ///
    /// # Errors
    /// A failed rename; the file then has its old content.
    pub fn commit(self) -> Result<CommittedFile, DiskError> {
        let stamp = Stamp::of(&self.file.as_file().metadata().at("inspect", &self.real)?);
        step();
        match self.file.persist(&self.real) {
            Ok(file) => {
                if !self.replaces
                    && let Err(error) = sync_folder(parent(&self.real))
                {
                    // The writer gets an error, so no reader may find the file.
                    remove(&self.real)?;
                    return Err(error);
                }
                Ok(CommittedFile { stamp, held: Some(file) })
            }
            Err(error) => match self.content {
                Some(content) if is_mount_point(&error.error) => {
                    overwrite(&self.real, content).map(|stamp| CommittedFile { stamp, held: None })
                }
                _ => Err(error.error).at("rename over", &self.real),
            },
        }
    }

    fn finish(self) -> Result<Stamp, DiskError> {
        self.sync()?;
        let folder = parent(&self.real).to_owned();
        let CommittedFile { stamp, .. } = self.commit()?;
        sync_folder(&folder)?;
        Ok(stamp)
    }
}

/// Creates a new file atomically and durably.
///
/// # Errors
/// Any failed step; there is no file then. [`Created::Exists`] is not an error.
pub fn create(path: &Path, content: &[u8], temporary: Temporary) -> Result<Created, DiskError> {
    write_new(path, content, temporary)?.commit()
}

/// The content of a new file in a temporary file, not synced yet. If this is dropped, it is removed.
#[derive(Debug)]
pub struct NewFile<'a> {
    file: tempfile::NamedTempFile,
    path: &'a Path,
    length: usize,
}

/// Writes the content of a new file, so that the caller can check something before it is made durable.
///
/// # Errors
/// Any failed step; nothing is left then.
pub fn write_new<'a>(path: &'a Path, content: &[u8], temporary: Temporary) -> Result<NewFile<'a>, DiskError> {
    let mut file = new_temporary(parent(path), temporary)?;
    file.as_file_mut().write_all(content).at("write", path)?;
    Ok(NewFile { file, path, length: content.len() })
}

impl NewFile<'_> {
    /// Makes the content durable and renames it to its path.
    ///
    /// # Errors
    /// As for [`create`].
    pub fn commit(self) -> Result<Created, DiskError> {
        let Self { file, path, length } = self;
        file.as_file().sync_all().at("write", path)?;
        let written = file.as_file().metadata().at("inspect", path)?.len();
        if written != u64::try_from(length).unwrap_or(u64::MAX) {
            let error = io::Error::new(io::ErrorKind::WriteZero, format!("only {written} bytes arrived"));
            return Err(error).at("write", path);
        }
        match file.persist_noclobber(path) {
            Ok(_) => match sync_folder(parent(path)) {
                Ok(()) => Ok(Created::New),
                Err(error) => {
                    // The writer gets an error, so no reader may find the file.
                    remove(path)?;
                    Err(error)
                }
            },
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(Created::Exists),
            Err(error) => Err(error.error).at("rename to", path),
        }
    }
}

/// The outcome of [`create`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// The file was created.
    New,
    /// A file already existed; it is unchanged.
    Exists,
}

/// Returns whether a file has exactly this content; false if it is missing.
///
/// # Errors
/// A file that can't be read.
pub fn holds(path: &Path, content: &[u8]) -> Result<bool, DiskError> {
    let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() == length => {}
        Ok(_) => return Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error).at("inspect", path),
    }
    Ok(read_bytes(path, length)?.is_some_and(|(bytes, _)| bytes == content))
}

/// Gives a file a second name, which must not exist. The content stays there even if the file is
/// replaced under its first name.
///
/// # Errors
/// A name that exists, or a file system without hard links.
pub fn hard_link_as(path: &Path, second: &Path) -> Result<(), DiskError> {
    fs::hard_link(path, second).at("keep a copy of", path)
}

/// Opens a file for appending lines; a missing file is created with private mode.
///
/// # Errors
/// A file that can't be opened, is a link, or is not a regular file.
pub fn append_to(path: &Path) -> Result<File, DiskError> {
    open_own(path, OpenOptions::new().append(true).create(true).mode(PRIVATE)).at("open", path)
}

/// Renames a file within its folder and makes that durable. A file with the new name is replaced.
///
/// # Errors
/// A file that can't be renamed.
pub fn rename(from: &Path, to: &Path) -> Result<(), DiskError> {
    fs::rename(from, to).at("rename", from)?;
    sync_folder(parent(to))
}

/// Removes a file; does nothing if it is missing.
///
/// # Errors
/// A file that can't be removed.
pub fn remove(path: &Path) -> Result<(), DiskError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}

/// Removes a name of a file; does nothing if it is missing. Returns the number of freed bytes: 0
/// while the file has another name.
///
/// # Errors
/// A file that can't be removed.
pub fn remove_name(path: &Path) -> Result<u64, DiskError> {
    let bytes = fs::symlink_metadata(path).map_or(0, |metadata| if metadata.nlink() > 1 { 0 } else { metadata.len() });
    remove(path)?;
    Ok(bytes)
}

pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the real path of a file and its metadata, if it exists.
pub(crate) fn resolve_links(path: &Path) -> Result<(PathBuf, Option<fs::Metadata>), DiskError> {
    let mut real = path.to_owned();
    for _ in 0..LINKS {
        match fs::symlink_metadata(&real) {
            Ok(metadata) if metadata.is_symlink() => {
                let target = fs::read_link(&real).at("follow", &real)?;
                real = parent(&real).join(target);
            }
            Ok(metadata) => return Ok((real, Some(metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((real, None)),
            Err(error) => return Err(error).at("inspect", &real),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "too many symbolic links")).at("follow", path)
}

pub(crate) fn new_temporary(folder: &Path, temporary: Temporary) -> Result<tempfile::NamedTempFile, DiskError> {
    tempfile::Builder::new()
        .prefix(temporary.prefix)
        .suffix(temporary.suffix)
        .permissions(Permissions::from_mode(PRIVATE))
        .tempfile_in(folder)
        .at("create a file in", folder)
}

pub(crate) fn keep_owner_and_mode(file: &File, before: &fs::Metadata) -> io::Result<()> {
    let now = file.metadata()?;
    if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
        std::os::unix::fs::fchown(file, Some(before.uid()), Some(before.gid()))?;
    }
    if now.mode() & 0o7777 == before.mode() & 0o7777 {
        return Ok(());
    }
    file.set_permissions(Permissions::from_mode(before.mode() & 0o7777))
}

/// Makes renames in the folder durable. A folder that this user may write but not read, or a file system without syncs
/// of folders, is no error: the rename itself succeeded, and no caller could do more.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), DiskError> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if !is_without_sync(&error) => Err(error).at("sync the folder", folder),
        _ => Ok(()),
    }
}

fn is_without_sync(error: &io::Error) -> bool {
    let number = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(number, Some(rustix::io::Errno::ACCESS | rustix::io::Errno::INVAL | rustix::io::Errno::NOTSUP))
}

pub(crate) fn is_mount_point(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::CrossesDevices | io::ErrorKind::ResourceBusy)
}

/// Overwrites a file in place. The file is not truncated before the new content is written, and the
/// temporary file with the same content exists until then.
pub(crate) fn overwrite(path: &Path, content: &[u8]) -> Result<Stamp, DiskError> {
    let mut file = OpenOptions::new().write(true).open(path).at("open", path)?;
    file.write_all(content).at("write", path)?;
    file.set_len(u64::try_from(content.len()).unwrap_or(u64::MAX)).at("write", path)?;
    file.sync_all().at("sync", path)?;
    Ok(Stamp::of(&file.metadata().at("inspect", path)?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::Cause;

    const TEMPORARY: Temporary = Temporary { prefix: ".t_", suffix: ".tmp" };

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_file_is_private_and_nothing_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        replace(&path, b"one", TEMPORARY).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn mode_and_link_of_an_existing_file_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        replace(&real, b"one", TEMPORARY).unwrap();
        fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("real", &link).unwrap();
        replace(&link, b"two", TEMPORARY).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"two");
        assert_eq!(fs::metadata(&real).unwrap().mode() & 0o777, 0o640);
    }

    #[test]
    fn the_stamp_is_that_of_the_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let stamp = replace(&path, b"one", TEMPORARY).unwrap();
        assert_eq!(Stamp::now(&path).unwrap(), Some(stamp));
        assert_eq!(read_text(&path, 10).unwrap(), Some(("one".into(), stamp)));
    }

    #[test]
    fn an_existing_file_is_never_overwritten_by_create() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert_eq!(create(&path, b"one", TEMPORARY).unwrap(), Created::New);
        assert_eq!(create(&path, b"two", TEMPORARY).unwrap(), Created::Exists);
        assert!(holds(&path, b"one").unwrap());
        assert!(!holds(&path, b"two").unwrap());
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn what_is_no_text_file_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert_eq!(read_text(&path, 10).unwrap(), None);
        fs::write(&path, b"\xff").unwrap();
        assert_eq!(read_text(&path, 10).unwrap_err().cause(), Cause::Unsuitable);
        fs::write(&path, b"elevenchars").unwrap();
        assert_eq!(read_text(&path, 10).unwrap_err().cause(), Cause::Unsuitable);
        assert_eq!(read_text(folder.path(), 10).unwrap_err().cause(), Cause::Unsuitable);
    }

    #[test]
    fn links_in_a_circle_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::os::unix::fs::symlink("a", &path).unwrap();
        assert!(replace(&path, b"x", TEMPORARY).is_err());
    }
}
