//! Stamps: detecting whether a file has changed since it was read.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::DiskError;
use crate::error::At;

/// Longer than the clock tick of any file system, in seconds.
const TICK: f64 = 0.05;

/// Identity, size and modification time of a file. Two equal stamps mean that the file was not
/// written in between, as far as the file system can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Stamp {
    /// Returns the stamp for this metadata. The change time is not part of it, because a rename
    /// sets it although the content stays.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }

    /// Returns the stamp for the result of a `stat` call.
    pub(crate) fn of_stat(found: &rustix::fs::Stat) -> Self {
        Self {
            device: number(found.st_dev),
            inode: number(found.st_ino),
            size: number(found.st_size),
            modified: (signed(found.st_mtime), signed(found.st_mtime_nsec)),
        }
    }

    /// Returns whether the content is older than `age`.
    pub(crate) fn is_older(&self, age: Duration, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        now - self.modified_at() > age.as_secs_f64()
    }

    /// Returns the size of the content in bytes.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Returns when the content was last written, in Unix seconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a quarter of a microsecond is near enough")]
    pub fn modified_at(&self) -> f64 {
        self.modified.0 as f64 + self.modified.1 as f64 / 1e9
    }

    /// Returns when the content was last written, in Unix nanoseconds. Together with the text it
    /// distinguishes one file from another, also after a power cut and whatever the clocks say. The
    /// range is from the year 1677 to 2262; other times become the nearest bound.
    #[must_use]
    pub const fn modified_nanos(&self) -> i64 {
        self.modified.0.saturating_mul(1_000_000_000).saturating_add(self.modified.1)
    }

    /// Returns the stamp as bytes, to store and to compare when the file is read again.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 40] {
        let mut bytes = [0; 40];
        let fields =
            [self.device, self.inode, self.size, self.modified.0.cast_unsigned(), self.modified.1.cast_unsigned()];
        for (place, field) in bytes.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    /// Returns whether the content was written so long before `now` that another write would have
    /// changed the stamp. A file system's clock ticks only every few milliseconds, and a replaced
    /// file may get its old inode again.
    #[must_use]
    pub fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        now - self.modified_at() > TICK
    }

    /// Returns the current stamp of a file; `None` if it is missing.
    ///
    /// # Errors
    /// A folder that can't be searched.
    pub fn now(path: &Path) -> Result<Option<Self>, DiskError> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(Self::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).at("inspect", path),
        }
    }
}

/// Converts a number whose type depends on the platform.
fn number(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(0)
}

fn signed(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(0)
}
