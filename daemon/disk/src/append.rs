//! Append-only files that can be synced in parallel with another file.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::DiskError;
use crate::error::At;
use crate::file;
use crate::schedule::step;

/// Bytes reserved after the end of the file. A sync is cheaper if its blocks are already reserved.
const RESERVE: u64 = 1 << 20;

/// Stack size of the sync thread in bytes.
const STACK: usize = 64 << 10;

/// A file that one owner appends to.
///
/// Invariant: `length` is where the next bytes go. Bytes that a failed append left after it are cut off or overwritten.
#[derive(Debug)]
pub struct Appender {
    path: PathBuf,
    file: File,
    writable: bool,
    /// Device and inode. No other file gets the same while this one is open.
    identity: (u64, u64),
    length: u64,
    reserved: u64,
    syncer: Option<Syncer>,
}

impl Appender {
    /// Opens the file for reading; `None` if it is missing. To append to it, open it again with `open`.
    ///
    /// # Errors
    /// A file that can't be opened, or is not a regular file.
    pub fn open_to_read(path: &Path) -> Result<Option<Self>, DiskError> {
        match file::open_own(path, OpenOptions::new().read(true)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => Self::of(path, opened.at("open", path)?, false).map(Some),
        }
    }

    /// Opens the file for appending. A missing file is created with private mode, durable when this returns.
    ///
    /// # Errors
    /// A file that can't be opened, or is not a regular file.
    pub fn open(path: &Path) -> Result<Self, DiskError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(file::PRIVATE);
        let file = match file::open_own(path, &mut options) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let created = file::open_own(path, options.create_new(true)).at("create", path)?;
                file::sync_folder(file::parent(path))?;
                created
            }
            opened => opened.at("open", path)?,
        };
        Self::of(path, file, true)
    }

    fn of(path: &Path, file: File, writable: bool) -> Result<Self, DiskError> {
        let metadata = file.metadata().at("inspect", path)?;
        let (length, identity) = (metadata.len(), (metadata.dev(), metadata.ino()));
        Ok(Self { path: path.to_owned(), file, writable, identity, length, reserved: length, syncer: None })
    }

    /// Returns whether it was opened for appending.
    #[must_use]
    pub const fn is_writable(&self) -> bool {
        self.writable
    }

    /// Returns the offset of the next append.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Returns whether the path still refers to this file.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.here().is_some()
    }

    /// Returns whether the path still refers to this file and its length is unchanged.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.here().is_some_and(|here| here.len() == self.length)
    }

    /// Returns the metadata at the path, if it is this file.
    fn here(&self) -> Option<Metadata> {
        let here = std::fs::metadata(&self.path).ok()?;
        ((here.dev(), here.ino()) == self.identity).then_some(here)
    }

    /// Appends bytes without syncing them.
    ///
    /// # Errors
    /// A failed write; the file then has its old end.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), DiskError> {
        step();
        let end = self.length + u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if end > self.reserved {
            self.reserve(end + RESERVE);
        }
        if let Err(error) = self.file.write_all_at(bytes, self.length) {
            // Bytes that were written are cut off here, or overwritten by the next append.
            drop(self.file.set_len(self.length));
            return Err(error).at("write", &self.path);
        }
        self.length = end;
        Ok(())
    }

    /// Overwrites bytes in place without syncing them. This needs no disk space if the file system writes in place.
    ///
    /// # Errors
    /// A range outside the file, or a failed write.
    pub fn overwrite(&self, offset: u64, bytes: &[u8]) -> Result<(), DiskError> {
        let end = u64::try_from(bytes.len()).ok().and_then(|length| offset.checked_add(length));
        if end.is_none_or(|end| end > self.length) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it ends before that")).at("write", &self.path);
        }
        self.file.write_all_at(bytes, offset).at("write", &self.path)
    }

    /// Reserves blocks up to `end`, if the file system supports it.
    fn reserve(&mut self, end: u64) {
        let flags = rustix::fs::FallocateFlags::KEEP_SIZE;
        let _ = rustix::fs::fallocate(&self.file, flags, self.length, end - self.length);
        self.reserved = end;
    }

    /// Makes appended bytes durable.
    ///
    /// # Errors
    /// A failed sync: bytes appended since the last sync may be lost in a power cut.
    pub fn sync(&self) -> Result<(), DiskError> {
        self.file.sync_data().at("sync", &self.path)
    }

    /// Makes appended bytes durable while `other` syncs another file.
    ///
    /// # Errors
    /// A failed sync of either file.
    pub fn sync_in_parallel(&mut self, other: impl FnOnce() -> Result<(), DiskError>) -> Result<(), DiskError> {
        if self.syncer.is_none() {
            self.syncer = Syncer::start(&self.file).ok();
        }
        match &self.syncer {
            Some(syncer) => {
                let (own, other) = syncer.during(other);
                other.and(own.at("sync", &self.path))
            }
            None => other().and_then(|()| self.sync()),
        }
    }

    /// Truncates the file to `length`, if it is longer.
    ///
    /// # Errors
    /// A file that can't be truncated or synced.
    pub fn cut(&mut self, length: u64) -> Result<(), DiskError> {
        self.length = self.length.min(length);
        self.reserved = self.length;
        self.file.set_len(self.length).at("cut", &self.path)?;
        self.sync()
    }

    /// Reads a part of the file.
    ///
    /// # Errors
    /// A part beyond the end of the file, or one that can't be read.
    pub fn read(&self, offset: u64, length: usize) -> Result<Vec<u8>, DiskError> {
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, offset).at("read", &self.path)?;
        Ok(bytes)
    }

    /// Copies all bytes from `offset` on to `out`.
    ///
    /// # Errors
    /// A part that can't be read or written.
    pub fn copy_from(&self, offset: u64, out: &mut dyn Write) -> io::Result<()> {
        let from = Reader { file: &self.file, offset };
        io::copy(&mut from.take(self.length.saturating_sub(offset)), out).map(drop)
    }

    /// Releases the reserved blocks.
    ///
    /// # Errors
    /// A file that can't be truncated.
    pub fn release(&mut self) -> Result<(), DiskError> {
        self.reserved = self.length;
        self.file.set_len(self.length).at("cut", &self.path)
    }

    /// Calls `each` with every line, including its newline; the last line may have none. A line of
    /// more than `limit` bytes is passed in pieces.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn lines(&self, limit: usize, mut each: impl FnMut(&[u8])) -> Result<(), DiskError> {
        let mut reader = BufReader::with_capacity(64 << 10, Reader { file: &self.file, offset: 0 });
        let mut line = Vec::new();
        loop {
            line.clear();
            let limit = u64::try_from(limit).unwrap_or(u64::MAX);
            if (&mut reader).take(limit).read_until(b'\n', &mut line).at("read", &self.path)? == 0 {
                return Ok(());
            }
            each(&line);
        }
    }
}

/// Reads a file from its own offset, independent of other uses of the file.
struct Reader<'a> {
    file: &'a File,
    offset: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        self.offset += u64::try_from(read).unwrap_or(0);
        Ok(read)
    }
}

/// A thread that syncs one file on request.
#[derive(Debug)]
struct Syncer {
    wanted: SyncSender<()>,
    synced: Receiver<io::Result<()>>,
}

impl Syncer {
    fn start(file: &File) -> io::Result<Self> {
        let file = file.try_clone()?;
        let (wanted, orders) = sync_channel(1);
        let (done, synced) = sync_channel(1);
        std::thread::Builder::new().name("sync".into()).stack_size(STACK).spawn(move || {
            while orders.recv().is_ok() {
                if done.send(file.sync_data()).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { wanted, synced })
    }

    /// Runs `work` while the thread syncs the file.
    fn during<T>(&self, work: impl FnOnce() -> T) -> (io::Result<()>, T) {
        let gone = || io::Error::other("the thread that syncs is gone");
        let sent = self.wanted.send(());
        let worked = work();
        let synced = sent.map_err(|_| gone()).and_then(|()| self.synced.recv().map_err(|_| gone())?);
        (synced, worked)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::file::Temporary;

    fn lines(appender: &Appender) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        appender.lines(8, |line| lines.push(line.to_vec())).unwrap();
        lines
    }

    #[test]
    fn what_is_appended_is_there_when_it_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut first = Appender::open(&path).unwrap();
        first.append(b"one\n").unwrap();
        first.append(b"two\n").unwrap();
        first.sync().unwrap();
        let mut again = Appender::open(&path).unwrap();
        assert_eq!((again.length(), again.read(4, 3).unwrap()), (8, b"two".to_vec()));
        assert!(again.read(6, 3).is_err());
        again.overwrite(4, b"T").unwrap();
        assert_eq!((again.length(), again.read(4, 3).unwrap()), (8, b"Two".to_vec()));
        assert!(again.overwrite(7, b"xy").is_err());
        again.cut(4).unwrap();
        again.append(b"much longer").unwrap();
        assert_eq!(lines(&again), [&b"one\n"[..], b"much lon", b"ger"]);
    }

    #[test]
    fn a_file_that_was_replaced_or_changed_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Appender::open(&path).unwrap();
        log.append(b"one\n").unwrap();
        assert!(log.is_in_place() && log.is_unchanged());
        let other = Appender::open(&path).unwrap();
        log.append(b"two\n").unwrap();
        assert!(log.is_unchanged() && !other.is_unchanged());
        file::remove(&path).unwrap();
        assert!(!log.is_in_place());
    }

    #[test]
    fn a_file_is_synced_beside_another() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Appender::open(&folder.path().join("log")).unwrap();
        let store = folder.path().join("store");
        for text in ["one", "two"] {
            let staged = file::stage(&store, text.as_bytes(), Temporary { prefix: ".t", suffix: ".tmp" }).unwrap();
            log.append(text.as_bytes()).unwrap();
            log.sync_in_parallel(|| staged.sync()).unwrap();
            staged.commit().unwrap();
            assert!(file::holds(&store, text.as_bytes()).unwrap());
        }
        assert_eq!(log.length(), 6);
    }
}
