//! How much is kept.

/// How much is kept of a profile's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// Bytes of one file.
    pub file_bytes: usize,
    /// Bytes of all files together.
    pub total_bytes: u64,
    /// Files.
    pub count: usize,
    /// Revisions that the journal keeps at least, from 1.
    pub revisions: usize,
}
