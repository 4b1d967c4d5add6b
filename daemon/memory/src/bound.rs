//! Entries that are for one host only, of stores that several hosts share: paths, devices, what is installed there.
//!
//! Such an entry says so itself: it begins with [`MARK`]. So whoever writes the file can make one, by hand too, and
//! the model that reads it knows what it is.

use crate::entries::{DELIMITER, Entry, join};

/// What an entry begins with that never leaves its host.
pub const MARK: &str = "[host-bound]";

/// Whether an entry never leaves its host.
#[must_use]
pub fn is_bound(entry: &str) -> bool {
    entry.starts_with(MARK)
}

/// A text as an entry that never leaves its host.
#[must_use]
pub fn bound(text: &str) -> String {
    if is_bound(text.trim_start()) { text.to_owned() } else { format!("{MARK} {}", text.trim_start()) }
}

/// The entries that all hosts share, and those of this one, each in their order.
#[must_use]
pub fn part(entries: Vec<Entry>) -> (Vec<Entry>, Vec<Entry>) {
    entries.into_iter().partition(|entry| !is_bound(entry))
}

/// Whether a change is of both kinds of entries.
#[must_use]
pub fn mixes(before: &[Entry], after: &[Entry]) -> bool {
    let ((shared, bound), (shared_after, bound_after)) = (part(before.to_vec()), part(after.to_vec()));
    shared != shared_after && bound != bound_after
}

/// A block for the system prompt without the entries of its host; `None` when nothing else is in it. The numbers
/// in its heading stay those of the whole.
#[must_use]
pub fn block_for_others(block: &str) -> Option<String> {
    if !block.contains(MARK) {
        return Some(block.to_owned());
    }
    // Its heading stands on three lines.
    let body = block.match_indices('\n').nth(2).map_or(0, |(at, _)| at + 1);
    let (heading, body) = block.split_at(body);
    let entries: Vec<&str> = body.split(DELIMITER).filter(|entry| !is_bound(entry)).collect();
    (!entries.is_empty()).then(|| format!("{heading}{}", join(&entries)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render;
    use crate::target::Target;

    #[test]
    fn an_entry_says_itself_that_it_is_bound() {
        for (text, marked) in [
            ("gcc is in /opt", "[host-bound] gcc is in /opt"),
            ("  x", "[host-bound] x"),
            ("[host-bound] x", "[host-bound] x"),
            ("[host-bound]\nx", "[host-bound]\nx"),
            ("see [host-bound]", "[host-bound] see [host-bound]"),
            ("", "[host-bound] "),
        ] {
            assert_eq!(bound(text), marked, "{text:?}");
            assert!(is_bound(marked));
            assert_eq!(is_bound(text), text == marked, "{text:?}");
        }
    }

    #[test]
    fn a_block_for_others_is_that_of_the_shared_entries_but_for_its_numbers() {
        let lines = |block: Option<String>| -> Option<Vec<String>> {
            block.map(|block| block.lines().skip(2).map(str::to_owned).collect())
        };
        let of = |entries: &[&str]| render::block(Target::Memory, entries, 2_200);
        for (entries, shared) in [
            (&["a", "b"][..], &["a", "b"][..]),
            (&["a", "[host-bound] x\ny", "b"], &["a", "b"]),
            (&["[host-bound] x", "b [host-bound]"], &["b [host-bound]"]),
            (&["a", "[host-bound] x"], &["a"]),
            (&["[host-bound] x"], &[]),
        ] {
            let block = of(entries).unwrap_or_default();
            assert_eq!(lines(block_for_others(&block)), lines(of(shared)), "{entries:?}");
        }
    }
}
