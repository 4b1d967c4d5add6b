//! Pass 2: `SOME_TOKEN=value`, as in environments and shell scripts.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use memchr::{memchr_iter, memchr2};

use super::{Edit, MaskStyle, byte_before, disjoint, run_start};

/// A variable holds a secret if its name contains one of these.
const SECRET_NAMES: [&str; 8] = ["API_KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH"];

#[expect(clippy::expect_used, reason = "eight short constants are far below the automaton's limits")]
static SECRET_NAME: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let automaton = AhoCorasick::builder().prefilter(false).kind(Some(AhoCorasickKind::DFA)).build(SECRET_NAMES);
    automaton.expect("the names fit into an automaton")
});

/// White space that is allowed around the `=`, which excludes newlines.
const BLANKS: [char; 2] = [' ', '\t'];

/// Characters after an unquoted value that are not part of it.
const CLOSERS: [char; 9] = ['"', '\'', '`', ',', ';', ')', ']', '}', '>'];

pub(super) fn edits(text: &str, shown: MaskStyle) -> Vec<Edit> {
    disjoint(memchr_iter(b'=', text.as_bytes()), |equals| assignment(text, equals, shown))
}

/// Returns the masked assignment around the `=` at byte `equals`, without the blanks around the `=`.
fn assignment(text: &str, equals: usize, shown: MaskStyle) -> Option<Edit> {
    let name_end = text[..equals].trim_end_matches(BLANKS).len();
    let name_start = run_start(text, name_end, is_upper_name_byte);
    let name = &text[name_start..name_end];
    if name.is_empty() || !SECRET_NAME.is_match(name) {
        return None;
    }
    if text[..name_start].chars().next_back().is_some_and(char::is_alphanumeric) {
        return None;
    }
    let before = byte_before(text, name_start);
    let after = &text[equals + 1..];
    if after.starts_with(['=', '>']) {
        return None;
    }
    let value_start = text.len() - after.trim_start_matches(BLANKS).len();
    let (quote, value) = value(&text[value_start..], before)?;
    let value_end = value_start + value.len() + 2 * quote.len();
    Some(Edit { range: name_start..value_end, with: format!("{name}={quote}{}{quote}", shown.of(value)) })
}

/// Returns the quote (or nothing) and the value at the start of `rest`. A quote that is not closed
/// counts as part of the value. `before_name` is the byte before the whole assignment: if it is a
/// quote, the value ends at the closing one.
fn value(rest: &str, before_name: Option<u8>) -> Option<(&str, &str)> {
    if let Some(mark @ (b'"' | b'\'')) = rest.bytes().next() {
        let inside = &rest[1..];
        let close = memchr2(mark, b'\n', inside.as_bytes());
        if let Some(length) = close.filter(|at| inside.as_bytes()[*at] == mark) {
            return (length > 0).then(|| (&rest[..1], &inside[..length]));
        }
    }
    let run = rest.split(char::is_whitespace).next()?;
    let enclosing = before_name.filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let end = enclosing.and_then(|quote| run.find(char::from(quote)));
    let value = run[..end.unwrap_or(run.len())].trim_end_matches(CLOSERS);
    (!value.is_empty()).then_some(("", value))
}

fn is_upper_name_byte(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'
}
