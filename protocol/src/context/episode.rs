//! `context.episode`: sub-tasks that the agent opens and closes.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Whether an episode is opened or closed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EpisodeAction {
    /// Open the episode: later messages belong to it.
    #[default]
    Open,
    /// Close the episode: it is done.
    Close,
}

/// Params of `context.episode`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EpisodeParams {
    /// The session's id.
    pub session: String,
    /// Whether to open or close the episode.
    pub action: EpisodeAction,
    /// Its subject; one line of up to 120 chars.
    pub title: String,
    /// Its outcome, when it is closed; one line of up to 300 chars.
    pub outcome: Option<String>,
    /// The current list; the messages appended to the session when absent.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub messages: Option<Vec<Json>>,
}

/// Result of `context.episode`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EpisodeResult {
    /// The title as stored: without secrets, in one line.
    pub title: String,
    /// Number of messages that the next compression removes from the list; 0 when the episode is opened.
    pub messages: u64,
    /// Estimated tokens of these messages now.
    pub tokens: u64,
    /// Titles of the open episodes, oldest first.
    pub open: Vec<String>,
}
