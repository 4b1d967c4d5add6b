//! Runs that wait for a summary written by the agent.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::list::size;
use super::run::Run;
use crate::service::session::Session;

/// How long a run waits.
const LIFE: Duration = Duration::from_secs(30 * 60);

/// The largest number of waiting runs. The oldest makes room.
const MOST: usize = 64;

/// The largest size of the waiting lists, in bytes. The oldest make room.
const MOST_BYTES: usize = 256 << 20;

/// The number of hex digits in a ticket's name.
const DIGITS: usize = 24;

/// The waiting runs.
#[derive(Debug, Default)]
pub(super) struct Tickets(Mutex<WaitingRuns>);

#[derive(Debug, Default)]
struct WaitingRuns {
    /// The waiting runs, oldest first.
    waiting: VecDeque<Waiting>,
    /// The number of runs so far.
    count: u64,
}

#[derive(Debug)]
struct Waiting {
    name: String,
    run: Box<Run>,
    bytes: usize,
    until: Instant,
}

impl Tickets {
    /// Adds a waiting run, and returns its name. It replaces an earlier run of its session.
    pub(super) fn put(self: &Arc<Self>, run: Box<Run>) -> String {
        let bytes = size(run.prepared.input());
        let until = Instant::now() + LIFE;
        let mut shelf = self.shelf();
        shelf.waiting.retain(|other| other.run.session.id != run.session.id);
        shelf.make_room(bytes);
        shelf.count += 1;
        let name = name(&run, shelf.count);
        shelf.waiting.push_back(Waiting { name: name.clone(), run, bytes, until });
        drop(shelf);
        let weak = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep_until(until).await;
            if let Some(tickets) = weak.upgrade() {
                tickets.shelf().sweep(Instant::now());
            }
        });
        name
    }

    /// Returns the session of a valid ticket.
    pub(super) fn session(&self, name: &str) -> Option<Arc<Session>> {
        let shelf = self.shelf();
        let waiting = shelf.waiting.iter().find(|waiting| waiting.name == name && waiting.until > Instant::now());
        waiting.map(|waiting| Arc::clone(&waiting.run.session))
    }

    /// Takes a run, which removes it.
    pub(super) fn take(&self, name: &str) -> Option<Box<Run>> {
        let mut shelf = self.shelf();
        shelf.sweep(Instant::now());
        let at = shelf.waiting.iter().position(|waiting| waiting.name == name)?;
        shelf.waiting.remove(at).map(|waiting| waiting.run)
    }

    /// Drops the waiting run of a session.
    pub(super) fn cancel(&self, session: &str) {
        self.shelf().waiting.retain(|waiting| waiting.run.session.id != session);
    }

    fn shelf(&self) -> MutexGuard<'_, WaitingRuns> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingRuns {
    fn sweep(&mut self, now: Instant) {
        self.waiting.retain(|waiting| waiting.until > now);
    }

    fn make_room(&mut self, bytes: usize) {
        self.sweep(Instant::now());
        let mut held: usize = self.waiting.iter().map(|waiting| waiting.bytes).sum();
        while self.waiting.len() >= MOST || held.saturating_add(bytes) > MOST_BYTES {
            let Some(oldest) = self.waiting.pop_front() else { break };
            held -= oldest.bytes;
        }
    }
}

/// Returns a name that no other run has, of this daemon or any other.
fn name(run: &Run, count: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let text = format!("{}\n{}\n{count}\n{now}\n{}", run.session.id, run.generation, std::process::id());
    let hex = base16ct::lower::encode_string(&Sha256::digest(text.as_bytes()));
    format!("tick_{}", hex.get(..DIGITS).unwrap_or(&hex))
}
