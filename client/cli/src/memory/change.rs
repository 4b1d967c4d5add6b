//! Shows a change of a store to people.

use std::collections::HashSet;

use herma_base::out;

use super::steps::{Step, steps};

/// The columns that each entry of a summary line has at least.
const LEAST: usize = 48;

/// The most entries in such a line. The others are only counted.
const SHOWN: usize = 3;

/// A change, entry by entry.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Change<'a> {
    /// The removed or moved entries and the new ones, in their order.
    pub(super) steps: Vec<Step<'a>>,
    /// The number of unchanged entries.
    pub(super) unchanged: usize,
}

impl<'a> Change<'a> {
    pub(super) fn between(before: &'a [String], after: &'a [String]) -> Self {
        let all = steps(before, after);
        let changed: Vec<Step<'a>> = all.iter().copied().filter(|step| !matches!(step, Step::Keep(_))).collect();
        Self { unchanged: all.len() - changed.len(), steps: changed }
    }

    pub(super) fn added(&self) -> Vec<&'a str> {
        self.steps.iter().filter_map(|step| if let Step::Add(entry) = step { Some(*entry) } else { None }).collect()
    }

    pub(super) fn removed(&self) -> Vec<&'a str> {
        self.steps.iter().filter_map(|step| if let Step::Remove(entry) = step { Some(*entry) } else { None }).collect()
    }

    /// Returns one line with the first entries and the number of the others. The entries share the columns.
    pub(super) fn summary(&self, columns: Option<usize>) -> String {
        let (added, removed) = (self.added(), self.removed());
        let before: HashSet<&str> = removed.iter().copied().collect();
        if !added.is_empty() && added.len() == removed.len() && added.iter().all(|entry| before.contains(entry)) {
            return "another order".into();
        }
        let shown = self.steps.iter().take(SHOWN);
        let each = columns.map_or(usize::MAX, |columns| (columns / shown.len().max(1)).saturating_sub(1).max(LEAST));
        let mut parts: Vec<String> = shown.map(|step| part(step, each)).collect();
        match self.steps.len().saturating_sub(SHOWN) {
            0 if parts.is_empty() => return "no entry changed".into(),
            0 => {}
            more => parts.push(format!("and {more} more")),
        }
        parts.join("  ")
    }

    /// Returns a line for each line of a changed entry, and the number of unchanged entries.
    pub(super) fn lines(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            let (sign, entry) = match step {
                Step::Remove(entry) => ('-', entry),
                Step::Add(entry) => ('+', entry),
                Step::Keep(_) => continue,
            };
            for (at, line) in entry.lines().enumerate() {
                let indent = if at == 0 { "" } else { "  " };
                text.push_str(&format!("{sign} {indent}{line}\n"));
            }
        }
        let unchanged = out::count_noun(self.unchanged, "entry", "entries");
        text.push_str(&if self.steps.is_empty() {
            format!("nothing changed ({unchanged})\n")
        } else {
            format!("({unchanged} unchanged)\n")
        });
        text
    }
}

fn part(step: &Step<'_>, columns: usize) -> String {
    let entry = |entry| out::cut(entry, columns);
    match step {
        Step::Keep(kept) => entry(kept),
        Step::Remove(removed) => format!("-{}", entry(removed)),
        Step::Add(added) => format!("+{}", entry(added)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[&str]) -> Vec<String> {
        entries.iter().map(|entry| (*entry).to_owned()).collect()
    }

    #[test]
    fn a_change_is_summed_up_in_a_line() {
        let long = "x".repeat(60);
        let cut = format!("+{}", out::cut(&long, 48));
        for (before, after, expected) in [
            (&[][..], &["one"][..], "+one"),
            (&["one", "two"], &["two"], "-one"),
            (&["one"], &["1\nline"], "-one  +1 line"),
            (&["one"], &["one"], "no entry changed"),
            (&["one", "two"], &["two", "one"], "another order"),
            (&[], &["a", "b", "c", "d", "e"], "+a  +b  +c  and 2 more"),
            (&[], &[long.as_str()], cut.as_str()),
        ] {
            assert_eq!(Change::between(&list(before), &list(after)).summary(Some(0)), expected, "{before:?} {after:?}");
        }
    }

    #[test]
    fn a_change_is_shown_line_by_line() {
        for (before, after, expected) in [
            (&["a", "b", "c"][..], &["a", "x\ny", "c"][..], "- b\n+ x\n+   y\n(2 entries unchanged)\n"),
            (&["a"], &["a"], "nothing changed (1 entry)\n"),
            (&["a"], &[], "- a\n(0 entries unchanged)\n"),
        ] {
            assert_eq!(Change::between(&list(before), &list(after)).lines(), expected, "{before:?} {after:?}");
        }
    }
}
