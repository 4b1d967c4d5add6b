//! Makes texts from outside safe to show.

use std::fmt;

use herma_guard::{RedactOptions, redact};

/// The largest number of chars of a text that is shown.
const SHOWN: usize = 220;

/// Replaces chars that were left out.
const CUT: &str = "...";

/// The number of bytes of a text that are examined.
const LOOKED_AT: usize = 64 << 10;

/// Replaces a key.
const HIDDEN: &str = "***";

/// A key. It is never printed; only `reveal` returns it.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::owners) struct Secret(String);

impl Secret {
    /// Creates a key, unless the text is empty.
    pub(in crate::owners) fn new(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// Returns the key itself, for a header.
    pub(in crate::owners) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(HIDDEN)
    }
}

/// Knows the keys in use, so that none is shown if an answer repeats it.
#[derive(Debug)]
pub(in crate::owners) struct SecretMasker {
    /// The keys, longest first, because one may be a part of another.
    keys: Vec<Secret>,
}

impl SecretMasker {
    pub(in crate::owners) fn over(mut keys: Vec<Secret>) -> Self {
        keys.sort_by_key(|key| std::cmp::Reverse(key.0.len()));
        Self { keys }
    }

    /// Returns the beginning of a text, in one line of at most 220 chars and without secrets.
    pub(in crate::owners) fn line(&self, text: &str) -> String {
        let text = self.whole(prefix(text));
        if text.chars().count() <= SHOWN {
            return text;
        }
        let kept: String = text.chars().take(SHOWN - CUT.len()).collect();
        kept + CUT
    }

    /// Returns the end of a text, in one line of at most `most` chars and without secrets.
    pub(in crate::owners) fn last(&self, text: &str, most: usize) -> String {
        let text = self.whole(text);
        match text.chars().count().checked_sub(most) {
            None | Some(0) => text,
            Some(more) => CUT.to_owned() + &text.chars().skip(more + CUT.len()).collect::<String>(),
        }
    }

    fn whole(&self, text: &str) -> String {
        let hidden = self.keys.iter().fold(text.to_owned(), |text, key| text.replace(key.reveal(), HIDDEN));
        let redacted = redact(&hidden, RedactOptions::default()).text;
        let plain = redacted.replace(char::is_control, " ");
        plain.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Returns the beginning of a text that is examined.
fn prefix(text: &str) -> &str {
    &text[..text.floor_char_boundary(LOOKED_AT)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "local-key-7f3a9c";

    fn masker() -> SecretMasker {
        SecretMasker::over([KEY, "local-key"].iter().filter_map(|key| Secret::new(key)).collect())
    }

    #[test]
    fn a_key_shows_itself_to_nobody() {
        assert_eq!(format!("{:?}", Secret::new(KEY)), "Some(***)");
        assert!(!format!("{:?}", masker()).contains("7f3a9c"));
        assert_eq!(Secret::new(""), None);
    }

    #[test]
    fn what_is_shown_is_one_short_line_without_secrets() {
        let long = "word ".repeat(60);
        for (text, line) in [
            ("two\nlines\tand\u{1b}[31m red", "two lines and [31m red".to_owned()),
            ("wrong key local-key-7f3a9c, local-key", "wrong key ***, ***".to_owned()),
            (long.as_str(), long[..217].to_owned() + "..."),
        ] {
            assert_eq!(masker().line(text), line);
        }
        let foreign = masker().line("Incorrect API key provided: sk-proj-abcdefghijklmnopqrstuvwx1234567890");
        assert!(!foreign.contains("ghijklmnop"), "{foreign}");
    }

    #[test]
    fn the_end_is_cut_after_it_was_redacted() {
        let text = "x".repeat(300) + " token sk-proj-abcdefghijklmnopqrstuvwx1234567890 y";
        let last = masker().last(&text, 30);
        assert!(last.starts_with(CUT) && last.ends_with(" y"), "{last}");
        assert!(last.chars().count() <= 30 && !last.contains("ijklmnopqrstuvwx"), "{last}");
        assert_eq!(masker().last("short", 30), "short");
    }

    #[test]
    fn a_long_text_is_cut_between_chars() {
        assert_eq!(masker().line(&"é".repeat(LOOKED_AT)).chars().count(), SHOWN);
    }
}
