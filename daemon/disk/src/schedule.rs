//! Points between two system calls, at which another thread or program may run.

/// Marks one of these points. It only has an effect in builds for the tests `schedules`, in which
/// shuttle decides which thread runs next.
pub(crate) fn step() {
    #[cfg(feature = "shuttle")]
    shuttle::thread::yield_now();
}
