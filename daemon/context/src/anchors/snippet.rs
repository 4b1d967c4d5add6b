//! The excerpt of a line that becomes an anchor.

use std::borrow::Cow;
use std::ops::Range;

use super::Kind;
use super::measure::LineMatch;
use crate::text::{collapse, longer_than};

/// The most chars of a line that is kept whole.
const WHOLE_CHARS: usize = 190;
/// The same for a line that only names a path.
const PATH_CHARS: usize = 130;
/// Bytes of a longer line before the match.
const LEAD_BYTES: usize = 70;
/// Bytes of the excerpt, unless the match is longer.
const WINDOW_BYTES: usize = 180;
/// The most bytes of the match.
const MAX_BYTES: usize = 400;
/// A cut searches for a space within this many bytes.
const SEAM_BYTES: usize = 20;

/// Returns the excerpt of a line: only the path if that is the match, else the words around the match.
pub(super) fn excerpt(line: &str, matched: &LineMatch) -> String {
    match (matched.kind, line.get(matched.span.clone())) {
        (Kind::Path, Some(path)) if !longer_than(path, PATH_CHARS) => {
            path.trim_end_matches(['.', ',', ':', ';', '!', '?', '*']).to_owned()
        }
        _ => snippet(line, matched.kind, &matched.span),
    }
}

/// Returns the line, or a window around the match, on one line.
fn snippet(line: &str, kind: Kind, span: &Range<usize>) -> String {
    let line = without_number(line);
    let shift = line.1;
    let line = line.0;
    let whole = if kind == Kind::Path { PATH_CHARS } else { WHOLE_CHARS };
    if !longer_than(line, whole) {
        return collapse(line);
    }
    let (from, to) = (span.start.saturating_sub(shift), span.end.saturating_sub(shift));
    let to = to.min(from + MAX_BYTES);
    let start = if from <= LEAD_BYTES { 0 } else { after_space(line, from - LEAD_BYTES) };
    let end = before_space(line, to.max(start + WINDOW_BYTES));
    let dots = if start > 0 { "…" } else { "" };
    let more = if end < line.len() { "…" } else { "" };
    format!("{dots}{}{more}", collapse(line.get(start..end).unwrap_or(line)))
}

/// Returns a line without the number that reading tools add, and how many bytes that was.
fn without_number(line: &str) -> (&str, usize) {
    let trimmed = line.trim_start();
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let rest = trimmed.get(digits..).unwrap_or("");
    let kept = match (digits > 0, rest.strip_prefix(['|', '\t', '→'])) {
        (true, Some(rest)) => rest.trim_start(),
        _ => trimmed,
    };
    (kept.trim_end(), line.len() - kept.len())
}

fn after_space(line: &str, at: usize) -> usize {
    let at = line.floor_char_boundary(at);
    let near = line.get(at..line.floor_char_boundary(at + SEAM_BYTES)).unwrap_or("");
    near.find(' ').map_or(at, |space| at + space + 1)
}

fn before_space(line: &str, at: usize) -> usize {
    if at >= line.len() {
        return line.len();
    }
    let at = line.floor_char_boundary(at);
    let near = line.get(at..line.floor_char_boundary(at + SEAM_BYTES)).unwrap_or("");
    near.find(' ').map_or(at, |space| at + space)
}

/// Resolves the relevant escapes in a line of a JSON string within JSON.
pub(super) fn unescaped(line: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', line.as_bytes()).is_none() {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('t' | 'r') => out.push(' '),
            Some(other @ ('"' | '\\' | '/')) => out.push(other),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    Cow::Owned(out)
}
