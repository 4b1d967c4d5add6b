//! Writes that wait for a person's approval, by profile, and the connections that staged them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use herma_memory::pending::Pending;

/// The number of staged writes whose connection is remembered. Above it, any connection may decide about all of them,
/// as after a restart.
const REMEMBERED: usize = 10_000;

/// The waiting writes of all profiles.
#[derive(Debug, Default)]
pub(super) struct Staged {
    profiles: Mutex<HashMap<String, Arc<Mutex<Pending>>>>,
    staged: Mutex<HashMap<(String, String), u64>>,
    counts: Mutex<HashMap<String, usize>>,
    deciding: tokio::sync::Mutex<()>,
}

impl Staged {
    /// Returns the waiting writes of a profile with this folder.
    pub(super) fn of(&self, profile: &str, folder: &Path) -> Arc<Mutex<Pending>> {
        let mut profiles = lock(&self.profiles);
        if let Some(known) = profiles.get(profile) {
            return Arc::clone(known);
        }
        let pending = Arc::new(Mutex::new(Pending::new(folder.join("pending/memory"))));
        profiles.insert(profile.to_owned(), Arc::clone(&pending));
        pending
    }

    /// Waits until no other client decides, so that a write approved twice at the same time is done once.
    pub(super) async fn deciding(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.deciding.lock().await
    }

    /// Remembers the number of a profile's waiting writes.
    pub(super) fn counted(&self, profile: &str, count: usize) {
        let mut counts = lock(&self.counts);
        match counts.get_mut(profile) {
            Some(known) => *known = count,
            None => drop(counts.insert(profile.to_owned(), count)),
        }
    }

    /// Returns the last known number of a profile's waiting writes.
    pub(super) fn last_count(&self, profile: &str) -> usize {
        lock(&self.counts).get(profile).copied().unwrap_or(0)
    }

    /// Remembers the connection on which a write was staged.
    pub(super) fn note_staged(&self, profile: &str, id: &str, connection: u64) {
        let mut staged = lock(&self.staged);
        if staged.len() >= REMEMBERED {
            staged.clear();
        }
        staged.insert((profile.to_owned(), id.to_owned()), connection);
    }

    /// Whether a write was staged on this connection, which then may not approve it.
    pub(super) fn is_own(&self, profile: &str, id: &str, connection: u64) -> bool {
        lock(&self.staged).get(&(profile.to_owned(), id.to_owned())) == Some(&connection)
    }

    /// Forgets a write that no longer waits.
    pub(super) fn forget(&self, profile: &str, id: &str) {
        lock(&self.staged).remove(&(profile.to_owned(), id.to_owned()));
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_its_own_connection_s_until_it_is_forgotten() {
        let staged = Staged::default();
        staged.note_staged("work", "0a", 7);
        assert!(staged.is_own("work", "0a", 7));
        assert!(!staged.is_own("work", "0a", 8) && !staged.is_own("home", "0a", 7));
        staged.forget("work", "0a");
        assert!(!staged.is_own("work", "0a", 7));
    }
}
