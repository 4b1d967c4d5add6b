//! The results of a search.

use std::ops::{Index, Range};

use regex_automata::util::captures::Captures;

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found<'t> {
    text: &'t str,
    start: usize,
    end: usize,
}

impl<'t> Found<'t> {
    pub(super) fn new(text: &'t str, range: Range<usize>) -> Self {
        Self { text, start: range.start, end: range.end }
    }

    /// Returns the text of the part.
    pub(crate) fn as_str(&self) -> &'t str {
        self.text.get(self.range()).unwrap_or_default()
    }

    /// Returns the offset of its first byte.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Returns the offset of the byte after it.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// Returns its byte range.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns its length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }
}

/// A match, and the parts of it in groups.
pub(crate) struct Groups<'t> {
    text: &'t str,
    captures: Captures,
}

impl<'t> Groups<'t> {
    pub(super) fn new(text: &'t str, captures: Captures) -> Self {
        Self { text, captures }
    }

    /// Returns the group with this number, if it matched; 0 is the whole match.
    pub(crate) fn get(&self, number: usize) -> Option<Found<'t>> {
        self.captures.get_group(number).map(|span| Found::new(self.text, span.range()))
    }

    /// Returns the group with this name, if it matched.
    pub(crate) fn name(&self, name: &str) -> Option<Found<'t>> {
        self.captures.get_group_by_name(name).map(|span| Found::new(self.text, span.range()))
    }

    /// Fills a template that names groups as `$1`.
    pub(super) fn filled(&self, template: &str) -> String {
        self.captures.interpolate_string(self.text, template)
    }
}

/// Returns a group's text; empty if it did not match.
impl Index<usize> for Groups<'_> {
    type Output = str;

    fn index(&self, number: usize) -> &str {
        self.get(number).map_or("", |found| found.as_str())
    }
}
