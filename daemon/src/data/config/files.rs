//! `[files]`: memory files.

use herma_memory::files::FileLimits;

use super::format::{bytes, whole};
use super::key::section;

section! {
    /// Memory files, which models write with the tool `memory_20250818`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct FilesConfig {
        /// The largest size of one file.
        pub file_limit: usize = 64 << 10, bytes(1..=1 << 20);
        /// The largest size of all files of a profile together.
        pub quota: u64 = 4 << 20, bytes(1..=32 << 20);
        /// The largest number of files of a profile.
        pub count: usize = 1000, whole(1..=10_000, "files");
    }
}

impl FilesConfig {
    /// Returns the limits of the files, with this number of revisions to keep.
    #[must_use]
    pub const fn limits(&self, revisions: usize) -> FileLimits {
        FileLimits { file_bytes: self.file_limit, total_bytes: self.quota, count: self.count, revisions }
    }
}
