//! `[archive]`: how long closed sessions are kept.

use std::time::Duration;

use super::format::{bytes, time};
use super::key::section;

section! {
    /// How long closed sessions are kept.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct ArchiveConfig {
        /// How long a closed session is kept; 0s means for ever.
        pub ttl: Duration = Duration::ZERO, time(..);
        /// The limit for all sessions together; 0B means none.
        pub quota: u64 = 8 << 30, bytes(..);
    }
}
