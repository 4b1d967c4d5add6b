//! What a search found.

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

    /// The part itself.
    pub(crate) fn as_str(&self) -> &'t str {
        self.text.get(self.range()).unwrap_or_default()
    }

    /// Where it begins, in bytes.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Where it ends, in bytes.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// Its bytes.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// How many these are.
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }
}

/// What was found, and the parts of it that stand in groups.
pub(crate) struct Groups<'t> {
    text: &'t str,
    captures: Captures,
}

impl<'t> Groups<'t> {
    pub(super) fn new(text: &'t str, captures: Captures) -> Self {
        Self { text, captures }
    }

    /// The group with this number, if it took part; 0 is all of it.
    pub(crate) fn get(&self, number: usize) -> Option<Found<'t>> {
        self.captures.get_group(number).map(|span| Found::new(self.text, span.range()))
    }

    /// The group with this name, if it took part.
    pub(crate) fn name(&self, name: &str) -> Option<Found<'t>> {
        self.captures.get_group_by_name(name).map(|span| Found::new(self.text, span.range()))
    }

    /// A template with the groups that it names as `$1`.
    pub(super) fn filled(&self, template: &str) -> String {
        self.captures.interpolate_string(self.text, template)
    }
}

/// A group's text; empty where it took no part.
impl Index<usize> for Groups<'_> {
    type Output = str;

    fn index(&self, number: usize) -> &str {
        self.get(number).map_or("", |found| found.as_str())
    }
}
