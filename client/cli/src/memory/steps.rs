//! The way from one list of entries to another, entry by entry.

/// Cells of the table that finds the longest common subsequence. Lists that need
/// more are taken as changed in all but their equal ends.
const CELLS: usize = 4_000_000;

/// What happens to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// It is in both lists.
    Keep(&'a str),
    /// It is only in the old one, or stood elsewhere there.
    Remove(&'a str),
    /// It is only in the new one, or stands elsewhere now.
    Add(&'a str),
}

/// The shortest way from the old list to the new one: what both have in the same
/// order is kept. Where a run of entries changed, removals come before additions.
pub(crate) fn steps<'a>(old: &'a [String], new: &'a [String]) -> Vec<Step<'a>> {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (kept, old_rest) = old.split_at(head);
    let new_rest = &new[head..];
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old_middle, kept_last) = old_rest.split_at(old_rest.len() - tail);
    let new_middle = &new_rest[..new_rest.len() - tail];
    let mut steps: Vec<Step<'a>> = kept.iter().map(|entry| Step::Keep(entry)).collect();
    steps.extend(middle(old_middle, new_middle));
    steps.extend(kept_last.iter().map(|entry| Step::Keep(entry)));
    steps
}

fn middle<'a>(old: &'a [String], new: &'a [String]) -> Vec<Step<'a>> {
    let width = new.len() + 1;
    let mut steps = Vec::new();
    if (old.len() + 1).saturating_mul(width) > CELLS {
        steps.extend(old.iter().map(|entry| Step::Remove(entry)));
        steps.extend(new.iter().map(|entry| Step::Add(entry)));
        return steps;
    }
    // Cell (i, j): how much old[i..] and new[j..] have in common.
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    // An entry is removed as soon as nothing is lost by it; so one that stays
    // while others are added is kept in the end.
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            steps.push(Step::Keep(&old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1]) {
            steps.push(Step::Remove(&old[i]));
            i += 1;
        } else {
            steps.push(Step::Add(&new[j]));
            j += 1;
        }
    }
    steps
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

    #[test]
    fn lists_that_are_too_long_change_as_a_whole() {
        let old: Vec<String> = (0..2001).map(|number| format!("old {number}")).chain(["same".into()]).collect();
        let new: Vec<String> = ["same".into()].into_iter().chain((0..2001).map(|n| format!("new {n}"))).collect();
        let steps = steps(&old, &new);
        assert_eq!(steps.len(), old.len() + new.len());
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
