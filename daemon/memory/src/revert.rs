//! Reverts one change of a store and keeps the changes after it.

use crate::entries::Entry;

/// Returns the current entries without a change, which made `after` of `before`. Entries that the change removed are
/// back in their places; entries that it added are gone. An entry that is back already is not added twice.
///
/// # Errors
/// An entry that the change added and that a later change replaced or removed.
pub(crate) fn reverted(current: &[Entry], before: &[Entry], after: &[Entry]) -> Result<Vec<Entry>, Entry> {
    let is_added = |entry: &Entry| after.contains(entry) && !before.contains(entry);
    let is_back = |entry: &Entry| before.contains(entry) && !after.contains(entry) && !current.contains(entry);
    if let Some(entry) = after.iter().find(|entry| is_added(entry) && !current.contains(entry)) {
        return Err(entry.clone());
    }
    // An entry at the same position of a list of the same length was replaced.
    let replaced_by = |entry: &Entry| {
        let at = after.iter().position(|one| one == entry).filter(|_| before.len() == after.len())?;
        before.get(at).filter(|entry| is_back(entry)).cloned()
    };
    let kept = |entry: &Entry| if is_added(entry) { replaced_by(entry) } else { Some(entry.clone()) };
    let mut entries: Vec<Entry> = current.iter().filter_map(kept).collect();
    for (at, entry) in before.iter().enumerate().filter(|(_, entry)| is_back(entry)) {
        if !entries.contains(entry) {
            entries.insert(place_after(&entries, &before[..at]), entry.clone());
        }
    }
    Ok(entries)
}

/// Returns the place after the nearest of these entries that still exists; the first place if none does.
fn place_after(entries: &[Entry], previous: &[Entry]) -> usize {
    let place = |entry| entries.iter().position(|one| one == entry).map(|at| at + 1);
    previous.iter().rev().find_map(place).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entries(words: &str) -> Vec<Entry> {
        words.split_whitespace().map(Entry::from).collect()
    }

    #[test]
    fn one_change_goes_and_later_ones_stay() {
        for (before, after, current, expect) in [
            // Added.
            ("a", "a b", "a b c", Ok("a c")),
            ("", "a", "a", Ok("")),
            // Removed.
            ("a b c", "a c", "a c d", Ok("a b c d")),
            ("a b c", "c", "c d", Ok("a b c d")),
            ("a b", "b", "d", Ok("a d")),
            ("a b", "a", "d", Ok("b d")),
            // Replaced.
            ("a b c", "a x c", "a x c d", Ok("a b c d")),
            ("a b c", "x y c", "x y", Ok("a b")),
            ("a b c", "x b z", "d x b z", Ok("d a b c")),
            // Of a batch.
            ("a b", "b x", "b x y", Ok("a b y")),
            ("a b c", "b x", "x b d", Ok("a b c d")),
            // Already undone by a later change.
            ("a", "", "a b", Ok("a b")),
            // Changed later.
            ("a", "a b", "a c", Err("b")),
            ("a b", "a x", "a", Err("x")),
        ] {
            let found = reverted(&entries(current), &entries(before), &entries(after));
            let expect = expect.map(entries).map_err(|entry| entries(entry).remove(0));
            assert_eq!(found, expect, "{before:?} -> {after:?}, now {current:?}");
        }
    }

    fn list() -> impl Strategy<Value = Vec<Entry>> {
        proptest::collection::hash_set("[a-h]", 0..6).prop_map(|words| words.into_iter().map(Entry::from).collect())
    }

    proptest! {
        #[test]
        fn entries_that_the_change_did_not_touch_stay_in_their_order(before in list(), after in list(), current in list()) {
            if let Ok(found) = reverted(&current, &before, &after) {
                let is_other = |entry: &&Entry| before.contains(entry) == after.contains(entry);
                let untouched: Vec<&Entry> = current.iter().filter(is_other).collect();
                prop_assert_eq!(found.iter().filter(is_other).collect::<Vec<_>>(), untouched);
                prop_assert!(before.iter().filter(|entry| !after.contains(entry)).all(|entry| found.contains(entry)));
                prop_assert!(after.iter().filter(|entry| !before.contains(entry)).all(|entry| !found.contains(entry)));
            }
        }

        #[test]
        fn the_newest_change_is_undone_but_for_the_order(before in list(), after in list()) {
            let mut found = reverted(&after, &before, &after).unwrap();
            let mut expect = before.clone();
            found.sort();
            expect.sort();
            prop_assert_eq!(found, expect);
        }
    }
}
