//! The exact JSON text of a message: spans of it, and splicing without building a tree.

use std::borrow::Cow;

pub(crate) use herma_json::{
    Piece, Pieces, StringLength, canonical_chars, decode, decode_head, fields, is_blank, items, member, members, start,
    string_end,
};

/// A byte range of a message's raw text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// First byte.
    pub(crate) start: usize,
    /// One past the last byte.
    pub(crate) end: usize,
}

impl Span {
    /// Returns the position of `part`, a slice of `whole`.
    pub(crate) fn of(part: &str, whole: &str) -> Self {
        let start = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
        Self { start, end: start + part.len() }
    }

    /// Returns the text of the span; empty if the span does not fit `whole`.
    pub(crate) fn slice(self, whole: &str) -> &str {
        whole.get(self.start..self.end).unwrap_or("")
    }
}

/// The new text of one span.
pub(crate) struct Splice {
    /// The span to replace; an empty span inserts.
    pub(crate) span: Span,
    /// The new text.
    pub(crate) text: String,
}

/// Returns `raw` with every splice applied. The splices must be in order and disjoint.
pub(crate) fn splice(raw: &str, splices: &[Splice]) -> String {
    let grown: usize = splices.iter().map(|s| s.text.len()).sum();
    let mut out = String::with_capacity(raw.len() + grown);
    let mut at = 0;
    for splice in splices {
        out.push_str(raw.get(at..splice.span.start).unwrap_or(""));
        out.push_str(&splice.text);
        at = splice.span.end;
    }
    out.push_str(raw.get(at..).unwrap_or(""));
    out
}

/// Returns `text` as a JSON string token, with non-ASCII characters unescaped.
pub(crate) fn encode(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}

/// Whether the token is a JSON string.
pub(crate) fn is_string(token: &str) -> bool {
    token.starts_with('"')
}

/// Whether the token is a JSON list.
pub(crate) fn is_list(token: &str) -> bool {
    token.starts_with('[')
}

/// Returns the span of the value that begins at `at`.
pub(crate) fn value(raw: &str, at: usize) -> Span {
    Span { start: at, end: herma_json::value_end(raw.as_bytes(), at) }
}

/// Returns the text form of any JSON value: a string's own text, else its JSON.
pub(crate) fn text_form(token: &str) -> Cow<'_, str> {
    if is_string(token) { decode(token) } else { Cow::Borrowed(token) }
}

/// Returns the chars of the decoded text of a string token.
pub(crate) fn string_chars(token: &str) -> usize {
    StringLength::of(token).decoded
}

/// Returns the chars of the text form of a value: decoded if a string, canonical JSON otherwise.
pub(crate) fn text_form_chars(token: &str) -> usize {
    if is_string(token) { string_chars(token) } else { canonical_chars(token) }
}
