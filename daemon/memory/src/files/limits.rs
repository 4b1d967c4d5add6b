//! The limits of memory files.

/// The limits of a profile's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// Maximum bytes of one file.
    pub file_bytes: usize,
    /// Maximum bytes of all files together.
    pub total_bytes: u64,
    /// Maximum number of files.
    pub count: usize,
    /// Revisions that the journal keeps at least. The minimum is 1.
    pub revisions: usize,
}
