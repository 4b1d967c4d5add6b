//! Notifications that the daemon sends to subscribed connections.

use serde::{Deserialize, Serialize};

use crate::context::Report;
use crate::ledger::Change;
use crate::memory::Target;
use crate::nearest::nearest;
use crate::output::shelf::Reason;

/// A topic to subscribe to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// `memory.changed`: a store has a new revision.
    MemoryChanged,
    /// `files.changed`: the memory files of a profile have a new revision.
    FilesChanged,
    /// `compression.progress`: a compression has reached its next phase.
    CompressionProgress,
    /// `compression.done`: a compression has ended.
    CompressionDone,
    /// `output.expired`: a spilled output was removed because of its age or the quota.
    OutputExpired,
    /// `session.expired`: a closed session left the archive because of its age or the quota, or a session was removed.
    SessionExpired,
    /// `session.changed`: a session was opened, resumed, updated or closed.
    SessionChanged,
    /// `messages.appended`: messages of a session were archived.
    MessagesAppended,
    /// `output.spilled`: a large tool output was spilled.
    OutputSpilled,
    /// `memory.refused`: a write of a store was refused.
    MemoryRefused,
    /// `window.changed`: herma changed the context window of a session, through a hook for instance.
    WindowChanged,
}

impl Topic {
    /// All topics.
    pub const ALL: [Self; 11] = [
        Self::MemoryChanged,
        Self::FilesChanged,
        Self::CompressionProgress,
        Self::CompressionDone,
        Self::OutputExpired,
        Self::SessionExpired,
        Self::SessionChanged,
        Self::MessagesAppended,
        Self::OutputSpilled,
        Self::MemoryRefused,
        Self::WindowChanged,
    ];

    /// Returns its name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MemoryChanged => "memory.changed",
            Self::FilesChanged => "files.changed",
            Self::CompressionProgress => "compression.progress",
            Self::CompressionDone => "compression.done",
            Self::OutputExpired => "output.expired",
            Self::SessionExpired => "session.expired",
            Self::SessionChanged => "session.changed",
            Self::MessagesAppended => "messages.appended",
            Self::OutputSpilled => "output.spilled",
            Self::MemoryRefused => "memory.refused",
            Self::WindowChanged => "window.changed",
        }
    }

    /// Returns the topic with this name.
    ///
    /// # Errors
    /// An unknown name; the error suggests the nearest topic.
    pub fn from_name(name: &str) -> Result<Self, UnknownTopic> {
        Self::ALL.into_iter().find(|topic| topic.name() == name).ok_or_else(|| {
            let shown: String = name.chars().take(80).collect();
            let near = nearest(&shown, Self::ALL.into_iter().map(Self::name)).map(str::to_owned);
            UnknownTopic { shown, near }
        })
    }
}

/// The error for a name that is not a topic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no topic {shown:?}; {}", match near {
    Some(near) => format!("did you mean {near:?}?"),
    None => format!("known are {}", Topic::ALL.map(Topic::name).join(", ")),
})]
pub struct UnknownTopic {
    shown: String,
    near: Option<String>,
}

/// A notification. Later versions may add kinds; a client ignores those that it doesn't know.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Notification {
    /// `memory.changed`
    MemoryChanged(MemoryChanged),
    /// `files.changed`
    FilesChanged(FilesChanged),
    /// `output.expired`
    OutputExpired(OutputExpired),
    /// `session.expired`
    SessionExpired(SessionExpired),
    /// `compression.progress`
    CompressionProgress(CompressionProgress),
    /// `compression.done`
    CompressionDone(Box<CompressionDone>),
    /// `session.changed`
    SessionChanged(SessionChanged),
    /// `messages.appended`
    MessagesAppended(MessagesAppended),
    /// `output.spilled`
    OutputSpilled(OutputSpilled),
    /// `memory.refused`
    MemoryRefused(MemoryRefused),
    /// `window.changed`
    WindowChanged(WindowChanged),
}

impl Notification {
    /// Returns the topic of the notification.
    #[must_use]
    pub const fn topic(&self) -> Topic {
        match self {
            Self::MemoryChanged(_) => Topic::MemoryChanged,
            Self::FilesChanged(_) => Topic::FilesChanged,
            Self::OutputExpired(_) => Topic::OutputExpired,
            Self::SessionExpired(_) => Topic::SessionExpired,
            Self::CompressionProgress(_) => Topic::CompressionProgress,
            Self::CompressionDone(_) => Topic::CompressionDone,
            Self::SessionChanged(_) => Topic::SessionChanged,
            Self::MessagesAppended(_) => Topic::MessagesAppended,
            Self::OutputSpilled(_) => Topic::OutputSpilled,
            Self::MemoryRefused(_) => Topic::MemoryRefused,
            Self::WindowChanged(_) => Topic::WindowChanged,
        }
    }

    /// Reads the JSON text of a notification's params. Ignores fields that this build doesn't know.
    pub(crate) fn from_json(topic: Topic, params: &str) -> Result<Self, serde_json::Error> {
        match topic {
            Topic::MemoryChanged => serde_json::from_str(params).map(Self::MemoryChanged),
            Topic::FilesChanged => serde_json::from_str(params).map(Self::FilesChanged),
            Topic::OutputExpired => serde_json::from_str(params).map(Self::OutputExpired),
            Topic::SessionExpired => serde_json::from_str(params).map(Self::SessionExpired),
            Topic::CompressionProgress => serde_json::from_str(params).map(Self::CompressionProgress),
            Topic::CompressionDone => serde_json::from_str(params).map(Self::CompressionDone),
            Topic::SessionChanged => serde_json::from_str(params).map(Self::SessionChanged),
            Topic::MessagesAppended => serde_json::from_str(params).map(Self::MessagesAppended),
            Topic::OutputSpilled => serde_json::from_str(params).map(Self::OutputSpilled),
            Topic::MemoryRefused => serde_json::from_str(params).map(Self::MemoryRefused),
            Topic::WindowChanged => serde_json::from_str(params).map(Self::WindowChanged),
        }
    }
}

/// A compression has reached its next phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompressionProgress {
    /// The session.
    pub session: String,
    /// The phase that it is in now.
    pub phase: Phase,
    /// The completed fraction of the compression, 0 to 1.
    pub done: f64,
}

/// A phase of a compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Shortening old tool outputs.
    Prune,
    /// A summarizer writes the summary.
    Summarise,
    /// Checking the summary.
    Check,
    /// Building the new list, and archiving what leaves the old one.
    Assemble,
}

/// A compression has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompressionDone {
    /// The session.
    pub session: String,
    /// What the compression did.
    pub report: Report,
}

/// A store has a new revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryChanged {
    /// The profile.
    pub profile: String,
    /// The store.
    pub target: Target,
    /// Its new revision.
    pub revision: u64,
    /// What caused it.
    pub cause: Cause,
    /// The session that wrote; null if the request named none.
    pub session: Option<String>,
    /// The agent that wrote, if the request named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// The memory files of a profile have a new revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesChanged {
    /// The profile.
    pub profile: String,
    /// Their new revision.
    pub revision: u64,
    /// What caused it.
    pub cause: Cause,
    /// The paths of the changed files, at most 1,000.
    pub paths: Vec<String>,
    /// The session that wrote; null if the request named none.
    pub session: Option<String>,
    /// The agent that wrote, if the request named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// The cause of a new revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// A write through the daemon.
    Write,
    /// Another program changed the file.
    External,
    /// `memory.undo` or `files.undo`.
    Undo,
    /// `memory.restore` or `files.restore`.
    Restore,
}

/// A spilled output was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputExpired {
    /// Its handle.
    pub handle: String,
    /// The session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The call's id.
    pub id: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// SHA-256 of its UTF-8 text, in hex.
    pub sha256: String,
    /// Why it was removed.
    pub reason: Reason,
}

/// A session was removed with everything stored for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionExpired {
    /// Its id.
    pub session: String,
    /// Number of its messages.
    pub messages: u64,
    /// Bytes of their JSON.
    pub bytes: u64,
    /// Why it was removed.
    pub reason: Reason,
}

/// A session was opened, resumed, updated or closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionChanged {
    /// Its id.
    pub session: String,
    /// Its profile.
    pub profile: String,
    /// What happened.
    pub change: SessionChange,
    /// Its agent; null if the request named none.
    pub agent: Option<String>,
    /// Its title; null if the request named none.
    pub title: Option<String>,
    /// The folder that the agent works in; null if the request named none.
    pub cwd: Option<String>,
}

/// What happened to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionChange {
    /// It is new.
    Opened,
    /// It existed, and a client opened it again.
    Resumed,
    /// More is known of it.
    Updated,
    /// It was closed.
    Closed,
}

/// Messages of a session were archived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessagesAppended {
    /// The session.
    pub session: String,
    /// The generation of its list.
    pub generation: u64,
    /// The position of the next message: how many there are now.
    pub position: u64,
}

/// A large tool output was spilled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputSpilled {
    /// Its handle.
    pub handle: String,
    /// The session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The call's id.
    pub id: String,
    /// Its length in chars.
    pub chars: u64,
    /// SHA-256 of its UTF-8 text, in hex.
    pub sha256: String,
}

/// A write of a store was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryRefused {
    /// The profile.
    pub profile: String,
    /// The store; null if the request named none that there is.
    pub target: Option<Target>,
    /// The session that wrote; null if the request named none.
    pub session: Option<String>,
    /// The agent that wrote; null if the request named none.
    pub agent: Option<String>,
    /// The error that the writer got.
    pub error: String,
}

/// herma changed the context window of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowChanged {
    /// The session.
    pub session: String,
    /// The changes, as the client recorded them.
    pub changes: Vec<Change>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_found_by_name_and_near_misses_are_told() {
        for topic in Topic::ALL {
            assert_eq!(Topic::from_name(topic.name()), Ok(topic));
        }
        let error = Topic::from_name("memory.change").map_err(|error| error.to_string());
        assert_eq!(error, Err("there is no topic \"memory.change\"; did you mean \"memory.changed\"?".into()));
    }
}
