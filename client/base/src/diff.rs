//! The difference between two lists.

use std::hash::Hash;
use std::time::{Duration, Instant};

use similar::{Algorithm, capture_diff_slices_deadline};
pub use similar::{DiffOp, DiffTag};

/// How long the search for the shortest difference may take. After that the rest of the lists counts as changed.
const TIME: Duration = Duration::from_secs(1);

/// Returns the changes that turn the old list into the new one.
#[must_use]
pub fn changes<T: Eq + Hash + Ord>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    capture_diff_slices_deadline(Algorithm::Myers, old, new, Instant::now().checked_add(TIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_with_nothing_in_common_take_no_long_time() {
        let list = |from: u32| (from..from + 50_000).collect::<Vec<_>>();
        let began = Instant::now();
        let changed = changes(&list(0), &list(50_000));
        assert!(changed.iter().all(|change| change.tag() != DiffTag::Equal));
        assert!(began.elapsed() < 10 * TIME, "{:?}", began.elapsed());
    }
}
