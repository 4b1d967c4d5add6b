//! Sessions that belong together: those that go on with another one, also in another agent, stand below it. No I/O.

use std::collections::{HashMap, HashSet};

use herma_client::protocol::session::chain::Row;

/// The place of a row in the list of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The position of the row in the list that the daemon gave.
    pub(super) at: usize,
    /// How many sessions of its thread are above it in the tree.
    pub(super) depth: usize,
}

/// Returns the rows by thread. A thread stands where its newest session stood, and begins with its first session.
pub(super) fn threads(rows: &[Row]) -> Vec<Place> {
    let by_name: HashMap<&str, usize> = rows.iter().enumerate().map(|(at, row)| (row.session.as_str(), at)).collect();
    let parent = |at: usize| by_name.get(rows[at].parent.as_deref()?).copied().filter(|parent| *parent != at);
    let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
    (0..rows.len()).for_each(|at| children.entry(parent(at).unwrap_or(at)).or_default().push(at));
    let (mut places, mut done) = (Vec::new(), HashSet::new());
    for at in 0..rows.len() {
        // A damaged list could go in a circle.
        let mut way = HashSet::from([at]);
        let mut first = at;
        while let Some(parent) = parent(first).filter(|parent| way.insert(*parent)) {
            first = parent;
        }
        // The row itself comes last, in case that it hangs from a circle.
        let mut open = vec![Place { at, depth: 0 }, Place { at: first, depth: 0 }];
        while let Some(place) = open.pop() {
            if !done.insert(place.at) {
                continue;
            }
            places.push(place);
            let below = children.get(&place.at).into_iter().flatten().rev().filter(|child| **child != place.at);
            open.extend(below.map(|child| Place { at: *child, depth: place.depth + 1 }));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(session: &str, parent: Option<&str>) -> Row {
        Row { session: session.into(), parent: parent.map(str::to_owned), ..Row::default() }
    }

    fn shown(rows: &[Row]) -> Vec<(String, usize)> {
        threads(rows).into_iter().map(|place| (rows[place.at].session.clone(), place.depth)).collect()
    }

    #[test]
    fn a_thread_stands_where_its_newest_session_is() {
        let rows = [
            row("codex:b", Some("claude-code:a")),
            row("other", None),
            row("claude-code:a/agent", Some("claude-code:a")),
            row("claude-code:a", None),
            row("pi:c", Some("codex:b")),
            row("orphan", Some("gone")),
        ];
        let expected = [
            ("claude-code:a", 0),
            ("codex:b", 1),
            ("pi:c", 2),
            ("claude-code:a/agent", 1),
            ("other", 0),
            ("orphan", 0),
        ];
        assert_eq!(shown(&rows), expected.map(|(name, depth)| (name.to_owned(), depth)));
        let circle = [row("a", Some("b")), row("b", Some("a")), row("c", Some("c"))];
        assert_eq!(shown(&circle).len(), 3, "{:?}", shown(&circle));
    }

    proptest! {
        #[test]
        fn each_row_is_there_once(parents in prop::collection::vec(prop::option::of(0..8_usize), 0..8)) {
            let name = |at: usize| format!("s{at}");
            let rows: Vec<Row> =
                parents.iter().enumerate().map(|(at, of)| row(&name(at), of.map(name).as_deref())).collect();
            let mut at: Vec<usize> = threads(&rows).iter().map(|place| place.at).collect();
            at.sort_unstable();
            prop_assert_eq!(at, (0..rows.len()).collect::<Vec<_>>());
        }
    }
}
