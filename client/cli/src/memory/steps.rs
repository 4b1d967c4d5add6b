//! The difference between two lists of entries, entry by entry.

use herma_base::diff::{DiffOp, DiffTag, changes};

/// A step from the old list to the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// The entry is in both lists.
    Keep(&'a str),
    /// The entry is only in the old list, or was at another position there.
    Remove(&'a str),
    /// The entry is only in the new list, or is at another position now.
    Add(&'a str),
}

/// Returns the shortest way from the old list to the new one. Entries that both have in the same order are kept. In a
/// changed run, removals come before additions.
pub(crate) fn steps<'a>(old: &'a [String], new: &'a [String]) -> Vec<Step<'a>> {
    // Starts at the end: of two entries that change places the later one is kept, because a store adds at its end.
    let reversed = |list: &'a [String]| list.iter().rev().map(String::as_str).collect::<Vec<_>>();
    let (old, new) = (reversed(old), reversed(new));
    let steps = |change: DiffOp| {
        let (before, after) = (old[change.old_range()].iter().rev(), new[change.new_range()].iter().rev());
        match change.tag() {
            DiffTag::Equal => before.map(|entry| Step::Keep(entry)).collect::<Vec<_>>(),
            _ => before.map(|entry| Step::Remove(entry)).chain(after.map(|entry| Step::Add(entry))).collect(),
        }
    };
    changes(&old, &new).into_iter().rev().flat_map(steps).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(entries: &str) -> Vec<String> {
        entries.split_whitespace().map(str::to_owned).collect()
    }

    fn written(old: &str, new: &str) -> String {
        let (old, new) = (list(old), list(new));
        let words = steps(&old, &new).into_iter().map(|step| match step {
            Step::Keep(entry) => entry.to_owned(),
            Step::Remove(entry) => format!("-{entry}"),
            Step::Add(entry) => format!("+{entry}"),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_way_is_short_and_removes_first() {
        for (old, new, expected) in [
            ("", "", ""),
            ("", "a", "+a"),
            ("a", "", "-a"),
            ("a b c", "a b c", "a b c"),
            ("a b c", "a c", "a -b c"),
            ("a c", "a b c", "a +b c"),
            ("a b c", "a x c", "a -b +x c"),
            ("a b c d", "x y d", "-a -b -c +x +y d"),
            ("a b", "b a", "-a b +a"),
            ("a b c d e", "x b y d z", "-a +x b -c +y d -e +z"),
        ] {
            assert_eq!(written(old, new), expected, "{old} -> {new}");
        }
    }

    proptest! {
        #[test]
        fn the_way_leads_from_old_to_new(old in prop::collection::vec("[a-e]", 0..8), new in prop::collection::vec("[a-e]", 0..8)) {
            let way = steps(&old, &new);
            let side = |left: bool| way.iter().filter_map(|step| match step {
                Step::Keep(entry) => Some((*entry).to_owned()),
                Step::Remove(entry) => left.then(|| (*entry).to_owned()),
                Step::Add(entry) => (!left).then(|| (*entry).to_owned()),
            }).collect::<Vec<_>>();
            prop_assert!(!way.windows(2).any(|pair| matches!(pair, [Step::Add(_), Step::Remove(_)])));
            prop_assert_eq!(&side(true), &old);
            prop_assert_eq!(&side(false), &new);
        }
    }
}
