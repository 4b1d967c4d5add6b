//! `[limits]`: limits of the wire.

use herma_protocol::limits;

use super::format::{bytes, whole};
use super::key::section;

section! {
    /// Limits of the wire.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct LimitsConfig {
        /// One request or answer, in bytes.
        pub frame: usize = limits::FRAME, bytes(1 << 10..=limits::FRAME_CEILING as u64);
        /// Those of all connections together, in bytes.
        pub in_flight: usize = limits::IN_FLIGHT, bytes(1 << 10..=1 << 40);
        /// Open at one time.
        pub connections: usize = limits::CONNECTIONS, whole(1..=u16::MAX as i64, "connections");
    }
}
