//! Writes on the caller's own thread. If the owner of a resource is idle, a single writer need not wait for another
//! thread. Several writers at the same time are faster together, with one sync.

use std::time::{Duration, Instant};

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{self, Gate};

/// How long writers do not write directly after several wrote at the same time, in milliseconds.
const CROWD_MS: u64 = 20;

/// A faster write is done on the caller's thread directly. Otherwise that thread first hands its connections over to
/// another one, which would take longer than such a write.
const QUICK: Duration = Duration::from_millis(2);

/// Held during a direct write. Only one thread at a time may wait for a disk, so a disk that suddenly hangs stops no
/// other thread. It is never waited for.
static IN_PLACE: Gate = Gate::new(());

/// Runs a write on this thread. `took` is the duration of the last write; returns the duration of this one.
pub(super) fn in_place<T>(took: Duration, work: impl FnOnce() -> T) -> (T, Duration) {
    let is_quick = sync::has_others() && took < QUICK;
    let began = sync::now();
    let done = match IN_PLACE.try_lock() {
        Ok(_only) if is_quick => work(),
        _ => sync::may_take_long(work),
    };
    (done, sync::now().duration_since(began))
}

/// Detects whether several clients write at the same time, in which case writing together is faster.
#[derive(Debug)]
pub(super) struct Contention {
    since: Instant,
    /// The time of the last detection, in milliseconds since `since`.
    seen_ms: AtomicU64,
}

impl Contention {
    pub(super) fn new() -> Self {
        Self { since: sync::now(), seen_ms: AtomicU64::new(0) }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(sync::now().duration_since(self.since).as_millis()).unwrap_or(u64::MAX) + CROWD_MS
    }

    /// Notes that several writers are here now.
    pub(super) fn seen(&self) {
        self.seen_ms.store(self.now_ms(), Ordering::Relaxed);
    }

    pub(super) fn is_here(&self) -> bool {
        self.now_ms().saturating_sub(self.seen_ms.load(Ordering::Relaxed)) < CROWD_MS
    }
}
