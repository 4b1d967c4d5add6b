//! Looking for a text or a pattern in outputs.

use crate::handle::Handle;

pub(crate) mod needle;
pub(crate) mod shown;

/// Rows when nothing else is asked for.
pub const ROWS: usize = 50;

/// Rows at most.
pub const MOST_ROWS: usize = 1_000;

/// Lines before and after a row at most.
pub const MOST_CONTEXT: usize = 20;

/// Longest query, in chars.
pub const LONGEST: usize = 1_000;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Needle {
    /// This text, letter for letter.
    Literal(String),
    /// This pattern, line by line: `^` and `$` are the ends of a line. A line of more than
    /// 1 MiB is looked at in pieces of that size, which overlap by 64 KiB.
    Regex(String),
}

/// Where it is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// In this output.
    Handle(String),
    /// In all outputs of this session.
    Session(String),
    /// In all outputs.
    All,
}

/// A search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// What is looked for.
    pub needle: Needle,
    /// Where.
    pub scope: Scope,
    /// Lines to give before and after each row, up to [`MOST_CONTEXT`].
    pub context: usize,
    /// Rows to give, up to [`MOST_ROWS`].
    pub limit: usize,
}

/// A line in which it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The output.
    pub handle: Handle,
    /// The line, from 1.
    pub line: u64,
    /// The line without its end, or the part of it round the hit.
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
    /// `text` is a part of its line only.
    pub cut: bool,
}

/// What was found: the newest output first, then by line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The rows. Further hits in a line that a row shows have no row of their own.
    pub matches: Vec<Match>,
    /// There are more.
    pub more: bool,
    /// Bytes of the outputs that were looked at.
    pub searched_bytes: u64,
}
