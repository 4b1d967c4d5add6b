//! Lists sessions and the chains that compressions and branches form.

use serde::{Deserialize, Serialize};

use super::usage::Totals;

/// A session in the result of `session.show` and `session.list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SessionRow"))]
pub struct Row {
    /// Its id.
    pub session: String,
    /// The parent session.
    pub parent: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The model that it uses.
    pub model: Option<String>,
    /// The profile that it belongs to.
    pub profile: String,
    /// Incremented by each in-place compression, from 0.
    pub generation: u64,
    /// When it was first opened, in Unix seconds. For a compressed chain in `session.list`, when its root was opened.
    pub started_at: f64,
    /// When it ended, in Unix seconds; null while it is open.
    pub ended_at: Option<f64>,
    /// Why it ended.
    pub end_reason: Option<String>,
    /// Number of its stored messages.
    pub messages: u64,
    /// Number of tool calls in them.
    pub tool_calls: u64,
    /// Tokens of its model calls.
    pub usage: Totals,
    /// The first session in its chain of compressions.
    pub lineage_root: String,
    /// The beginning of the user's first message; empty if no message is stored.
    pub preview: String,
    /// When it was last active, in Unix seconds.
    pub last_active: f64,
    /// The working directory of the agent, if known.
    pub cwd: Option<String>,
    /// The file of another program from which it was imported.
    pub source: Option<String>,
    /// The branch of the working directory's repository; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The model's window in tokens; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_length: Option<u64>,
    /// Tokens of its newest model call's prompt; absent if no call was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_prompt: Option<u64>,
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
    /// The most rows to return, up to 1,000; 50 when absent.
    pub limit: Option<u64>,
    /// Only sessions whose root began before this time, in Unix seconds. For the next page, the
    /// `started_at` of the last row.
    pub before: Option<f64>,
    /// Whether to return every session separately. Otherwise the rows are roots and branches, and a
    /// compressed chain is represented by its tip.
    pub raw: Option<bool>,
    /// Only sessions of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only sessions whose agent worked in this folder or below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Only sessions on this branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Only sessions that were active since this time, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<f64>,
    /// Only sessions with this text in their title, preview, folder or branch, in upper or lower case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Only sessions whose id begins with this, or the part of it after the agent's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
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
    /// The title of the session to continue.
    pub title: String,
}

/// Result of `session.next_title`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NextTitleResult {
    /// The title of the continuation.
    pub title: String,
}
