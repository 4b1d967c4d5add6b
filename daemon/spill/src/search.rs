//! Queries for a text or a pattern in outputs, and their results.

use crate::handle::Handle;

pub(crate) mod needle;
pub(crate) mod shown;

/// The default number of rows.
pub const ROWS: usize = 50;

/// The maximum number of rows.
pub const MOST_ROWS: usize = 1_000;

/// The maximum number of lines before and after a row.
pub const MOST_CONTEXT: usize = 20;

/// The maximum length of a query, in chars.
pub const LONGEST: usize = 1_000;

/// The text or pattern to find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Needle {
    /// This text, letter for letter.
    Literal(String),
    /// This pattern, line by line: `^` and `$` are the ends of a line. A line of more than 1 MiB is searched in pieces
    /// of that size, which overlap by 64 KiB.
    Regex(String),
}

/// The outputs to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// This output.
    Handle(String),
    /// All outputs of this session.
    Session(String),
    /// All outputs.
    All,
}

/// A search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The text or pattern to find.
    pub needle: Needle,
    /// The outputs to search.
    pub scope: Scope,
    /// Lines to return before and after each row, up to [`MOST_CONTEXT`].
    pub context: usize,
    /// Rows to return, up to [`MOST_ROWS`].
    pub limit: usize,
}

/// A line with a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The output.
    pub handle: Handle,
    /// The line, from 1.
    pub line: u64,
    /// The line without its end, or the part of it around the hit.
    pub text: String,
    /// The lines before.
    pub before: Vec<String>,
    /// The lines after.
    pub after: Vec<String>,
    /// Chars from the start of the output to the hit.
    pub offset: u64,
    /// Chars of `text` before the hit.
    pub start: usize,
    /// Chars of `text` up to the end of the hit.
    pub end: usize,
    /// Whether `text` is only a part of its line.
    pub cut: bool,
}

/// The result of a search: the newest output first, then by line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The rows. Further hits in a line that a row shows have no row of their own.
    pub matches: Vec<Match>,
    /// Whether there are more.
    pub more: bool,
    /// Bytes of the outputs that were searched.
    pub searched_bytes: u64,
}
