//! Where another thread or program may go on: between two calls of the system.

/// One of these places. It does nothing but in builds for the tests `schedules`, where shuttle
/// decides who goes on.
pub(crate) fn step() {
    #[cfg(feature = "shuttle")]
    shuttle::thread::yield_now();
}
