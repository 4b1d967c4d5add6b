//! What the daemon tells a connection that has subscribed, without being asked.

use serde::{Deserialize, Serialize};

use crate::context::Report;
use crate::memory::Target;
use crate::nearest::nearest;
use crate::output::shelf::Reason;

/// What can be subscribed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// `memory.changed`: a store has a new revision.
    MemoryChanged,
    /// `files.changed`: the memory files of a profile have a new revision.
    FilesChanged,
    /// `compression.progress`: a compression has come to its next phase.
    CompressionProgress,
    /// `compression.done`: a compression is over.
    CompressionDone,
    /// `output.expired`: a spilled output was removed because of its age or the
    /// quota.
    OutputExpired,
    /// `session.expired`: a closed session left the archive because of its age or the
    /// quota, or a session was removed.
    SessionExpired,
}

impl Topic {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::MemoryChanged,
        Self::FilesChanged,
        Self::CompressionProgress,
        Self::CompressionDone,
        Self::OutputExpired,
        Self::SessionExpired,
    ];

    /// Its name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MemoryChanged => "memory.changed",
            Self::FilesChanged => "files.changed",
            Self::CompressionProgress => "compression.progress",
            Self::CompressionDone => "compression.done",
            Self::OutputExpired => "output.expired",
            Self::SessionExpired => "session.expired",
        }
    }

    /// The topic of that name.
    ///
    /// # Errors
    /// A name that is none, with the nearest one.
    pub fn from_name(name: &str) -> Result<Self, UnknownTopic> {
        Self::ALL.into_iter().find(|topic| topic.name() == name).ok_or_else(|| {
            let shown: String = name.chars().take(80).collect();
            let near = nearest(&shown, Self::ALL.into_iter().map(Self::name)).map(str::to_owned);
            UnknownTopic { shown, near }
        })
    }
}

/// A name that is no topic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no topic {shown:?}; {}", match near {
    Some(near) => format!("did you mean {near:?}?"),
    None => format!("known are {}", Topic::ALL.map(Topic::name).join(", ")),
})]
pub struct UnknownTopic {
    shown: String,
    near: Option<String>,
}

/// A notification. More kinds will follow; a client that doesn't know one passes over it.
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
}

impl Notification {
    /// Who wants to be told.
    #[must_use]
    pub const fn topic(&self) -> Topic {
        match self {
            Self::MemoryChanged(_) => Topic::MemoryChanged,
            Self::FilesChanged(_) => Topic::FilesChanged,
            Self::OutputExpired(_) => Topic::OutputExpired,
            Self::SessionExpired(_) => Topic::SessionExpired,
            Self::CompressionProgress(_) => Topic::CompressionProgress,
            Self::CompressionDone(_) => Topic::CompressionDone,
        }
    }

    /// Reads the text of a notification's params; fields that this build doesn't know are
    /// ignored.
    pub(crate) fn from_json(topic: Topic, params: &str) -> Result<Self, serde_json::Error> {
        match topic {
            Topic::MemoryChanged => serde_json::from_str(params).map(Self::MemoryChanged),
            Topic::FilesChanged => serde_json::from_str(params).map(Self::FilesChanged),
            Topic::OutputExpired => serde_json::from_str(params).map(Self::OutputExpired),
            Topic::SessionExpired => serde_json::from_str(params).map(Self::SessionExpired),
            Topic::CompressionProgress => serde_json::from_str(params).map(Self::CompressionProgress),
            Topic::CompressionDone => serde_json::from_str(params).map(Self::CompressionDone),
        }
    }
}

/// A compression has come to its next phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompressionProgress {
    /// The session.
    pub session: String,
    /// What it does now.
    pub phase: Phase,
    /// How much of the whole is done, 0 to 1.
    pub done: f64,
}

/// What a compression does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Old tool outputs are made shorter.
    Prune,
    /// A summarizer writes.
    Summarise,
    /// What it wrote is checked.
    Check,
    /// The new list is put together, and what leaves the old one is archived.
    Assemble,
}

/// A compression is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompressionDone {
    /// The session.
    pub session: String,
    /// What it did.
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
    /// How it came about.
    pub cause: Cause,
    /// The session that wrote; null when none was named.
    pub session: Option<String>,
}

/// The memory files of a profile have a new revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesChanged {
    /// The profile.
    pub profile: String,
    /// Their new revision.
    pub revision: u64,
    /// How it came about.
    pub cause: Cause,
    /// The files that changed, at most 1,000 of them.
    pub paths: Vec<String>,
    /// The session that wrote; null when none was named.
    pub session: Option<String>,
}

/// How a new revision came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// A write through the daemon.
    Write,
    /// Another program changed the file.
    External,
    /// `memory.undo`, `files.undo`
    Undo,
    /// `memory.restore`, `files.restore`
    Restore,
}

/// A spilled output is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputExpired {
    /// What named it.
    pub handle: String,
    /// The session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The call's id.
    pub id: String,
    /// Its bytes.
    pub bytes: u64,
    /// Hex, of its text in UTF-8.
    pub sha256: String,
    /// Why.
    pub reason: Reason,
}

/// A session is gone, with all that was kept of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionExpired {
    /// Its id.
    pub session: String,
    /// Its messages.
    pub messages: u64,
    /// Bytes of their JSON texts.
    pub bytes: u64,
    /// Why.
    pub reason: Reason,
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
