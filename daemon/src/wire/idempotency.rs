//! Remembers the results of mutations that carry an idempotency key.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use herma_protocol::limits;
use serde_json::value::RawValue;
use tokio::sync::{Notify, watch};
use tokio::time::sleep;

use crate::sync::{Mutex, MutexGuard};

/// The size of a remembered result in addition to itself and its key, in bytes: two table entries with the hash of the
/// request, and the overhead of the allocator.
const ENTRY: usize = 256;

/// The pause between two checks for expired results, while there are results.
const LOOK: Duration = Duration::from_mins(1);

/// A remembered result.
type Kept = Arc<RawValue>;

/// Identifies a mutation: its key, and the exact request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Mutation {
    /// The caller's key.
    pub key: String,
    /// A hash of profile, method and params.
    pub fingerprint: [u8; 32],
}

/// The next step for a mutation with a key.
#[derive(Debug)]
pub(crate) enum Begin {
    /// Do it, and record the result in the ticket.
    First(Ticket),
    /// It is in progress: wait, then begin again.
    Running(watch::Receiver<()>),
    /// It is done, with this result.
    Done(Kept),
    /// The key was used for another request.
    Reused,
}

/// Remembered results, bounded in time and bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Idempotency {
    inner: Arc<Mutex<Inner>>,
    /// Notifies that a result was added, which will expire.
    kept: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Inner {
    entries: HashMap<String, Entry>,
    finished: VecDeque<(Instant, String)>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    fingerprint: [u8; 32],
    state: State,
}

#[derive(Debug)]
enum State {
    Running(watch::Receiver<()>),
    Done(Kept),
}

/// The right to do a mutation. If it is dropped without a result, the next request with the key does the mutation.
#[derive(Debug)]
pub(crate) struct Ticket {
    all: Idempotency,
    key: String,
    _running: watch::Sender<()>,
}

impl Idempotency {
    /// Returns the next step for a mutation.
    pub(crate) fn begin(&self, mutation: &Mutation, now: Instant) -> Begin {
        let mut inner = self.lock();
        inner.forget_old(now);
        match inner.entries.get(&mutation.key) {
            Some(entry) if entry.fingerprint != mutation.fingerprint => Begin::Reused,
            Some(Entry { state: State::Running(running), .. }) => Begin::Running(running.clone()),
            Some(Entry { state: State::Done(json), .. }) => Begin::Done(Arc::clone(json)),
            None => {
                let (sender, receiver) = watch::channel(());
                let entry = Entry { fingerprint: mutation.fingerprint, state: State::Running(receiver) };
                inner.entries.insert(mutation.key.clone(), entry);
                Begin::First(Ticket { all: self.clone(), key: mutation.key.clone(), _running: sender })
            }
        }
    }

    /// Forgets expired results even without new requests, for as long as it is polled.
    pub(crate) async fn keep_tidy(&self) {
        loop {
            self.kept.notified().await;
            while !self.forget_old(Instant::now()) {
                sleep(LOOK).await;
            }
        }
    }

    /// Forgets expired results. Returns whether none is left.
    fn forget_old(&self, now: Instant) -> bool {
        let mut inner = self.lock();
        inner.forget_old(now);
        let is_empty = inner.finished.is_empty();
        if is_empty {
            inner.entries.shrink_to_fit();
            inner.finished.shrink_to_fit();
        }
        is_empty
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn forget_old(&mut self, now: Instant) {
        let lifetime = Duration::from_secs(limits::IDEMPOTENCY_S);
        while let Some((since, key)) = self.finished.front() {
            if self.bytes <= limits::IDEMPOTENCY_BYTES && now.saturating_duration_since(*since) < lifetime {
                return;
            }
            if let Some(Entry { state: State::Done(json), .. }) = self.entries.remove(key) {
                self.bytes -= cost(key, &json);
            }
            self.finished.pop_front();
        }
    }
}

impl Ticket {
    /// Records the result for later requests with the same key.
    pub(crate) fn done(self, json: Arc<RawValue>, now: Instant) {
        let mut inner = self.all.lock();
        if let Some(entry) = inner.entries.get_mut(&self.key) {
            let bytes = cost(&self.key, &json);
            entry.state = State::Done(json);
            inner.bytes += bytes;
            inner.finished.push_back((now, self.key.clone()));
            self.all.kept.notify_one();
        }
    }
}

/// Returns the memory cost of a remembered result, in bytes.
fn cost(key: &str, json: &RawValue) -> usize {
    json.get().len() + 2 * key.len() + ENTRY
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut inner = self.all.lock();
        if matches!(inner.entries.get(&self.key), Some(Entry { state: State::Running(_), .. })) {
            inner.entries.remove(&self.key);
        }
    }
}

#[cfg(all(test, feature = "shuttle"))]
mod schedules;

#[cfg(test)]
mod tests {
    use super::*;

    fn mutation(key: &str, asked: u8) -> Mutation {
        Mutation { key: key.into(), fingerprint: [asked; 32] }
    }

    fn json(text: &str) -> Arc<RawValue> {
        RawValue::from_string(text.into()).unwrap_or_else(|error| panic!("{error}")).into()
    }

    #[test]
    fn a_result_is_repeated_until_it_is_old() {
        let all = Idempotency::default();
        let start = Instant::now();
        let Begin::First(ticket) = all.begin(&mutation("k", 1), start) else { panic!("first") };
        assert!(matches!(all.begin(&mutation("k", 1), start), Begin::Running(_)));
        ticket.done(json("7"), start);
        assert!(matches!(all.begin(&mutation("k", 1), start), Begin::Done(done) if done.get() == "7"));
        assert!(matches!(all.begin(&mutation("k", 2), start), Begin::Reused));
        assert!(matches!(all.begin(&mutation("other", 2), start), Begin::First(_)));
        let later = start + Duration::from_secs(limits::IDEMPOTENCY_S);
        assert!(matches!(all.begin(&mutation("k", 2), later), Begin::First(_)));
    }

    #[test]
    fn what_is_kept_is_bounded_and_goes_when_it_is_old_though_nobody_comes() {
        let all = Idempotency::default();
        let start = Instant::now();
        // Small results count with the size of their table entries.
        let most = limits::IDEMPOTENCY_BYTES / ENTRY;
        for at in 0..most + 10 {
            let Begin::First(ticket) = all.begin(&mutation(&at.to_string(), 1), start) else { panic!("first") };
            ticket.done(json("7"), start);
        }
        assert!(all.lock().bytes <= limits::IDEMPOTENCY_BYTES + 2 * ENTRY && all.lock().entries.len() < most);
        assert!(!all.forget_old(start));
        let later = start + Duration::from_secs(limits::IDEMPOTENCY_S);
        assert!(all.forget_old(later));
        let inner = all.lock();
        assert_eq!((inner.bytes, inner.entries.capacity(), inner.finished.capacity()), (0, 0, 0));
    }

    #[test]
    fn what_failed_can_be_tried_again() {
        let all = Idempotency::default();
        let start = Instant::now();
        let Begin::First(ticket) = all.begin(&mutation("k", 1), start) else { panic!("first") };
        drop(ticket);
        assert!(matches!(all.begin(&mutation("k", 1), start), Begin::First(_)));
    }
}
