//! `[archive]`: how long closed sessions are kept.

use std::time::Duration;

use super::format::{bytes, time};
use super::key::section;

section! {
    /// How long closed sessions are kept.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct ArchiveConfig {
        /// How long a closed session stays; 0s for ever.
        pub ttl: Duration = Duration::ZERO, time(..);
        /// What all sessions may have together, in bytes; 0B for no limit.
        pub quota: u64 = 8 << 30, bytes(..);
    }
}
