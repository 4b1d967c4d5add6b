//! The locks, channels, counters and waiting times of the threads.
//!
//! With the feature `shuttle`, they come from the crate of that name. It runs one thread at a time, and decides at each
//! of these operations which thread goes on. So the tests `schedules` try thousands of interleavings of the daemon's
//! own code. A daemon built this way serves no requests.

#[cfg(not(feature = "shuttle"))]
pub(crate) use real::*;
#[cfg(feature = "shuttle")]
pub(crate) use tried::*;

#[cfg(not(feature = "shuttle"))]
mod real {
    use std::io;
    pub(crate) use std::sync::{Mutex, MutexGuard, atomic, mpsc};
    use std::time::{Duration, Instant};

    use tokio::runtime::Handle;

    /// A lock that is only tried, never waited for. It lives as long as the process.
    pub(crate) type Gate = Mutex<()>;

    /// Returns the current time.
    pub(crate) fn now() -> Instant {
        Instant::now()
    }

    /// Receives a message within this time.
    pub(crate) fn receive<T>(from: &mpsc::Receiver<T>, patience: Duration) -> Result<T, mpsc::RecvTimeoutError> {
        from.recv_timeout(patience)
    }

    /// Starts a thread with this name.
    pub(crate) fn spawn(name: String, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
        std::thread::Builder::new().name(name).spawn(run).map(drop)
    }

    /// Sleeps for this time.
    pub(crate) fn sleep(time: Duration) {
        std::thread::sleep(time);
    }

    /// Whether this thread may wait for a disk for a moment, because other threads serve connections too.
    pub(crate) fn has_others() -> bool {
        Handle::current().metrics().num_workers() > 1
    }

    /// Runs work that may take long. Meanwhile another thread serves this one's connections.
    pub(crate) fn may_take_long<T>(work: impl FnOnce() -> T) -> T {
        tokio::task::block_in_place(work)
    }
}

#[cfg(feature = "shuttle")]
mod tried {
    use std::io;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use shuttle::rand::Rng;
    pub(crate) use shuttle::sync::{Mutex, MutexGuard, atomic, mpsc};

    pub(crate) type Gate = std::sync::Mutex<()>;

    /// How far each reading advances the clock, in milliseconds.
    const TICK: u64 = 7;

    /// A clock that each reading advances, so that a wait for a point in time ends soon.
    pub(crate) fn now() -> Instant {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        static TICKS: AtomicU64 = AtomicU64::new(0);
        *START + Duration::from_millis(TICK * TICKS.fetch_add(1, Ordering::Relaxed))
    }

    /// Receives a message before the time is over, which ends after a few tries at random.
    pub(crate) fn receive<T>(from: &mpsc::Receiver<T>, _patience: Duration) -> Result<T, mpsc::RecvTimeoutError> {
        loop {
            match from.try_recv() {
                Ok(one) => return Ok(one),
                Err(mpsc::TryRecvError::Disconnected) => return Err(mpsc::RecvTimeoutError::Disconnected),
                Err(mpsc::TryRecvError::Empty) => shuttle::thread::yield_now(),
            }
            if shuttle::rand::thread_rng().gen_bool(0.5) {
                return Err(mpsc::RecvTimeoutError::Timeout);
            }
        }
    }

    pub(crate) fn spawn(_name: String, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
        drop(shuttle::thread::spawn(run));
        Ok(())
    }

    pub(crate) fn sleep(_time: Duration) {
        shuttle::thread::yield_now();
    }

    pub(crate) fn has_others() -> bool {
        true
    }

    pub(crate) fn may_take_long<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
}
