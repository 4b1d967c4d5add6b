//! `output.search`.

use serde::{Deserialize, Serialize};

/// Params of `output.search`: searches one output, those of a session, or all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SearchParams {
    /// The text to search for: 1 to 1,000 chars, matched exactly.
    pub query: String,
    /// Whether the query is a regular expression, matched line by line.
    pub regex: Option<bool>,
    /// Only this output.
    pub handle: Option<String>,
    /// Only outputs of this session.
    pub session: Option<String>,
    /// Number of lines to return before and after each match, up to 20; none when absent.
    pub context: Option<u64>,
    /// The most matches to return, up to 1,000; 50 when absent.
    pub limit: Option<u64>,
}

/// Result of `output.search`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SearchResult {
    /// The matches, newest output first.
    pub matches: Vec<Match>,
    /// Whether there are more matches.
    pub more: bool,
}

/// A matching line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "OutputMatch"))]
pub struct Match {
    /// The handle of the output.
    pub handle: String,
    /// The number of the line, from 1.
    pub line: u64,
    /// The text of the line; if it has more than 2,000 chars, the part around the match.
    pub text: String,
    /// The lines before it.
    pub before: Vec<String>,
    /// The lines after it.
    pub after: Vec<String>,
    /// Start of the match in the output, in chars: a valid `offset` for `output.read`.
    pub offset: u64,
    /// Start of the match in `text`, in chars.
    pub start: u64,
    /// End of the match in `text`, in chars.
    pub end: u64,
    /// Whether `text` is only a part of the line.
    pub cut: bool,
}
