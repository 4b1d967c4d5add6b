//! Locks of sessions, for agents that compress on their own. A lock without a time limit ends with the connection that
//! took it.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::data::error::Outcome;
use crate::owners::archive::ArchiveHandle;

/// The locks of all sessions.
#[derive(Debug)]
pub(crate) struct SessionLocks {
    archive: Arc<ArchiveHandle>,
    bound: Arc<ConnectionLocks>,
}

impl SessionLocks {
    /// Creates the locks that this archive stores.
    pub(crate) fn new(archive: Arc<ArchiveHandle>) -> Self {
        Self { archive, bound: Arc::default() }
    }

    /// Takes the lock of a session for a holder. Returns false if another holder has it. The lock ends after `ttl_s`
    /// seconds or, without that, with the connection.
    pub(crate) async fn lock(
        &self,
        connection: u64,
        session: String,
        holder: String,
        ttl_s: Option<f64>,
    ) -> Outcome<bool> {
        let lock = (session.clone(), holder.clone());
        let is_bound_here = ttl_s.is_none() && self.bound.note(connection, lock.clone());
        let bound = Arc::clone(&self.bound);
        let taken = move |is_taken: bool| {
            if is_bound_here && !is_taken {
                bound.schedule_removal(connection, &lock);
            }
            // The connection may have ended before it got the lock.
            !is_bound_here || !is_taken || bound.is_noted(connection, &lock)
        };
        self.archive.lock_session(session, holder, ttl_s, taken).await
    }

    /// Releases a lock. Returns true if it is free.
    pub(crate) async fn unlock(&self, session: String, holder: String) -> Outcome<bool> {
        let (bound, lock) = (Arc::clone(&self.bound), (session.clone(), holder.clone()));
        self.archive.unlock_session(session, holder, move || bound.forget(&lock)).await
    }

    /// Returns the holder of a session's lock.
    pub(crate) async fn holder(&self, session: String) -> Outcome<Option<String>> {
        self.archive.lock_holder(session).await
    }

    /// Releases the locks of a connection that ended, without waiting for it.
    pub(crate) fn release_all_of(&self, connection: u64) {
        for (session, holder) in self.bound.left_by(connection) {
            let archive = Arc::clone(&self.archive);
            tokio::spawn(async move { archive.release_session(session, holder).await });
        }
    }
}

/// The session and the holder.
type Lock = (String, String);

/// Locks without a time limit, by connection.
#[derive(Debug, Default)]
struct ConnectionLocks {
    taken: Mutex<HashMap<u64, BTreeSet<Lock>>>,
}

impl ConnectionLocks {
    /// Notes that a connection is about to take a lock. Returns false if another connection has it.
    fn note(&self, connection: u64, lock: Lock) -> bool {
        let mut taken = self.taken();
        let is_others = taken.iter().any(|(other, locks)| *other != connection && locks.contains(&lock));
        if !is_others {
            taken.entry(connection).or_default().insert(lock);
        }
        !is_others
    }

    /// Whether the connection exists, and has not released the lock.
    fn is_noted(&self, connection: u64, lock: &Lock) -> bool {
        self.taken().get(&connection).is_some_and(|locks| locks.contains(lock))
    }

    /// Removes the note of a connection that did not get the lock.
    fn schedule_removal(&self, connection: u64, lock: &Lock) {
        if let Some(locks) = self.taken().get_mut(&connection) {
            locks.remove(lock);
        }
    }

    /// Forgets a lock that its holder released.
    fn forget(&self, lock: &Lock) {
        self.taken().retain(|_, locks| {
            locks.remove(lock);
            !locks.is_empty()
        });
    }

    /// Returns the locks of a connection that ended.
    fn left_by(&self, connection: u64) -> BTreeSet<Lock> {
        self.taken().remove(&connection).unwrap_or_default()
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<u64, BTreeSet<Lock>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_leaves_its_own_locks_once() {
        let locks = ConnectionLocks::default();
        let own = |name: &str| (name.to_owned(), "h".to_owned());
        for (connection, session) in [(1, "a"), (1, "a"), (2, "b"), (1, "c"), (1, "d")] {
            locks.note(connection, own(session));
        }
        locks.forget(&own("d"));
        assert!(locks.is_noted(1, &own("a")) && !locks.is_noted(2, &own("a")) && !locks.is_noted(1, &own("d")));
        assert_eq!(locks.left_by(1), BTreeSet::from([own("a"), own("c")]));
        assert!(locks.left_by(1).is_empty() && !locks.is_noted(1, &own("a")));
        assert_eq!(locks.left_by(2), BTreeSet::from([own("b")]));
    }

    #[test]
    fn a_lock_is_left_by_the_first_that_took_it_unless_it_was_given_back() {
        let locks = ConnectionLocks::default();
        let own = |name: &str| (name.to_owned(), "h".to_owned());
        let noted =
            [(1, "a"), (2, "a"), (1, "b"), (1, "a")].map(|(connection, name)| locks.note(connection, own(name)));
        assert_eq!(noted, [true, false, true, true]);
        locks.forget(&own("b"));
        locks.forget(&("a".to_owned(), "other".to_owned()));
        assert!(locks.left_by(2).is_empty());
        assert_eq!(locks.left_by(1), BTreeSet::from([own("a")]));
    }
}
