//! What time it is.

use std::time::{SystemTime, UNIX_EPOCH};

use herma_context::engine::Today;

/// Now, in Unix seconds.
pub(crate) fn unix_now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// The date of this machine in its own time zone.
pub(crate) fn today() -> Option<Today> {
    Today::parse(&jiff::Zoned::now().date().to_string()).ok()
}
