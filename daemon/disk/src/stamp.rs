//! Whether a file is still the one that was read.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::DiskError;
use crate::error::At;

/// Longer than any tick of a file system's clock, in seconds.
const TICK: f64 = 0.05;

/// Identity, size and time of a file's content. Two equal stamps mean that
/// nobody wrote in between, as far as the file system can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Stamp {
    /// The stamp of what this metadata describes. The change time is no part of
    /// it, for a rename sets it although the content stays.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }

    /// The stamp of what the system says of a file.
    pub(crate) fn of_stat(found: &rustix::fs::Stat) -> Self {
        Self {
            device: number(found.st_dev),
            inode: number(found.st_ino),
            size: number(found.st_size),
            modified: (signed(found.st_mtime), signed(found.st_mtime_nsec)),
        }
    }

    /// Whether the content is older than that.
    pub(crate) fn is_older(&self, age: Duration, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        now - self.modified_at() > age.as_secs_f64()
    }

    /// Bytes of the content.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// When the content was written last, in Unix seconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a quarter of a microsecond is near enough")]
    pub fn modified_at(&self) -> f64 {
        self.modified.0 as f64 + self.modified.1 as f64 / 1e9
    }

    /// When the content was written last, in Unix nanoseconds: with its text it tells a file from
    /// another one, also after a power cut, and whatever clocks say. From the year 1677 to 2262;
    /// what lies outside is the nearest of them.
    #[must_use]
    pub const fn modified_nanos(&self) -> i64 {
        self.modified.0.saturating_mul(1_000_000_000).saturating_add(self.modified.1)
    }

    /// The stamp as bytes, to be kept and compared by whoever reads the file again.
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

    /// Whether the content was written so long before `now` that another write
    /// would have left another stamp: a file system's clock ticks every few
    /// milliseconds only, and a file that is replaced may get its old number back.
    #[must_use]
    pub fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        now - self.modified_at() > TICK
    }

    /// The stamp of the file as it is now; `None` when it is missing.
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

/// What systems have as numbers of several kinds.
fn number(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(0)
}

fn signed(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(0)
}
