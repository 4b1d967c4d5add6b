//! Values: parts of a text that must be written exactly to keep their meaning. An id, a path, an address, a
//! name of a program, a date, a number.

use std::ops::Range;

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ValueKind {
    /// An address with a scheme.
    Link,
    /// A text with an at sign and a dot after it.
    Email,
    /// A file or folder, or a text with that form, such as a branch.
    Path,
    /// A name in a program, written `like_this` or `likeThis`.
    Name,
    /// Letters and digits together.
    Id,
    /// Year, month and day.
    Date,
    /// Three digits or more.
    Number,
}

/// A value in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value<'a> {
    /// The exact text.
    pub(crate) text: &'a str,
    /// Its form.
    pub(crate) kind: ValueKind,
}

/// The most chars of a value; a longer one is data.
const LONGEST: usize = 120;
/// The fewest chars of a value.
const SHORTEST: usize = 3;
/// The fewest digits of a number.
const DIGITS: usize = 3;

/// Endings of file names.
const ENDINGS: &[&str] = &[
    "bash", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "db", "env", "go", "gz", "h", "hpp", "html", "ini",
    "ipynb", "java", "js", "json", "jsonl", "jsx", "kt", "lock", "log", "md", "mjs", "patch", "pdf", "php", "png",
    "proto", "py", "rb", "rs", "rst", "sh", "sql", "sqlite", "svg", "swift", "tar", "tf", "toml", "ts", "tsx", "txt",
    "vue", "xml", "yaml", "yml", "zip",
];

/// Returns the values of a text, in order.
pub(crate) fn values(text: &str) -> impl Iterator<Item = Value<'_>> {
    Words { text, at: 0 }.filter(|range| !is_masked(text, range)).filter_map(|range| value(text.get(range)?))
}

/// Whether a word is what a mask leaves of a number: `+492****3629`.
fn is_masked(text: &str, range: &Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let is_mask = |range: Range<usize>| bytes.get(range).is_some_and(|part| part == b"****");
    is_mask(range.start.saturating_sub(4)..range.start) || is_mask(range.end..range.end + 4)
}

/// Returns the value of a word; `None` if it is just a word.
pub(crate) fn value(word: &str) -> Option<Value<'_>> {
    let signs = Signs::of(word);
    if !signs.may_be_a_value() {
        return None;
    }
    let text = trimmed(word, &signs);
    if text.len() < SHORTEST || text.len() > LONGEST {
        return None;
    }
    // A masked or cut text is no longer exact.
    if signs.dot && text.as_bytes().windows(3).any(|part| part == b"...") {
        return None;
    }
    let kind = kind(text, &signs)?;
    let text = if kind == ValueKind::Date { text.get(..DATE)? } else { text };
    Some(Value { text, kind })
}

/// Chars of a date.
const DATE: usize = "2024-05-20".len();

fn trimmed<'a>(word: &'a str, signs: &Signs) -> &'a str {
    let word = word.trim_end_matches(['.', ':', '!', '?', '-', '&', '%', '~', '@']);
    let word = if signs.slashes > 0 { word.trim_end_matches('/').trim_start_matches("./") } else { word };
    word.trim_start_matches(['-', ':', '#', '+', '@', '%', '&', '?', '!', '*'])
}

fn kind(text: &str, signs: &Signs) -> Option<ValueKind> {
    if signs.scheme && text.contains("://") {
        return Some(ValueKind::Link);
    }
    if signs.at && is_email(text) {
        return Some(ValueKind::Email);
    }
    if signs.slashes > 0 && text.contains('/') {
        return is_path(text, signs).then_some(ValueKind::Path);
    }
    if signs.digits > 0 && is_date(text) {
        return Some(ValueKind::Date);
    }
    if signs.dot && text.rsplit_once('.').is_some_and(|(name, end)| is_name(name) && ENDINGS.contains(&end)) {
        return Some(ValueKind::Path);
    }
    if signs.digits > 0 && signs.letters > 0 {
        // `12px` and `3rd` are measures, not ids.
        let is_measure = text.starts_with(|first: char| first.is_ascii_digit()) && signs.letters <= 2;
        return (!is_measure).then_some(ValueKind::Id);
    }
    if signs.letters > 0 {
        let is_name = (signs.low_line && text.trim_matches('_').contains('_')) || signs.hump;
        return is_name.then_some(ValueKind::Name);
    }
    (signs.digits >= DIGITS && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(ValueKind::Number)
}

fn is_email(text: &str) -> bool {
    text.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && host.contains('.') && !host.contains('@') && !host.starts_with('.')
    })
}

/// Whether the text has a root, or several parts with a sign that a pair of words lacks.
fn is_path(text: &str, signs: &Signs) -> bool {
    let is_rooted = text.starts_with(['/', '~']) || text.starts_with("./") || text.starts_with("../");
    let parts = text.split('/').filter(|part| !part.is_empty()).count();
    let is_fraction = signs.letters == 0;
    !is_fraction
        && (is_rooted && parts > 0
            || parts > 2
            || parts == 2 && (signs.dot || signs.low_line || signs.digits > 0 || signs.dash))
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: Range<usize>| bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    digits(0..4)
        && bytes.get(4) == Some(&b'-')
        && digits(5..7)
        && bytes.get(7) == Some(&b'-')
        && digits(8..10)
        && !bytes.get(10).is_some_and(u8::is_ascii_digit)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.+@".contains(&byte))
}

/// The signs in a word.
#[derive(Default)]
struct Signs {
    letters: usize,
    digits: usize,
    slashes: usize,
    dot: bool,
    at: bool,
    low_line: bool,
    dash: bool,
    scheme: bool,
    /// Whether a capital letter follows a small one.
    hump: bool,
}

impl Signs {
    fn of(word: &str) -> Self {
        let mut signs = Self::default();
        let mut last = 0_u8;
        for byte in word.bytes() {
            match byte {
                b'a'..=b'z' => signs.letters += 1,
                b'A'..=b'Z' => {
                    signs.letters += 1;
                    signs.hump |= last.is_ascii_lowercase();
                }
                b'0'..=b'9' => signs.digits += 1,
                b'/' => {
                    signs.slashes += 1;
                    signs.scheme |= last == b':';
                }
                b'.' => signs.dot = true,
                b'@' => signs.at = true,
                b'_' => signs.low_line = true,
                b'-' => signs.dash = true,
                _ => {}
            }
            last = byte;
        }
        signs
    }

    fn may_be_a_value(&self) -> bool {
        self.digits > 0 || self.slashes > 0 || self.dot || self.at || self.low_line || self.hump
    }
}

/// Iterates over runs of chars that can form values.
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Words<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        loop {
            let mut start = self.at;
            // An escape is not part of the word after it.
            while let Some(byte) = bytes.get(start).filter(|byte| !is_of_word(**byte)) {
                let is_escape =
                    *byte == b'\\' && bytes.get(start + 1).is_some_and(|next| b"nrtubBsSdDwW".contains(next));
                start += if is_escape { 2 } else { 1 };
            }
            bytes.get(start)?;
            let mut end = start;
            let mut is_link = false;
            while let Some(byte) = bytes.get(end) {
                let starts_link = *byte == b':' && bytes.get(end + 1..end + 3) == Some(b"//");
                is_link |= starts_link;
                if is_of_word(*byte) || (is_link && b":=?&%#;".contains(byte)) {
                    end += 1;
                } else {
                    break;
                }
            }
            self.at = end;
            if end - start >= SHORTEST {
                return Some(start..end);
            }
        }
    }
}

fn is_of_word(byte: u8) -> bool {
    OF_WORD[usize::from(byte)]
}

/// Bytes that can be in words with values.
const OF_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let all = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./@+~";
    let mut at = 0;
    while at < all.len() {
        table[all[at] as usize] = true;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_from_words() {
        use ValueKind::*;
        for (text, expect) in [
            ("", &[][..]),
            ("nothing to see here, and/or there. 10:30, 1/2, e.g. 3rd 12px", &[]),
            ("see https://a.example/b?x=1&y=2, please", &[("https://a.example/b?x=1&y=2", Link)]),
            ("mail sofia.kim7287@example.com.", &[("sofia.kim7287@example.com", Email)]),
            ("call +492****3629, order **4711**", &[("4711", Number)]),
            ("in src/queue/worker.rs:12 and ./run.sh", &[("src/queue/worker.rs", Path), ("run.sh", Path)]),
            ("setup.py feature/login-2", &[("setup.py", Path), ("feature/login-2", Path)]),
            ("retry_count, handleRequest(x) __init__", &[("retry_count", Name), ("handleRequest", Name)]),
            (r#"{"id": "HAT113", "n": 42, "total": 305}"#, &[("HAT113", Id), ("305", Number)]),
            ("on 2024-05-20T10:00:00 or 2024-05-21", &[("2024-05-20", Date), ("2024-05-21", Date)]),
            (r"a\nretry_count\tmax_size", &[("retry_count", Name), ("max_size", Name)]),
            ("数据库 user_1 失败", &[("user_1", Id)]),
            ("--no-cache #4711", &[("4711", Number)]),
            ("key ab12...9f3c", &[]),
            (r"grep \bdrain_queue\(", &[("drain_queue", Name)]),
        ] {
            let found: Vec<_> = values(text).map(|value| (value.text, value.kind)).collect();
            assert_eq!(found, expect, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_values_of_its_own(text in "\\PC{0,200}") {
            for value in values(&text) {
                proptest::prop_assert!(text.contains(value.text) && (SHORTEST..=LONGEST).contains(&value.text.len()));
            }
        }
    }
}
