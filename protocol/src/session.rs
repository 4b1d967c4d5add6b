//! Params and results of the session methods.

pub mod chain;
pub mod import;
pub mod lock;
pub mod messages;
pub mod transcript;
pub mod usage;

use serde::{Deserialize, Serialize};

/// Params of `session.open`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpenParams {
    /// The session's id, chosen by the agent: 1 to 1,024 chars without control characters.
    pub session: String,
    /// The agent.
    pub agent: Option<String>,
    /// The parent session.
    pub parent: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// The model in use.
    pub model: Option<String>,
    /// The model's window in tokens, at least 1.
    pub context_length: Option<u64>,
    /// Whether messages and outputs of the session stay on this host. Once set, it stays set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_bound: Option<bool>,
    /// The working directory of the agent; at most 4,096 chars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The branch of the working directory's repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether the messages and outputs of the session are read from the files of another program. Parts that a person
    /// marked as private are not stored then, and secrets are masked as `archive.redact` in the configuration says. Once
    /// set, it stays set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<bool>,
}

/// Result of `session.open`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpenResult {
    /// The session's id.
    pub session: String,
    /// Incremented by each in-place compression, from 0.
    pub generation: u64,
    /// Whether the session already existed; the snapshot is then the old one.
    pub resumed: bool,
    /// The frozen memory blocks.
    pub snapshot: Snapshot,
    /// The host that owned the session until now; absent if it was this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
}

/// Params of `session.snapshot`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SnapshotParams {
    /// The session's id.
    pub session: String,
}

/// Params of `session.refresh`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RefreshParams {
    /// The session's id.
    pub session: String,
}

/// The rendered blocks of both stores, frozen for a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Snapshot {
    /// The block of MEMORY.md; null if it was empty.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub memory: Option<String>,
    /// The block of USER.md; null if it was empty.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub user: Option<String>,
    /// SHA-256 in hex of memory block, newline and user block; a missing block counts as empty.
    pub sha256: String,
    /// The revisions of the stores in the snapshot.
    pub revision: Revisions,
}

/// The revisions of a profile's two stores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Revisions {
    /// The revision of MEMORY.md.
    pub memory: u64,
    /// The revision of USER.md.
    pub user: u64,
}

/// Params of `session.update`. What is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SessionUpdateParams"))]
pub struct UpdateParams {
    /// The session's id.
    pub session: String,
    /// A title for people.
    pub title: Option<String>,
    /// The model in use.
    pub model: Option<String>,
    /// The model's window in tokens, at least 1.
    pub context_length: Option<u64>,
    /// The working directory of the agent; at most 4,096 chars.
    pub cwd: Option<String>,
    /// The branch of the working directory's repository.
    pub branch: Option<String>,
}

/// Result of `session.update`: an empty object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SessionUpdateResult"))]
pub struct UpdateResult {}

/// Params of `session.close`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CloseParams {
    /// The session's id.
    pub session: String,
    /// The reason; `closed` when absent. The first reason is kept until the session is opened again.
    pub reason: Option<String>,
}

/// Result of `session.close`: an empty object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CloseResult {}
