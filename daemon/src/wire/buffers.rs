//! A pool of buffers for large frames. Getting new pages from the system costs more than filling them.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// The size of the smallest buffer that is worth keeping, in bytes.
const LEAST: usize = 256 << 10;

/// The size of all buffers that are kept, in bytes. Further buffers go back to the system at once.
const MOST: usize = 32 << 20;

/// How long an unused buffer is kept.
const IDLE: Duration = Duration::from_secs(1);

/// A pool of empty buffers.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    kept: Mutex<Vec<(Vec<u8>, Instant)>>,
    given: Notify,
}

impl Buffers {
    /// Takes the smallest buffer with room for `least` bytes; if there is none, an empty buffer without room.
    pub(crate) fn take(&self, least: usize) -> Vec<u8> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = kept.iter().enumerate().filter(|(_, (buffer, _))| buffer.capacity() >= least);
        let smallest = fits.min_by_key(|(_, (buffer, _))| buffer.capacity()).map(|(at, _)| at);
        smallest.map(|at| kept.swap_remove(at).0).unwrap_or_default()
    }

    /// Returns a buffer that is no longer needed to the pool.
    pub(crate) fn give(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let held: usize = kept.iter().map(|(buffer, _)| buffer.capacity()).sum();
        if buffer.capacity() >= LEAST && held + buffer.capacity() <= MOST {
            kept.push((buffer, Instant::now()));
            self.given.notify_one();
        }
    }

    /// Returns unused buffers to the system, for as long as it is polled.
    pub(crate) async fn keep_tidy(&self) {
        loop {
            self.given.notified().await;
            while !self.drop_idle(Instant::now()) {
                sleep(IDLE).await;
            }
        }
    }

    /// Drops buffers that were not used for a while. Returns whether none is left.
    fn drop_idle(&self, now: Instant) -> bool {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(_, since)| now.saturating_duration_since(*since) < IDLE);
        kept.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back_to_who_needs_its_room_until_it_is_old() {
        let buffers = Buffers::default();
        for bytes in [LEAST - 1, 4 * LEAST, 2 * LEAST, MOST] {
            buffers.give(Vec::with_capacity(bytes));
        }
        assert_eq!(buffers.take(LEAST).capacity(), 2 * LEAST);
        assert_eq!(buffers.take(5 * LEAST).capacity(), 0);
        let now = Instant::now();
        assert!(!buffers.drop_idle(now));
        assert!(buffers.drop_idle(now + IDLE));
        assert_eq!(buffers.take(1).capacity(), 0);
    }

    #[test]
    fn what_was_in_a_buffer_is_gone() {
        let buffers = Buffers::default();
        buffers.give(vec![7; LEAST]);
        assert!(buffers.take(LEAST).is_empty());
    }
}
