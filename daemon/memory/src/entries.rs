//! Converts between the text of a store and its entries.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// One note. Entries are shared pointers because every change has a list before it and one after it.
pub type Entry = Arc<str>;

/// The separator between two entries.
pub const DELIMITER: &str = "\n§\n";

/// The line that separates entries.
const LINE: &str = "§";

/// Reads a store's text. CRLF becomes LF, and each piece is trimmed, also of a byte order mark at its start. Empty
/// pieces and later duplicates are dropped. A line that contains only `§` and blanks separates entries too, because
/// people and other programs write it so. Otherwise the whole store would be one entry.
#[must_use]
pub fn parse(text: &str) -> Vec<Entry> {
    let text = with_line_feeds(text);
    let pieces = text.split(DELIMITER).flat_map(pieces).filter(|piece| !piece.is_empty());
    without_duplicates(pieces.map(Entry::from).collect())
}

/// Splits a piece at delimiters in other spellings and trims the parts. A piece that is only `§` is an entry.
fn pieces(text: &str) -> Vec<&str> {
    let text = trimmed(text);
    if text == LINE {
        return vec![text];
    }
    let mut begin = 0;
    let mut pieces = Vec::new();
    for line in delimiter_lines(text) {
        pieces.push(trimmed(&text[begin..line.start]));
        begin = line.end;
    }
    pieces.push(trimmed(&text[begin..]));
    pieces
}

/// Whether a line contains only `§` and blanks.
pub(crate) fn is_delimiter(line: &str) -> bool {
    line.trim_matches(|char| is_blank(char) || is_break(char)) == LINE
}

/// The byte ranges of the lines that contain only `§` and blanks.
fn delimiter_lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices(LINE).filter_map(|(at, _)| {
        let before = text[..at].trim_end_matches(is_blank);
        let behind = text[at + LINE.len()..].trim_start_matches(is_blank);
        let is_line = before.chars().next_back().is_none_or(is_break) && behind.chars().next().is_none_or(is_break);
        is_line.then(|| before.len()..text.len() - behind.len())
    })
}

/// Whether a char ends a line.
const fn is_break(char: char) -> bool {
    matches!(char, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a char is invisible within a line: white space, or a char without width.
fn is_blank(char: char) -> bool {
    let has_no_width = matches!(char, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}');
    has_no_width || (char.is_whitespace() && !is_break(char))
}

/// Trims white space from a text, and byte order marks from its start. Any entry can become the first one, where the
/// file's byte order mark would be.
fn trimmed(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').trim_end()
}

/// Returns the text of these entries, without a final newline.
#[must_use]
pub fn join<T: AsRef<str>>(entries: &[T]) -> String {
    entries.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(DELIMITER)
}

/// Counts the chars of [`join`] without building the text.
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

/// Returns an entry as the file will contain it: trimmed, without a byte order mark at its start, with LF line ends.
#[must_use]
pub fn normalised(text: &str) -> String {
    trimmed(&with_line_feeds(text)).to_owned()
}

/// Removes all carriage returns before a line feed. A second run changes nothing.
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

/// Whether an entry would split, or merge with its neighbour, when the file is read again: it has a line that is only
/// `§`.
#[must_use]
pub fn would_split(entry: &str) -> bool {
    entry != LINE && delimiter_lines(entry).next().is_some()
}

/// Whether the file of these entries gives the same entries when it is read again.
#[must_use]
pub fn round_trips(entries: &[Entry]) -> bool {
    parse(&join(entries)) == entries
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
            ("one\n§ \ntwo\n \t§\nthree", &["one", "two", "three"]),
            ("one\n\u{a0}§\u{a0}\ntwo", &["one", "two"]),
            ("one \r\n § \r\n two", &["one", "two"]),
            ("one\r§\rtwo", &["one", "two"]),
            ("one\u{2028}§\u{2028}two", &["one", "two"]),
            ("one\n\u{feff}§\u{200b}\ntwo", &["one", "two"]),
            ("§ \none\n§\n§ \n", &["one", "§"]),
            ("one\n§ two\n§§\n- §\nthree", &["one\n§ two\n§§\n- §\nthree"]),
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
        fn accepted_entries_come_back(entries in prop::collection::vec("[a§ \n\r\t\u{a0}\u{2028}\u{feff}日]{0,8}", 0..6)) {
            let accepted: Vec<Entry> = entries.iter().map(|entry| normalised(entry))
                .filter(|entry| !entry.is_empty() && !would_split(entry)).map(Entry::from).collect();
            let accepted = without_duplicates(accepted);
            prop_assert_eq!(chars(&accepted), join(&accepted).chars().count());
            prop_assert!(round_trips(&accepted));
        }

        #[test]
        fn what_is_read_comes_back(text in "[a§ \n\r\t\u{a0}\u{2028}\u{feff}日]{0,40}") {
            prop_assert!(round_trips(&parse(&text)), "{:?}", parse(&text));
        }
    }
}
