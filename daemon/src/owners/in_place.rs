//! A single writer waits for no other thread: what it asks of an owner with nothing to do is done where
//! it is asked for. Several at one time are better off together, behind one sync.

use std::time::{Duration, Instant};

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{self, Gate};

/// How long writers do not go ahead alone after several wrote at the same time, in
/// milliseconds.
const CROWD_MS: u64 = 20;

/// A write that takes less is done on the caller's own thread, without handing the connections
/// that its thread serves over to another, which takes longer than it spares them.
const QUICK: Duration = Duration::from_millis(2);

/// Held during such a write: one thread at a time may wait for a disk, so that a
/// disk that suddenly hangs stops none of the others. Nobody waits for it.
static IN_PLACE: Gate = Gate::new(());

/// Does a write on this thread; `took` is how long the last one took, and the next time this one.
pub(super) fn in_place<T>(took: Duration, work: impl FnOnce() -> T) -> (T, Duration) {
    let is_quick = sync::has_others() && took < QUICK;
    let began = sync::now();
    let done = match IN_PLACE.try_lock() {
        Ok(_only) if is_quick => work(),
        _ => sync::may_take_long(work),
    };
    (done, sync::now().duration_since(began))
}

/// Whether several write at the same time; then they are better off together.
#[derive(Debug)]
pub(super) struct Crowd {
    since: Instant,
    /// When it was last seen, in milliseconds of `since`.
    seen_ms: AtomicU64,
}

impl Crowd {
    pub(super) fn new() -> Self {
        Self { since: sync::now(), seen_ms: AtomicU64::new(0) }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(sync::now().duration_since(self.since).as_millis()).unwrap_or(u64::MAX) + CROWD_MS
    }

    /// Several are here now.
    pub(super) fn seen(&self) {
        self.seen_ms.store(self.now_ms(), Ordering::Relaxed);
    }

    pub(super) fn is_here(&self) -> bool {
        self.now_ms().saturating_sub(self.seen_ms.load(Ordering::Relaxed)) < CROWD_MS
    }
}
