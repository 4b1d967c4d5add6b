//! The findings of a scan.

use std::fmt;
use std::ops::Range;

/// A match in a text, and its position.
///
/// Positions count Unicode scalar values of the scanned text; `start < end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// The id of the pattern or invisible character.
    pub id: FindingId,
    /// Position of the first char of the match.
    pub start: usize,
    /// Position after the last char of the match.
    pub end: usize,
    /// Whether it matches only in the folded text: look-alike letters are read as Latin, marks and
    /// invisible characters are dropped.
    pub folded: bool,
    /// Whether the text should be refused.
    pub severity: Severity,
}

/// How to treat a text with a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Refuse the text.
    Block,
    /// Accept the text and report the finding. Only a [`Policy`](crate::Policy) sets this.
    Warn,
}

/// The name of a pattern, or `invisible_unicode_U+XXXX` for an invisible character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FindingId(&'static str);

impl FindingId {
    /// The prefix of the ids of invisible characters.
    const INVISIBLE: &'static str = "invisible_unicode_";

    pub(crate) const fn new(id: &'static str) -> Self {
        Self(id)
    }

    /// Returns the id as used on the wire and in configurations.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// Returns `U+XXXX` if this is the id of an invisible character.
    pub(crate) fn code_point(self) -> Option<&'static str> {
        self.0.strip_prefix(Self::INVISIBLE)
    }
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

/// A finding whose severity is not determined yet.
pub(crate) struct Hit {
    /// The id of the pattern or invisible character.
    pub(crate) id: FindingId,
    /// The position in chars of the text; never empty.
    pub(crate) chars: Range<usize>,
    /// Whether it matches only in the folded text.
    pub(crate) folded: bool,
}

impl Hit {
    pub(crate) fn finding(self, severity: Severity) -> Finding {
        let Range { start, end } = self.chars;
        Finding { id: self.id, start, end, folded: self.folded, severity }
    }
}
