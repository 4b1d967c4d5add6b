//! What there is of sessions, and how those hang together that a compression or
//! a branch made out of each other.

use serde::{Deserialize, Serialize};

use super::usage::Totals;

/// A session as `session.show` and `session.list` give it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SessionRow"))]
pub struct Row {
    /// Its id.
    pub session: String,
    /// The session that it came out of.
    pub parent: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// Which agent.
    pub agent: Option<String>,
    /// The model that it uses.
    pub model: Option<String>,
    /// The profile that it belongs to.
    pub profile: String,
    /// Grows by one with each in-place compression, from 0.
    pub generation: u64,
    /// When it was first opened, in Unix seconds. Of a compressed chain in
    /// `session.list`: when its root was.
    pub started_at: f64,
    /// When it ended; null while it is open.
    pub ended_at: Option<f64>,
    /// Why it ended.
    pub end_reason: Option<String>,
    /// Messages that are kept of it.
    pub messages: u64,
    /// Tool calls in them.
    pub tool_calls: u64,
    /// What its calls of models used.
    pub usage: Totals,
    /// The session that its chain of compressions began with.
    pub lineage_root: String,
    /// The beginning of what the user first said; empty when nothing is kept.
    pub preview: String,
    /// When it last did something, in Unix seconds.
    pub last_active: f64,
    /// The folder that the agent worked in, when that is known.
    pub cwd: Option<String>,
    /// The file of another program that it was imported from.
    pub source: Option<String>,
}

/// Params of `session.show`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShowParams {
    /// The session's id.
    pub session: String,
}

/// Params of `session.list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListParams {
    /// Rows at most; 50 when absent, up to 1,000.
    pub limit: Option<u64>,
    /// Only sessions whose root began before this, in Unix seconds: the
    /// `started_at` of the last row of the page before.
    pub before: Option<f64>,
    /// Every session as it is, instead of roots and branches with a compressed
    /// chain as its tip.
    pub raw: Option<bool>,
}

/// Result of `session.list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListResult {
    /// The sessions, newest root first.
    pub sessions: Vec<Row>,
}

/// Params of `session.tip`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TipParams {
    /// The session's id.
    pub session: String,
}

/// Result of `session.tip` and `session.resume_target`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SessionId {
    /// The session's id.
    pub session: String,
}

/// Params of `session.resume_target`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ResumeTargetParams {
    /// The session's id.
    pub session: String,
}

/// Params of `session.next_title`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NextTitleParams {
    /// The title of the session that is continued.
    pub title: String,
}

/// Result of `session.next_title`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NextTitleResult {
    /// The title of the continuation.
    pub title: String,
}
