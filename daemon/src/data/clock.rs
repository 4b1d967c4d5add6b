//! The current time and date.

use std::time::{SystemTime, UNIX_EPOCH};

use herma_context::engine::Today;

/// Returns the current time, in Unix seconds.
pub(crate) fn unix_now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Returns today's date in the time zone of this machine.
pub(crate) fn today() -> Option<Today> {
    Today::parse(&jiff::Zoned::now().date().to_string()).ok()
}
