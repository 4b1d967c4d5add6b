//! The operations of a batch that change one list of entries into another.

use std::collections::HashSet;

use herma_client::protocol::memory::{Action, HOST_BOUND, Operation, WriteResult};

use super::steps::{Step, steps};

/// Returns the operations that change the old list into one with the entries of the new one. Neither list has an entry
/// twice.
///
/// In a changed run, new entries replace old ones in place, as far as there are old ones. The other new entries are
/// added, and an addition goes to the end of the store. Removals come first and additions last, so that no text is in
/// the store twice in between. A store would drop the second one.
pub(super) fn operations(old: &[String], new: &[String]) -> Vec<Operation> {
    let mut found = OperationPlan { known: old.iter().map(String::as_str).collect(), ..OperationPlan::default() };
    for step in steps(old, new) {
        match step {
            Step::Keep(_) => found.end_of_run(),
            Step::Remove(entry) => found.removed.push(entry),
            Step::Add(entry) => found.added.push(entry),
        }
    }
    found.end_of_run();
    [found.removals, found.replacements, found.additions].concat()
}

/// Runs operations in one batch, or in two if several hosts share the store and some entries are bound to this host.
/// Those come first, because one batch can't contain both kinds: they have no revision that the others could conflict
/// with. Returns the last result, or the first that is not a success.
pub(super) fn run_batches<E>(
    operations: Vec<Operation>,
    is_shared: bool,
    mut batch: impl FnMut(Vec<Operation>) -> Result<WriteResult, E>,
) -> Result<WriteResult, E> {
    match split_host_bound(operations, is_shared) {
        (of_host, rest) if of_host.is_empty() => batch(rest),
        (of_host, rest) => match batch(of_host)? {
            done if done.success && !rest.is_empty() => batch(rest),
            result => Ok(result),
        },
    }
}

fn split_host_bound(operations: Vec<Operation>, is_shared: bool) -> (Vec<Operation>, Vec<Operation>) {
    let is_bound = |text: &Option<String>| text.as_ref().is_some_and(|text| text.starts_with(HOST_BOUND));
    operations.into_iter().partition(|one| is_shared && (is_bound(&one.content) || is_bound(&one.old_text)))
}

/// The operations found so far, and the current run of changed entries.
#[derive(Debug, Default)]
struct OperationPlan<'a> {
    known: HashSet<&'a str>,
    removals: Vec<Operation>,
    replacements: Vec<Operation>,
    additions: Vec<Operation>,
    removed: Vec<&'a str>,
    added: Vec<&'a str>,
}

impl OperationPlan<'_> {
    fn end_of_run(&mut self) {
        let mut removed = std::mem::take(&mut self.removed);
        for content in self.added.drain(..) {
            // A moved entry never replaces another one, because it would be in the store twice for a moment. A
            // host-bound entry and a shared entry never replace each other.
            let is_alike = |removed: &&str| removed.starts_with(HOST_BOUND) == content.starts_with(HOST_BOUND);
            let place = if self.known.contains(content) {
                None
            } else {
                removed.iter().position(is_alike).map(|at| removed.remove(at))
            };
            match place {
                Some(old_text) => {
                    self.replacements.push(operation(Action::Replace, Some(content), Some(old_text)));
                }
                None => self.additions.push(operation(Action::Add, Some(content), None)),
            }
        }
        self.removals.extend(removed.into_iter().map(|old_text| operation(Action::Remove, None, Some(old_text))));
    }
}

/// Returns the operations that remove and append entries.
pub(super) fn removals_and_additions(removed: &[String], added: &[String]) -> Vec<Operation> {
    let removals = removed.iter().map(|entry| operation(Action::Remove, None, Some(entry)));
    removals.chain(added.iter().map(|entry| operation(Action::Add, Some(entry), None))).collect()
}

fn operation(action: Action, content: Option<&str>, old_text: Option<&str>) -> Operation {
    Operation { action, content: content.map(str::to_owned), old_text: old_text.map(str::to_owned) }
}

/// Returns the list of a store after these operations, if each `old_text` is a whole entry.
pub(super) fn applied(old: &[String], operations: &[Operation]) -> Vec<String> {
    let mut entries = old.to_vec();
    for operation in operations {
        let at = operation.old_text.as_ref().and_then(|text| entries.iter().position(|entry| entry == text));
        let content = operation.content.clone();
        match (operation.action, at, content) {
            (Action::Add, _, Some(content)) => entries.push(content),
            (Action::Replace, Some(at), Some(content)) => entries[at] = content,
            (Action::Remove, Some(at), _) => drop(entries.remove(at)),
            _ => {}
        }
        let mut seen = HashSet::new();
        entries.retain(|entry| seen.insert(entry.clone()));
    }
    entries
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(entries: &str) -> Vec<String> {
        entries.split_whitespace().map(str::to_owned).collect()
    }

    fn short(operations: &[Operation]) -> String {
        let words = operations.iter().map(|operation| {
            let old_text = operation.old_text.clone().unwrap_or_default();
            let content = operation.content.clone().unwrap_or_default();
            match operation.action {
                Action::Add => format!("+{content}"),
                Action::Replace => format!("{old_text}>{content}"),
                Action::Remove => format!("-{old_text}"),
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_change_becomes_operations() {
        for (old, new, expected, after) in [
            ("a b c", "a b c", "", "a b c"),
            ("a b c", "a c", "-b", "a c"),
            ("a b", "a b c", "+c", "a b c"),
            ("a b c", "a x c", "b>x", "a x c"),
            ("a b c d", "a x d", "-c b>x", "a x d"),
            ("a b d", "a x y d", "b>x +y", "a x d y"),
            ("a c", "a b c", "+b", "a c b"),
            ("a b", "b a", "-a +a", "b a"),
            ("a b", "", "-a -b", ""),
            ("", "a b", "+a +b", "a b"),
            // Two entries are swapped around one that stays. Both texts are known, so neither replaces the other.
            ("x m y", "y m x", "-x -m +m +x", "y m x"),
            ("x m n y", "y m n x", "-x -y +y +x", "m n y x"),
            ("x m n z", "w m n x", "-z x>w +x", "w m n x"),
        ] {
            let operations = operations(&list(old), &list(new));
            assert_eq!(short(&operations), expected, "{old} -> {new}");
            assert_eq!(applied(&list(old), &operations).join(" "), after, "{old} -> {new}");
        }
    }

    #[test]
    fn what_is_for_one_host_is_changed_by_itself() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let (old, new) = (texts(&["a", "[host-bound] x", "b"]), texts(&["a", "c", "[host-bound] y"]));
        let operations = operations(&old, &new);
        assert_eq!(short(&operations), "b>c [host-bound] x>[host-bound] y");
        let (of_host, rest) = split_host_bound(operations.clone(), true);
        assert_eq!((short(&of_host).as_str(), short(&rest).as_str()), ("[host-bound] x>[host-bound] y", "b>c"));
        assert_eq!(split_host_bound(operations.clone(), false), (Vec::new(), operations));
    }

    #[test]
    fn a_part_of_an_entry_is_not_that_entry() {
        let old = ["one and two".to_owned(), "one".into()];
        let operations = operations(&old, &old[..1]);
        assert_eq!(applied(&old, &operations), &old[..1]);
    }

    #[test]
    fn removals_come_before_additions() {
        assert_eq!(short(&removals_and_additions(&list("a b"), &list("c"))), "-a -b +c");
    }

    fn unique() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec("[a-f]", 0..7).prop_map(|entries| {
            let mut seen = HashSet::new();
            entries.into_iter().filter(|entry| seen.insert(entry.clone())).collect()
        })
    }

    proptest! {
        #[test]
        fn the_edited_entries_come_out(old in unique(), new in unique()) {
            let operations = operations(&old, &new);
            let mut after = applied(&old, &operations);
            let mut expected = new.clone();
            after.sort();
            expected.sort();
            prop_assert_eq!(after, expected);
            // Every removal and replacement names an entry that exists at that point.
            for count in 0..operations.len() {
                let meanwhile = applied(&old, &operations[..count]);
                let named = operations[count].old_text.clone();
                prop_assert!(named.is_none_or(|text| meanwhile.contains(&text)));
            }
        }
    }
}
