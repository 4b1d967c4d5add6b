//! The plain file of a store: entries separated by lines with only `§`.

use std::collections::HashSet;

/// The line between two entries.
const DELIMITER: &str = "§";

/// Chars that end a line.
const BREAKS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Invisible chars.
const WITHOUT_WIDTH: [char; 5] = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}'];

/// Returns the text of entries, with a final newline. Without entries it is empty.
pub(super) fn join(entries: &[String]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    format!("{}\n", entries.join(&format!("\n{DELIMITER}\n")))
}

/// Returns the entries of a text. Every line with only `§` and blanks ends an entry, the same as in the daemon, so no
/// entry contains such a line.
pub(super) fn split(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split_inclusive(BREAKS).collect();
    clean(lines.split(|line| is_delimiter(line)).map(<[&str]>::concat).collect())
}

fn is_delimiter(line: &str) -> bool {
    line.trim_matches(|char: char| char.is_whitespace() || WITHOUT_WIDTH.contains(&char)) == DELIMITER
}

/// Returns entries in the form of a store: trimmed, without a leading byte order mark, with LF line ends, without empty
/// and repeated ones.
pub(super) fn clean(entries: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let normal = entries.iter().map(|entry| trimmed(&with_line_feeds(entry)).to_owned());
    normal.filter(|entry| !entry.is_empty() && seen.insert(entry.clone())).collect()
}

fn trimmed(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').trim_end()
}

fn with_line_feeds(text: &str) -> String {
    text.split('\n').map(|line| line.trim_end_matches('\r')).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_fall_apart_at_lone_delimiters() {
        for (text, entries) in [
            ("", &[][..]),
            (" \n", &[]),
            ("one", &["one"]),
            ("one\n§\ntwo\n", &["one", "two"]),
            ("\u{feff}one\r\n§\r\ntwo\r\nlines\r\n", &["one", "two\nlines"]),
            ("§\none\n§\n§\n  two  \n§\n", &["one", "two"]),
            ("one\n§\none", &["one"]),
            ("\n\u{feff}one\n§\n\u{feff}\n§\ntwo", &["one", "two"]),
            ("one\n§ \n§\ntwo\n§\n §", &["one", "two"]),
            ("one\n\t§\u{a0}\ntwo\r§\rthree\u{2028}\u{200b}§\u{2028}four", &["one", "two", "three", "four"]),
            ("costs § 5\n§ 6\nand more", &["costs § 5\n§ 6\nand more"]),
        ] {
            assert_eq!(split(text), entries, "{text:?}");
        }
    }

    #[test]
    fn entries_are_joined_like_a_file() {
        for (entries, text) in [(&[][..], ""), (&["one"], "one\n"), (&["one", "two\n2"], "one\n§\ntwo\n2\n")] {
            let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
            assert_eq!(join(&entries), text);
        }
    }

    proptest! {
        #[test]
        fn what_was_split_once_stays_so(text in "[ab§ \n\r\t\u{a0}\u{2028}\u{feff}]{0,24}") {
            let entries = split(&text);
            prop_assert_eq!(split(&join(&entries)), entries);
        }
    }
}
