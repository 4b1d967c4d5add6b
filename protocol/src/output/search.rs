//! `output.search`.

use serde::{Deserialize, Serialize};

/// Params of `output.search`: in one output, in those of a session, or in all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SearchParams {
    /// What is looked for: 1 to 1,000 chars, exactly as they are.
    pub query: String,
    /// Take the query as a regular expression; it is matched line by line.
    pub regex: Option<bool>,
    /// Only in this output.
    pub handle: Option<String>,
    /// Only in the outputs of this session.
    pub session: Option<String>,
    /// Lines to show before and after each match; none when absent, up to 20.
    pub context: Option<u64>,
    /// Matches at most; 50 when absent, up to 1,000.
    pub limit: Option<u64>,
}

/// Result of `output.search`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SearchResult {
    /// The matches, newest output first.
    pub matches: Vec<Match>,
    /// There are more than were asked for.
    pub more: bool,
}

/// A line that matches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "OutputMatch"))]
pub struct Match {
    /// The output.
    pub handle: String,
    /// The line, from 1.
    pub line: u64,
    /// The line; of one beyond 2,000 chars the part around the match.
    pub text: String,
    /// The lines before it.
    pub before: Vec<String>,
    /// The lines after it.
    pub after: Vec<String>,
    /// Where the match begins in the output, in chars: `output.read` takes it as
    /// `offset`.
    pub offset: u64,
    /// Where the match begins in `text`, in chars.
    pub start: u64,
    /// Where it ends in `text`, in chars.
    pub end: u64,
    /// `text` is not the whole line.
    pub cut: bool,
}
