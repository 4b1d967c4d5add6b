//! The text of a store and its entries.

use std::collections::HashSet;
use std::sync::Arc;

/// One note. Lists of entries share their texts, for every change has a list
/// before and one after it.
pub type Entry = Arc<str>;

/// What stands between two entries.
pub const DELIMITER: &str = "\n§\n";

/// Reads a store's text: CRLF becomes LF, pieces are trimmed, with a byte order mark that begins
/// one, a delimiter that hangs at the end of one, empty ones and later duplicates are dropped.
#[must_use]
pub fn parse(text: &str) -> Vec<Entry> {
    let text = with_line_feeds(text);
    let pieces = text.split(DELIMITER).map(without_hanging).filter(|piece| !piece.is_empty());
    without_duplicates(pieces.map(Entry::from).collect())
}

/// A piece, trimmed, without the lines at its end that are only `§`: they would
/// swallow the next entry.
fn without_hanging(piece: &str) -> &str {
    let mut piece = trimmed(piece);
    while let Some(shorter) = piece.strip_suffix("\n§") {
        piece = shorter.trim();
    }
    piece
}

/// A text without white space round it, and without a byte order mark before it: whichever entry
/// is the first one stands where a mark is no part of the text.
fn trimmed(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').trim_end()
}

/// The text of these entries: joined, without a final newline.
#[must_use]
pub fn join<T: AsRef<str>>(entries: &[T]) -> String {
    entries.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(DELIMITER)
}

/// Chars of [`join`] without making it.
#[must_use]
pub fn chars<T: AsRef<str>>(entries: &[T]) -> usize {
    let texts: usize = entries.iter().map(|entry| entry.as_ref().chars().count()).sum();
    texts + entries.len().saturating_sub(1) * DELIMITER.chars().count()
}

/// Keeps the first of equal entries.
#[must_use]
pub fn without_duplicates(entries: Vec<Entry>) -> Vec<Entry> {
    let mut seen = HashSet::new();
    entries.into_iter().filter(|entry| seen.insert(entry.clone())).collect()
}

/// An entry as it will stand in the file: trimmed, without a byte order mark before it, with LF
/// line ends.
#[must_use]
pub fn normalised(text: &str) -> String {
    trimmed(&with_line_feeds(text)).to_owned()
}

/// Drops every carriage return that stands before a line feed, so that doing it
/// again changes nothing.
fn with_line_feeds(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) => {
                kept.push_str(line.trim_end_matches('\r'));
                kept.push('\n');
            }
            None => kept.push_str(line),
        }
    }
    kept
}

/// Whether an entry would fall apart, or swallow its neighbour, when the file is
/// read again: a line that is only `§` inside it or at its end.
#[must_use]
pub fn would_split(entry: &str) -> bool {
    entry.contains(DELIMITER) || entry.ends_with("\n§")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_read_leniently() {
        for (text, entries) in [
            ("", &[][..]),
            (" \n ", &[]),
            ("one", &["one"]),
            ("one\n§\ntwo\n", &["one", "two"]),
            ("\u{feff}one\r\n§\r\ntwo", &["one", "two"]),
            ("\t\u{feff}\n§\n\u{feff} \u{feff}two\u{feff}", &["two\u{feff}"]),
            ("one \n§\n\n§\n  two", &["one", "two"]),
            ("one\n§\none\n§\ntwo", &["one", "two"]),
            ("costs § 5\nand more", &["costs § 5\nand more"]),
            ("§", &["§"]),
            ("one\n§", &["one"]),
            ("one\n§ \n§\ntwo\n§\n§", &["one", "two", "§"]),
        ] {
            let read: Vec<String> = parse(text).iter().map(|entry| entry.to_string()).collect();
            assert_eq!(read, entries, "{text:?}");
        }
    }

    #[test]
    fn chars_count_delimiters_and_scalars() {
        assert_eq!(chars::<&str>(&[]), 0);
        assert_eq!(chars(&["日本", "é"]), 2 + 3 + 1);
    }

    proptest! {
        #[test]
        fn accepted_entries_come_back(entries in prop::collection::vec("[a§ \n\r日]{0,8}", 0..6)) {
            let accepted: Vec<Entry> = entries.iter().map(|entry| normalised(entry))
                .filter(|entry| !entry.is_empty() && !would_split(entry)).map(Entry::from).collect();
            let accepted = without_duplicates(accepted);
            prop_assert_eq!(chars(&accepted), join(&accepted).chars().count());
            prop_assert_eq!(parse(&join(&accepted)), accepted);
        }
    }
}
