//! A log of fixed size that keeps records durably until another place has them.
//!
//! All its space is written once, when the log is created. So a record costs one write, and a sync
//! that updates neither length nor blocks: less than an append to a growing file.
//!
//! Each record belongs to an *epoch*. That is a number that the owner keeps in the other place, and
//! changes in the same change that moves the records there. From then on the old records are
//! invalid, whether or not their bytes are still there.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::DiskError;
use crate::error::At;
use crate::file;
use crate::schedule::step;

/// Size of the file in bytes.
pub const CAPACITY: usize = 1 << 20;

/// Size of the header of each record in bytes: length and checksum, little endian.
const HEAD: usize = 8;

/// Records, in the order in which they were added.
pub type Records = Vec<Vec<u8>>;

/// Records that are durable until another place has them.
///
/// Invariant: `end` is where the next record goes, and everything before it is durable.
#[derive(Debug)]
pub struct WriteAheadLog {
    path: PathBuf,
    file: File,
    /// Device and inode.
    identity: (u64, u64),
    epoch: u64,
    end: usize,
}

impl WriteAheadLog {
    /// Opens an existing log, with its records of this epoch; `None` if it is missing.
    ///
    /// # Errors
    /// A file that can't be opened or read, or is not a regular file.
    pub fn open(path: &Path, epoch: u64) -> Result<Option<(Self, Records)>, DiskError> {
        let file = match file::open_own(path, OpenOptions::new().read(true).write(true)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.at("open", path)?,
        };
        let found = file.metadata().at("inspect", path)?;
        let length = usize::try_from(found.len()).unwrap_or(usize::MAX).min(CAPACITY);
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, 0).at("read", path)?;
        let (records, end) = records(&bytes, epoch);
        let identity = (found.dev(), found.ino());
        let log = Self { path: path.to_owned(), file, identity, epoch, end };
        // Completes a log whose creation was interrupted.
        log.fill(length)?;
        Ok(Some((log, records)))
    }

    /// Creates an empty log, durable when this returns.
    ///
    /// # Errors
    /// An existing file, or a failed write.
    pub fn create(path: &Path, epoch: u64) -> Result<Self, DiskError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(file::PRIVATE).create_new(true);
        let file = file::open_own(path, &mut options).at("create", path)?;
        let found = file.metadata().at("inspect", path)?;
        let log = Self { path: path.to_owned(), file, identity: (found.dev(), found.ino()), epoch, end: 0 };
        if let Err(error) = log.fill(0).and_then(|()| file::sync_folder(file::parent(path))) {
            // The file is removed, to free its space on a full disk.
            drop(file::remove(path));
            return Err(error);
        }
        Ok(log)
    }

    /// Writes zeros from `from` to the end, so that later writes need no space.
    fn fill(&self, from: usize) -> Result<(), DiskError> {
        if from >= CAPACITY {
            return Ok(());
        }
        self.file.write_all_at(&vec![0; CAPACITY - from], to_u64(from)).at("write", &self.path)?;
        self.file.sync_all().at("sync", &self.path)
    }

    /// Returns whether records of these lengths fit after the existing ones.
    #[must_use]
    pub fn has_room(&self, lengths: impl Iterator<Item = usize>) -> bool {
        let needed = lengths.fold(self.end, |sum, length| sum.saturating_add(HEAD).saturating_add(length));
        needed <= CAPACITY
    }

    /// Adds records, durable when this returns.
    ///
    /// # Errors
    /// Records that don't fit, or a failed write or sync. After a failure it is unknown whether the
    /// records will be found later, and no others may be added before the epoch changes.
    pub fn append(&mut self, records: &[Vec<u8>]) -> Result<(), DiskError> {
        step();
        if !self.has_room(records.iter().map(Vec::len)) {
            let full = io::Error::new(io::ErrorKind::StorageFull, "the log has no room for it");
            return Err(full).at("write", &self.path);
        }
        let mut bytes = Vec::with_capacity(records.iter().map(|record| HEAD + record.len()).sum());
        for record in records {
            let length = u32::try_from(record.len()).unwrap_or(u32::MAX);
            bytes.extend(length.to_le_bytes());
            bytes.extend(checksum(self.epoch, record).to_le_bytes());
            bytes.extend(record);
        }
        self.file.write_all_at(&bytes, to_u64(self.end)).at("write", &self.path)?;
        step();
        self.file.sync_data().at("sync", &self.path)?;
        self.end += bytes.len();
        Ok(())
    }

    /// Starts again with another epoch, once another place has the records. No bytes of the records
    /// are left, also after a power cut.
    ///
    /// # Errors
    /// A failed write or sync. The log may still be used, because its old records are invalid.
    pub fn clear(&mut self, epoch: u64) -> Result<(), DiskError> {
        let end = std::mem::take(&mut self.end);
        self.epoch = epoch;
        self.file.write_all_at(&vec![0; end], 0).at("write", &self.path)?;
        self.file.sync_data().at("sync", &self.path)
    }

    /// Returns whether the path still refers to this file.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        std::fs::symlink_metadata(&self.path).is_ok_and(|here| (here.dev(), here.ino()) == self.identity)
    }
}

/// Returns the records of an epoch at the start of some bytes, and their end.
fn records(bytes: &[u8], epoch: u64) -> (Records, usize) {
    let (mut found, mut end) = (Vec::new(), 0);
    while let Some((head, rest)) = bytes.get(end..).and_then(|rest| rest.split_first_chunk::<HEAD>()) {
        let [a, b, c, d, e, f, g, h] = *head;
        let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        let Some(record) = rest.get(..length).filter(|_| length > 0) else { break };
        if checksum(epoch, record) != u32::from_le_bytes([e, f, g, h]) {
            break;
        }
        found.push(record.to_vec());
        end += HEAD + length;
    }
    (found, end)
}

fn checksum(epoch: u64, record: &[u8]) -> u32 {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&epoch.to_le_bytes());
    checksum.update(record);
    checksum.finalize()
}

fn to_u64(place: usize) -> u64 {
    u64::try_from(place).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;

    fn names(records: &[Vec<u8>]) -> Vec<&str> {
        records.iter().map(|record| std::str::from_utf8(record).unwrap()).collect()
    }

    fn added(log: &mut WriteAheadLog, records: &[&str]) {
        log.append(&records.iter().map(|record| record.as_bytes().to_vec()).collect::<Vec<_>>()).unwrap();
    }

    fn opened(path: &Path, epoch: u64) -> (WriteAheadLog, Vec<Vec<u8>>) {
        WriteAheadLog::open(path, epoch).unwrap().unwrap()
    }

    #[test]
    fn records_are_those_of_their_epoch() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        assert!(WriteAheadLog::open(&path, 7).unwrap().is_none());
        let mut log = WriteAheadLog::create(&path, 7).unwrap();
        added(&mut log, &["one", "two"]);
        added(&mut log, &["three"]);
        drop(log);
        assert!(opened(&path, 8).1.is_empty());
        let (mut log, found) = opened(&path, 7);
        assert_eq!(names(&found), ["one", "two", "three"]);
        // A shorter record written over them leaves no part of the others.
        log.clear(8).unwrap();
        added(&mut log, &["4"]);
        assert_eq!(names(&opened(&path, 8).1), ["4"]);
        assert!(opened(&path, 7).1.is_empty());
        assert!(!std::fs::read(&path).unwrap().windows(3).any(|bytes| bytes == b"two"));
        assert_eq!(path.metadata().unwrap().len(), to_u64(CAPACITY));
    }

    #[test]
    fn a_record_that_is_cut_or_changed_ends_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = WriteAheadLog::create(&path, 1).unwrap();
        added(&mut log, &["one", "two", "three"]);
        drop(log);
        let whole = std::fs::read(&path).unwrap();
        for (at, left) in [(8, 0), (4, 0), (0, 0), (11 + 8, 1), (22, 2), (22 + 12, 2)] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(opened(&path, 1).1.len(), left, "byte {at}");
        }
        for (length, left) in [(0, 0), (10, 0), (11, 1), (21, 1), (22, 2), (35, 3)] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let (mut log, found) = opened(&path, 1);
            assert_eq!(found.len(), left, "{length} bytes");
            added(&mut log, &["next"]);
            assert_eq!(opened(&path, 1).1.len(), left + 1);
        }
    }

    #[test]
    fn it_is_full_at_its_end_and_known_by_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = WriteAheadLog::create(&path, 1).unwrap();
        let most = CAPACITY - HEAD;
        assert!(log.has_room([most].into_iter()) && !log.has_room([most, 1].into_iter()));
        log.append(&[vec![b'x'; most]]).unwrap();
        assert!(log.append(&[vec![b'x']]).is_err());
        assert_eq!(opened(&path, 1).1.len(), 1);
        assert!(log.is_in_place());
        std::fs::rename(&path, folder.path().join("other")).unwrap();
        assert!(!log.is_in_place());
        std::fs::write(&path, "").unwrap();
        assert!(!log.is_in_place());
        assert!(WriteAheadLog::create(&path, 1).is_err());
    }
}
