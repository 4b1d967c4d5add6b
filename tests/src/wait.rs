//! Waiting for a condition, with a deadline.

use std::time::{Duration, Instant};

/// How long a condition may take before a test fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Pause between two checks.
const PAUSE: Duration = Duration::from_millis(2);

/// Calls `look` until it returns a value.
///
/// # Panics
/// There is no value after [`PATIENCE`].
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "waited {PATIENCE:?} in vain: {what}");
        std::thread::park_timeout(PAUSE);
    }
}
