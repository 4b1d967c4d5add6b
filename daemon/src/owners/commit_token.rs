//! Decides a race between doing a change and giving it up.

use crate::sync::atomic::{AtomicU8, Ordering};
use std::sync::Arc;

/// The change was neither started nor given up.
const OPEN: u8 = 0;

/// The change has started.
const TAKEN: u8 = 1;

/// The change was given up.
const GIVEN_UP: u8 = 2;

/// A change that waits. It is either done or given up, never both, so a caller that gets a timeout error can rely on
/// it.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommitToken(Arc<AtomicU8>);

impl CommitToken {
    /// Claims the change in order to do it. Returns false if it was given up.
    pub(crate) fn take(&self) -> bool {
        self.set(TAKEN)
    }

    /// Gives the change up. Returns false if it has started.
    pub(crate) fn give_up(&self) -> bool {
        self.set(GIVEN_UP)
    }

    /// Whether the change was given up.
    pub(crate) fn is_given_up(&self) -> bool {
        self.0.load(Ordering::Acquire) == GIVEN_UP
    }

    fn set(&self, to: u8) -> bool {
        match self.0.compare_exchange(OPEN, to, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => true,
            Err(already) => already == to,
        }
    }
}

/// Gives a change up when its caller goes away.
#[derive(Debug)]
pub(crate) struct CancelOnDrop(pub(crate) CommitToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_one_decides() {
        let (done, given_up) = (CommitToken::default(), CommitToken::default());
        assert!(done.take() && !done.give_up() && done.take());
        drop(CancelOnDrop(given_up.clone()));
        assert!(!given_up.take() && given_up.give_up());
    }
}

#[cfg(all(test, feature = "shuttle"))]
mod schedules {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use shuttle::thread;

    use super::*;

    #[test]
    fn a_change_is_taken_or_given_up_and_all_agree_which() {
        shuttle::check_random(
            || {
                let token = CommitToken::default();
                let takers = [0, 1].map(|_| {
                    let token = token.clone();
                    thread::spawn(move || token.take())
                });
                let givers = [0, 1].map(|_| {
                    let token = token.clone();
                    thread::spawn(move || token.give_up())
                });
                let taken = takers.map(|thread| thread.join().unwrap());
                let given_up = givers.map(|thread| thread.join().unwrap());
                assert!(taken[0] == taken[1] && given_up[0] == given_up[1] && taken[0] != given_up[0]);
                assert_eq!(token.is_given_up(), given_up[0]);
            },
            10_000,
        );
    }
}
