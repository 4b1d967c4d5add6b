//! `[limits]`: limits of the wire.

use herma_protocol::limits;

use super::format::{bytes, whole};
use super::key::section;

section! {
    /// Limits of the wire.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct LimitsConfig {
        /// The largest request or answer.
        pub frame: usize = limits::FRAME, bytes(1 << 10..=limits::FRAME_CEILING as u64);
        /// The largest size of all requests in progress together.
        pub in_flight: usize = limits::IN_FLIGHT, bytes(1 << 10..=1 << 40);
        /// The largest number of open connections.
        pub connections: usize = limits::CONNECTIONS, whole(1..=u16::MAX as i64, "connections");
    }
}
