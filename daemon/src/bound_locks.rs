//! Session locks that end with the connection that took them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Locks without a time of their own, by connection.
#[derive(Debug, Default)]
pub(crate) struct BoundLocks {
    taken: Mutex<HashMap<u64, Vec<(String, String)>>>,
}

impl BoundLocks {
    /// A connection took the lock of a session for a holder. Where another one did before,
    /// the lock stays that one's.
    pub(crate) fn note(&self, connection: u64, session: String, holder: String) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let lock = (session, holder);
        if !taken.values().any(|locks| locks.contains(&lock)) {
            taken.entry(connection).or_default().push(lock);
        }
    }

    /// A lock was given back, by whichever connection.
    pub(crate) fn forget(&self, session: &str, holder: &str) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|_, locks| {
            locks.retain(|(of, by)| of != session || by != holder);
            !locks.is_empty()
        });
    }

    /// What a connection that ended leaves: session and holder of each.
    pub(crate) fn left_by(&self, connection: u64) -> Vec<(String, String)> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&connection).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_leaves_its_own_locks_once() {
        let locks = BoundLocks::default();
        for (connection, session) in [(1, "a"), (1, "a"), (2, "b"), (1, "c")] {
            locks.note(connection, session.into(), "h".into());
        }
        let own = |name: &str| (name.to_owned(), "h".to_owned());
        assert_eq!(locks.left_by(1), [own("a"), own("c")]);
        assert!(locks.left_by(1).is_empty());
        assert_eq!(locks.left_by(2), [own("b")]);
    }

    #[test]
    fn a_lock_is_left_by_the_first_that_took_it_unless_it_was_given_back() {
        let locks = BoundLocks::default();
        for (connection, session) in [(1, "a"), (2, "a"), (1, "b")] {
            locks.note(connection, session.into(), "h".into());
        }
        locks.forget("b", "h");
        locks.forget("a", "other");
        assert!(locks.left_by(2).is_empty());
        assert_eq!(locks.left_by(1), [("a".to_owned(), "h".to_owned())]);
    }
}
