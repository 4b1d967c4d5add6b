//! Conversion of the table's expressions to expressions over views.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::pattern::Pattern;
use super::table::PATTERNS;

/// The white space bytes of a view, as the inside of a character set.
const SPACE: &str = r"\t-\r \x81";

/// The bytes of letters, marks, digits and underscores, as the inside of a character set.
const WORD: &str = r"0-9A-Za-z_\x80\x84\x85\xE0-\xFF";

/// The compiled expressions of the table, filled on first use.
static EXPRESSIONS: [OnceLock<Regex>; PATTERNS.len()] = [const { OnceLock::new() }; PATTERNS.len()];

/// Returns the expression of a row. It matches only at the start of the search, unless the row's
/// reach is searched.
pub(super) fn of_row(row: usize) -> &'static Regex {
    let Pattern { expression, reach, .. } = PATTERNS[row];
    EXPRESSIONS[row].get_or_init(|| compile(expression, !reach.is_searched()))
}

#[expect(clippy::expect_used, reason = "a test compiles every row of the table")]
pub(super) fn compile(expression: &str, is_anchored: bool) -> Regex {
    let anchor = if is_anchored { r"\A" } else { "" };
    let bytes = format!("{anchor}(?:{})", over_bytes(expression));
    RegexBuilder::new(&bytes).unicode(false).case_insensitive(true).build().expect("a valid expression")
}

/// Translates an expression to the bytes of a view.
fn over_bytes(expression: &str) -> String {
    let mut bytes = String::new();
    let mut in_set = false;
    let mut rest = expression.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some('s') => bytes.push_str(&format!("[{SPACE}]")),
                Some('h') => bytes.push_str(r"[\t\x0B-\r \x81]"),
                Some('w') => bytes.push_str(&format!("[{WORD}]")),
                Some('<') => bytes.push_str(&format!(r"(?:\A|[^{WORD}])")),
                Some('>') => bytes.push_str(&format!(r"(?:\z|[^{WORD}])")),
                other => bytes.extend(['\\'].into_iter().chain(other)),
            },
            ' ' if rest.as_str().starts_with("… ") => {
                bytes.push_str(&format!("[{SPACE}]+(?:[{WORD}]+[{SPACE}]+)*?"));
                rest = rest.as_str()["… ".len()..].chars();
            }
            ' ' => bytes.push_str(&format!("[{SPACE}]+")),
            '’' => bytes.push_str(r"\x83"),
            '[' | ']' => {
                in_set = c == '[';
                bytes.push(c);
            }
            // All small letters, and the byte for an `i` or `l`.
            'z' if in_set && bytes.ends_with("a-") => bytes.push_str(r"z\x85"),
            'i' | 'l' if !in_set => bytes.push_str(&format!(r"[{c}\x85]")),
            c => bytes.push(c),
        }
    }
    bytes
}
