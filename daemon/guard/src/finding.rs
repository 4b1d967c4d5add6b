//! What a scan reports.

use std::fmt;
use std::ops::Range;

/// One thing found, and where.
///
/// Positions count Unicode scalar values of the text that was given to the scan; `start < end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// What was found.
    pub id: FindingId,
    /// The first char of the hit.
    pub start: usize,
    /// The char after the last of the hit.
    pub end: usize,
    /// Whether it shows only once the text is folded: look-alike letters read as Latin, marks and
    /// what cannot be seen dropped.
    pub folded: bool,
    /// What is to be done about it.
    pub severity: Severity,
}

/// What a finding asks of whoever holds the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Keep the text out.
    Block,
    /// Let it in and say so. Only a [`Policy`](crate::Policy) asks for this.
    Warn,
}

/// The name of a pattern, or `invisible_unicode_U+XXXX` for an invisible character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FindingId(&'static str);

impl FindingId {
    /// What every invisible character's id begins with.
    const INVISIBLE: &'static str = "invisible_unicode_";

    pub(crate) const fn new(id: &'static str) -> Self {
        Self(id)
    }

    /// The id as it appears on the wire and in configurations.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// `U+XXXX`, if this is the id of an invisible character.
    pub(crate) fn code_point(self) -> Option<&'static str> {
        self.0.strip_prefix(Self::INVISIBLE)
    }
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

/// A finding before its severity is known.
pub(crate) struct Hit {
    /// What was found.
    pub(crate) id: FindingId,
    /// Where, in chars of the text; never empty.
    pub(crate) chars: Range<usize>,
    /// Whether it shows only in the folded text.
    pub(crate) folded: bool,
}

impl Hit {
    pub(crate) fn finding(self, severity: Severity) -> Finding {
        let Range { start, end } = self.chars;
        Finding { id: self.id, start, end, folded: self.folded, severity }
    }
}
