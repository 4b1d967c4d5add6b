//! Why something could not be done, in the daemon's own words. What a client is told of it is
//! decided in `wire/rpc_error.rs` alone.

use std::fmt::Display;
use std::sync::Arc;

use herma_archive::ArchiveError;
use herma_disk::DiskError;
use herma_memory::StoreError;
use herma_memory::files::{FileDenied, FileRefusal};
use herma_shared::SharedError;
use herma_spill::SpillError;

/// What a service answers.
pub(crate) type Outcome<T> = Result<T, Error>;

/// Why something could not be done. Texts are for people and name what to do next.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Error {
    /// An argument that can't be used.
    #[error("param `{name}`: {words}")]
    Param {
        /// Its name, as the caller wrote it.
        name: String,
        /// What is wrong with it.
        words: String,
    },
    /// Arguments that can't be used together.
    #[error("{0}")]
    Params(String),
    /// Nothing has that name.
    #[error("{0}")]
    NotFound(String),
    /// No write of that id waits for approval.
    #[error("no write {id:?} waits for approval; nothing was done")]
    NoPendingWrite {
        /// Its beginning, for it came from outside.
        id: String,
    },
    /// It has changed, or belongs to something else.
    #[error("{0}")]
    Conflict(String),
    /// A store is at another revision than the caller saw.
    #[error("{file} is at revision {revision}, not {expected}; read it again")]
    StaleRevision {
        /// The file's name.
        file: &'static str,
        /// The one that the caller saw.
        expected: u64,
        /// The one there is.
        revision: u64,
        /// What the store holds now, as a model may see it.
        entries: Vec<String>,
    },
    /// A transcript goes on elsewhere.
    #[error("{words}")]
    StalePosition {
        /// Where.
        words: String,
        /// The session's generation.
        generation: u64,
        /// The position of the next message.
        position: u64,
    },
    /// The connection that staged a write can't approve it.
    #[error("{id} was staged on this very connection; somebody else has to approve it")]
    OwnWrite {
        /// The write.
        id: String,
    },
    /// Over a named limit.
    #[error("{0}")]
    TooLarge(String),
    /// A full queue, or something that is being done already.
    #[error("{0}")]
    Busy(String),
    /// Nobody waits for it any more.
    #[error("{0}")]
    Cancelled(&'static str),
    /// A part that is needed is not in use.
    #[error("{0}")]
    Unavailable(String),
    /// A fault of herma itself; the log says more.
    #[error("{0} failed inside herma; its log says more")]
    Internal(String),
    /// A file operation that failed.
    #[error(transparent)]
    Disk(Arc<DiskError>),
    /// A store that can't be used.
    #[error(transparent)]
    Store(Arc<StoreError>),
    /// An output that can't be given.
    #[error(transparent)]
    Output(Arc<SpillError>),
    /// What the shared database says.
    #[error("{}", shared_words(.0))]
    Shared(SharedError),
    /// What may not be done with memory files.
    #[error("{0}")]
    Files(Arc<FileRefusal>),
    /// What the shared database says to somebody who reads.
    #[error("{0}")]
    Unread(SharedError),
    /// A failure of the archive.
    #[error("{}", archive_words(.0))]
    Archive(Arc<ArchiveError>),
}

impl Error {
    /// An argument that can't be used.
    pub(crate) fn param(name: &str, words: impl Display) -> Self {
        Self::Param { name: name.to_owned(), words: words.to_string() }
    }

    /// A full queue.
    pub(crate) fn overloaded(what: &str) -> Self {
        Self::Busy(format!("{what} has too much to do; try again in a moment"))
    }

    /// A fault of herma itself.
    pub(crate) fn internal(what: &str) -> Self {
        Self::Internal(what.to_owned())
    }

    /// Whether there is nothing of that name.
    pub(crate) fn is_missing(&self) -> bool {
        match self {
            Self::NotFound(_) => true,
            Self::Output(error) => matches!(**error, SpillError::NotFound(_) | SpillError::Expired { .. }),
            _ => false,
        }
    }

    /// Whether the caller asked for what can't be, so that the same call will fail again.
    pub(crate) fn is_callers(&self) -> bool {
        match self {
            Self::Archive(error) => matches!(**error, ArchiveError::NoSession { .. } | ArchiveError::Misfit { .. }),
            Self::Param { .. }
            | Self::Params(_)
            | Self::NotFound(_)
            | Self::Conflict(_)
            | Self::TooLarge(_)
            | Self::Files(_)
            | Self::Cancelled(_) => true,
            _ => false,
        }
    }
}

fn shared_words(error: &SharedError) -> String {
    match error {
        SharedError::Unreachable(_) | SharedError::Contended(_) => {
            format!("{error}. Nothing was written, neither there nor here")
        }
        SharedError::Unsettled(_) => format!("{error}. Read the store again before the same is tried again"),
        _ => error.to_string(),
    }
}

fn archive_words(error: &ArchiveError) -> String {
    match error {
        ArchiveError::Damaged { .. } => {
            "the archive is damaged; it is set aside and a new one begun: try again".to_owned()
        }
        error if error.is_locked() => {
            "another program has the archive locked; nothing was done. Try again when it is done".to_owned()
        }
        other => other.to_string(),
    }
}

impl From<DiskError> for Error {
    fn from(error: DiskError) -> Self {
        Self::Disk(Arc::new(error))
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Disk(error) => error.into(),
            other => Self::Store(Arc::new(other)),
        }
    }
}

impl From<FileDenied> for Error {
    fn from(denied: FileDenied) -> Self {
        match denied {
            FileDenied::Refused(refusal) => Self::Files(Arc::new(refusal)),
            FileDenied::NotKept { revision, kept } => {
                let kept = kept.map_or_else(
                    || "the journal is empty".to_owned(),
                    |(oldest, newest)| format!("{oldest} to {newest} are"),
                );
                Self::NotFound(format!("revision {revision} of the memory files is not kept; {kept}"))
            }
            FileDenied::Store(error) => error.into(),
        }
    }
}

impl From<SpillError> for Error {
    fn from(error: SpillError) -> Self {
        match error {
            SpillError::Disk(error) => error.into(),
            SpillError::Pattern(_) => Self::param("query", error),
            SpillError::Outside(_) => Self::param("path", error),
            SpillError::NotJson(_) => Self::param("view", error),
            other => Self::Output(Arc::new(other)),
        }
    }
}

impl From<Arc<ArchiveError>> for Error {
    fn from(error: Arc<ArchiveError>) -> Self {
        Self::Archive(error)
    }
}
