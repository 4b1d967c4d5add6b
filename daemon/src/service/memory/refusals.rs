//! Counts refused writes in a row, so that a model stops trying.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The number of refusals in a row after which the next one is final.
const PATIENCE: u32 = 3;

/// The largest number of writers that are remembered. Above it, all counts start again.
const WRITERS: usize = 10_000;

/// A writer whose refusals are counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Writer {
    /// A session.
    Session(String),
    /// A connection that names no session.
    Connection(u64),
}

/// Refusals in a row, by writer.
#[derive(Debug, Default)]
pub(super) struct RefusalCounter {
    refused: Mutex<HashMap<Writer, u32>>,
}

impl RefusalCounter {
    /// Counts a refusal. Returns true if there are too many.
    pub(super) fn refused(&self, writer: Writer) -> bool {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() >= WRITERS {
            refused.clear();
        }
        let count = refused.entry(writer).or_default();
        *count = count.saturating_add(1);
        *count > PATIENCE
    }

    /// Resets the count of a writer, after a successful write or when the writer is gone.
    pub(super) fn forget(&self, writer: &Writer) {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).remove(writer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fourth_refusal_in_a_row_is_final_for_its_writer_only() {
        let refusals = RefusalCounter::default();
        let (one, other) = (Writer::Session("s".into()), Writer::Connection(1));
        assert_eq!([(); 4].map(|()| refusals.refused(one.clone())), [false, false, false, true]);
        assert!(!refusals.refused(other));
        refusals.forget(&one);
        assert!(!refusals.refused(one));
    }
}
