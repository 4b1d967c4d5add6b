//! Session locks that end with the connection that took them.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Session and holder.
pub(crate) type Lock = (String, String);

/// Locks without a time of their own, by connection.
#[derive(Debug, Default)]
pub(crate) struct ConnectionLocks {
    taken: Mutex<HashMap<u64, BTreeSet<Lock>>>,
}

impl ConnectionLocks {
    /// A connection is about to take the lock of a session for a holder. False where
    /// another one has it: it stays that one's.
    pub(crate) fn note(&self, connection: u64, lock: Lock) -> bool {
        let mut taken = self.taken();
        let is_others = taken.iter().any(|(other, locks)| *other != connection && locks.contains(&lock));
        if !is_others {
            taken.entry(connection).or_default().insert(lock);
        }
        !is_others
    }

    /// Whether that connection is there, and has not given the lock back.
    pub(crate) fn is_noted(&self, connection: u64, lock: &Lock) -> bool {
        self.taken().get(&connection).is_some_and(|locks| locks.contains(lock))
    }

    /// A connection did not get the lock, unless it has it from before.
    pub(crate) fn take_back(&self, connection: u64, lock: &Lock) {
        if let Some(locks) = self.taken().get_mut(&connection) {
            locks.remove(lock);
        }
    }

    /// The lock was given back by whoever holds it.
    pub(crate) fn forget(&self, lock: &Lock) {
        self.taken().retain(|_, locks| {
            locks.remove(lock);
            !locks.is_empty()
        });
    }

    /// What a connection that ended leaves.
    pub(crate) fn left_by(&self, connection: u64) -> BTreeSet<Lock> {
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
