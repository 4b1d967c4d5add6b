//! `context.episode`: sub-tasks that the agent opens and closes.

use serde::{Deserialize, Serialize};

use crate::Json;

/// What becomes of an episode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EpisodeAction {
    /// What is said from now on belongs to it.
    #[default]
    Open,
    /// It is done.
    Close,
}

/// Params of `context.episode`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EpisodeParams {
    /// The session's id.
    pub session: String,
    /// Whether it begins or ends.
    pub action: EpisodeAction,
    /// What it is about; up to 120 chars of one line.
    pub title: String,
    /// What came of it, where it ends; up to 300 chars of one line.
    pub outcome: Option<String>,
    /// The list as it is now; the appended messages when it is left out.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
}

/// Result of `context.episode`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EpisodeResult {
    /// The title as it is kept: without secrets, in one line.
    pub title: String,
    /// Messages that the next compression takes out of the list; 0 where it begins.
    pub messages: u64,
    /// Tokens that they take now, by estimate.
    pub tokens: u64,
    /// Titles of the episodes that are open now, oldest first.
    pub open: Vec<String>,
}
