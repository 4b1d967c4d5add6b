//! `[archive]`: how long closed sessions are kept, and what is masked in them.

use std::time::Duration;

use super::format::{bytes, switch, time};
use super::key::section;

section! {
    /// How closed sessions are kept.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct ArchiveConfig {
        /// How long a closed session is kept; 0s means for ever.
        pub ttl: Duration = Duration::ZERO, time(..);
        /// The limit for all sessions together; 0B means none.
        pub quota: u64 = 8 << 30, bytes(..);
        /// Whether secrets are masked in what hooks read and in imports.
        pub redact: bool = true, switch();
    }
}
