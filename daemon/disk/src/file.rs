//! Reading a file with a limit, and the one way to write one: a temporary file
//! beside it, mode set, write, fsync, rename, fsync of the folder.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::At;
use crate::schedule::step;
use crate::stamp::Stamp;
use crate::{DiskError, owner};

/// Mode of a file that did not exist before.
pub(crate) const PRIVATE: u32 = 0o600;

/// Room that is made before a file is read, in bytes at most.
const READ_AT_ONCE: u64 = 1 << 20;

/// How often a file is read again that changes while it is read.
const READ_AGAIN: usize = 8;

/// Links that are followed from a store to its real file before it counts as a
/// loop.
const LINKS: usize = 16;

/// Reads a whole file of text.
///
/// The stamp is taken from the open file, so text and stamp belong together. A
/// missing file is `None`.
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

/// The same for a file that tells a program what to do.
///
/// # Errors
/// As [`read_text`], and a file that is neither this user's nor root's, or that others may write.
pub fn read_trusted_text(path: &Path, limit: u64) -> Result<Option<(String, Stamp)>, DiskError> {
    match open_regular(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => owner::check_file(path, &opened.and_then(|file| file.metadata()).at("open", path)?)?,
    }
    read_text(path, limit)
}

/// Reads a whole file; a missing one is `None`. One that is cut or grows while it is read is
/// read again, a few times, so that text and stamp belong together.
///
/// # Errors
/// As [`read_text`], but for the encoding.
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
    // One more than it is long, so that one read finds the end too.
    let room = metadata.len().min(limit).saturating_add(1).min(READ_AT_ONCE);
    let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or(0));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).at("read", path)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        let error = io::Error::new(io::ErrorKind::FileTooLarge, format!("longer than {limit} bytes"));
        return Err(error).at("read", path);
    }
    Ok(Some((bytes, Stamp::of(&metadata))))
}

/// Opens a regular file to read it. It never waits, as the open of a named pipe in the file's place would.
///
/// # Errors
/// A file that can't be opened, or is not a regular file.
pub fn open(path: &Path) -> Result<File, DiskError> {
    open_regular(path).at("open", path)
}

/// Opens without waiting, for a named pipe in a file's place would make the
/// open itself wait for a writer.
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

/// Opens a file of herma's own as the options say, but never through a link that somebody put in
/// its place, and never what is no regular file: a named pipe would be waited for, a device written.
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

/// Where a file really is, links followed; `None` when it is missing.
///
/// # Errors
/// A folder that can't be searched, or links in a circle.
pub fn real_path(path: &Path) -> Result<Option<PathBuf>, DiskError> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(Some(real)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).at("follow", path),
    }
}

/// How the temporary file beside a target is named: `prefix`, random letters,
/// `suffix`.
#[derive(Debug, Clone, Copy)]
pub struct Temporary {
    /// What its name begins with.
    pub prefix: &'static str,
    /// What its name ends with.
    pub suffix: &'static str,
}

/// Puts `content` in the place of the file, all of it or nothing. When this
/// returns, the change survives a power cut. A symlink stays and its real file
/// is replaced; mode and owner of an existing file are kept. Where the file
/// can't be renamed over (it is a mount point), it is written in place.
///
/// # Errors
/// Whatever step failed; the file then has its old content, and the temporary
/// file is gone.
pub fn replace(path: &Path, content: &[u8], temporary: Temporary) -> Result<Stamp, DiskError> {
    stage(path, content, temporary)?.finish()
}

/// As [`replace`], with content that is written piece by piece.
///
/// # Errors
/// As [`replace`]; a mount point can't be replaced this way.
pub fn replace_with(
    path: &Path,
    temporary: Temporary,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Stamp, DiskError> {
    let mut staged = begin(path, temporary)?;
    write(staged.file.as_file_mut()).at("write", path)?;
    staged.finish()
}

/// New content that lies beside a file and can take its place. Dropped before
/// that, it is gone and the file as it was.
#[derive(Debug)]
pub struct Staged<'a> {
    file: tempfile::NamedTempFile,
    content: Option<&'a [u8]>,
    real: PathBuf,
    replaces: bool,
}

/// A file that was put in place. While this is held, no other file gets its
/// number, so that an equal stamp means the very same file; and what it costs to
/// forget the file, once it was replaced, is paid when this is dropped.
#[derive(Debug)]
pub struct Placed {
    /// Its stamp.
    pub stamp: Stamp,
    held: Option<File>,
}

impl Placed {
    /// Whether an equal stamp means the very same file.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        self.held.is_some()
    }
}

/// Makes durable what is there, whoever wrote it: the file and its name, or that there is none, or
/// not even its folder.
///
/// # Errors
/// A file that can't be opened, or a sync that failed.
pub fn sync(path: &Path) -> Result<(), DiskError> {
    let (real, found) = resolve_links(path)?;
    if found.is_some() {
        File::open(&real).and_then(|file| file.sync_all()).at("sync", &real)?;
    }
    let folder = parent(&real).ancestors().find(|folder| folder.is_dir());
    folder.map_or(Ok(()), sync_folder)
}

/// Writes `content` beside the file that is to be replaced, without syncing it.
///
/// # Errors
/// Whatever step failed; nothing is left then.
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
    /// Makes the content durable; the file is still the old one.
    ///
    /// # Errors
    /// A sync that failed.
    pub fn sync(&self) -> Result<(), DiskError> {
        self.file.as_file().sync_all().at("sync", &self.real)
    }

    /// Renames it over the file. That a file is there for the first time is made
    /// durable; that it has new content survives a crash of this process, but a
    /// power cut only once its folder is synced.
    ///
    /// # Errors
    /// A rename that failed; the file then has its old content.
    pub fn put_in_place(self) -> Result<Placed, DiskError> {
        let stamp = Stamp::of(&self.file.as_file().metadata().at("inspect", &self.real)?);
        step();
        match self.file.persist(&self.real) {
            Ok(file) => {
                if !self.replaces
                    && let Err(error) = sync_folder(parent(&self.real))
                {
                    // Nobody may find what its writer was told is not there.
                    remove(&self.real)?;
                    return Err(error);
                }
                Ok(Placed { stamp, held: Some(file) })
            }
            Err(error) => match self.content {
                Some(content) if is_mount_point(&error.error) => {
                    overwrite(&self.real, content).map(|stamp| Placed { stamp, held: None })
                }
                _ => Err(error.error).at("rename over", &self.real),
            },
        }
    }

    fn finish(self) -> Result<Stamp, DiskError> {
        self.sync()?;
        let folder = parent(&self.real).to_owned();
        let Placed { stamp, .. } = self.put_in_place()?;
        sync_folder(&folder)?;
        Ok(stamp)
    }
}

/// Creates a file that must not exist yet, whole and durable.
///
/// # Errors
/// [`Created::Exists`] is not an error; whatever step failed is, and then there
/// is no file.
pub fn create(path: &Path, content: &[u8], temporary: Temporary) -> Result<Created, DiskError> {
    write_new(path, content, temporary)?.put_in_place()
}

/// The content of a file that must not exist yet, beside its place and not synced. Dropped, it is gone.
#[derive(Debug)]
pub struct Unplaced<'a> {
    file: tempfile::NamedTempFile,
    path: &'a Path,
    length: usize,
}

/// Writes the content of a file that must not exist yet, so that something else can be found out before it is
/// made durable.
///
/// # Errors
/// Whatever step failed; nothing is left then.
pub fn write_new<'a>(path: &'a Path, content: &[u8], temporary: Temporary) -> Result<Unplaced<'a>, DiskError> {
    let mut file = new_temporary(parent(path), temporary)?;
    file.as_file_mut().write_all(content).at("write", path)?;
    Ok(Unplaced { file, path, length: content.len() })
}

impl Unplaced<'_> {
    /// Makes it durable and gives it its name.
    ///
    /// # Errors
    /// As [`create`].
    pub fn put_in_place(self) -> Result<Created, DiskError> {
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
                    // Nobody may find what its writer was told is not there.
                    remove(path)?;
                    Err(error)
                }
            },
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(Created::Exists),
            Err(error) => Err(error.error).at("rename to", path),
        }
    }
}

/// What [`create`] came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// The file is there now.
    New,
    /// There was one before; it was left alone.
    Exists,
}

/// Whether a file holds exactly these bytes; false when it is missing.
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

/// Gives a file a second name, which must be free: whatever takes its place
/// under the first one, its content stays.
///
/// # Errors
/// A name that is taken, or a file system without links.
pub fn keep_as(path: &Path, second: &Path) -> Result<(), DiskError> {
    fs::hard_link(path, second).at("keep a copy of", path)
}

/// Opens a file to append lines to, private and created when missing.
///
/// # Errors
/// A file that can't be opened, is a link, or is not a regular file.
pub fn append_to(path: &Path) -> Result<File, DiskError> {
    open_own(path, OpenOptions::new().append(true).create(true).mode(PRIVATE)).at("open", path)
}

/// Gives a file another name in the same folder, and makes that durable; a file that has that
/// name is replaced.
///
/// # Errors
/// A file that can't be renamed.
pub fn rename(from: &Path, to: &Path) -> Result<(), DiskError> {
    fs::rename(from, to).at("rename", from)?;
    sync_folder(parent(to))
}

/// Removes a file; a missing one is fine.
///
/// # Errors
/// A file that can't be removed.
pub fn remove(path: &Path) -> Result<(), DiskError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}

/// Removes a name of a file; a missing one is fine. Says how many bytes that frees:
/// none while the file has another name.
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

/// Where a file really is, and what is there now.
fn resolve_links(path: &Path) -> Result<(PathBuf, Option<fs::Metadata>), DiskError> {
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

/// Makes a rename in the folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), DiskError> {
    File::open(folder).and_then(|folder| folder.sync_all()).at("sync the folder", folder)
}

fn is_mount_point(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::CrossesDevices | io::ErrorKind::ResourceBusy)
}

/// Never shortens the file before its new content is there; the temporary file
/// with the same content stays beside it meanwhile.
fn overwrite(path: &Path, content: &[u8]) -> Result<Stamp, DiskError> {
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
