//! The errors of the daemon. Only `wire/rpc_error.rs` decides what a client sees of them.

use std::fmt::Display;
use std::sync::Arc;

use herma_archive::ArchiveError;
use herma_disk::DiskError;
use herma_memory::StoreError;
use herma_memory::files::{FileRefusal, FileStoreError};
use herma_shared::SharedError;
use herma_spill::SpillError;

/// The result of a service.
pub(crate) type Outcome<T> = Result<T, Error>;

/// An error of the daemon. The texts are for people and name the next step.
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
    /// No item has this name.
    #[error("{0}")]
    NotFound(String),
    /// No write with this id waits for approval.
    #[error("no write {id:?} waits for approval; nothing was done")]
    NoPendingWrite {
        /// The beginning of the id, because it came from a client.
        id: String,
    },
    /// The item has changed, or belongs to something else.
    #[error("{0}")]
    Conflict(String),
    /// A store is at another revision than the caller saw.
    #[error("{file} is at revision {revision}, not {expected}; read it again")]
    StaleRevision {
        /// The file's name.
        file: &'static str,
        /// The revision that the caller saw.
        expected: u64,
        /// The current revision.
        revision: u64,
        /// The current entries of the store, as a model may see them.
        entries: Vec<String>,
    },
    /// A transcript continues at another position.
    #[error("{words}")]
    StalePosition {
        /// The message, which names the position.
        words: String,
        /// The session's generation.
        generation: u64,
        /// The position of the next message.
        position: u64,
    },
    /// A connection must not approve the write that it staged.
    #[error("{id} was staged on this very connection; somebody else has to approve it")]
    OwnWrite {
        /// The id of the write.
        id: String,
    },
    /// The size exceeds a named limit.
    #[error("{0}")]
    TooLarge(String),
    /// A queue is full, or the work is already in progress.
    #[error("{0}")]
    Busy(String),
    /// The caller no longer waits for the answer.
    #[error("{0}")]
    Cancelled(&'static str),
    /// A part that the request needs is not in use.
    #[error("{0}")]
    Unavailable(String),
    /// A bug in herma; the log has the details.
    #[error("{0} failed inside herma; its log says more")]
    Internal(String),
    /// A failed file operation.
    #[error(transparent)]
    Disk(Arc<DiskError>),
    /// A memory store that can't be used.
    #[error(transparent)]
    Store(Arc<StoreError>),
    /// An output that can't be read.
    #[error(transparent)]
    Output(Arc<SpillError>),
    /// An error of the shared database.
    #[error("{}", shared_words(.0))]
    Shared(SharedError),
    /// A refused operation on memory files.
    #[error("{0}")]
    Files(Arc<FileRefusal>),
    /// An error of the shared database while reading from it.
    #[error("{0}")]
    SharedRead(SharedError),
    /// A failure of the archive.
    #[error("{}", archive_words(.0))]
    Archive(Arc<ArchiveError>),
}

impl Error {
    /// Creates the error for an argument that can't be used.
    pub(crate) fn param(name: &str, words: impl Display) -> Self {
        Self::Param { name: name.to_owned(), words: words.to_string() }
    }

    /// Creates the error for a full queue.
    pub(crate) fn overloaded(what: &str) -> Self {
        Self::Busy(format!("{what} has too much to do; try again in a moment"))
    }

    /// Creates the error for a bug in herma.
    pub(crate) fn internal(what: &str) -> Self {
        Self::Internal(what.to_owned())
    }

    /// Whether the item does not exist.
    pub(crate) fn is_missing(&self) -> bool {
        match self {
            Self::NotFound(_) => true,
            Self::Output(error) => matches!(**error, SpillError::NotFound(_) | SpillError::Expired { .. }),
            _ => false,
        }
    }

    /// Whether the caller caused the error, so that the same call would fail again.
    pub(crate) fn is_client_error(&self) -> bool {
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

impl From<FileStoreError> for Error {
    fn from(denied: FileStoreError) -> Self {
        match denied {
            FileStoreError::Refused(refusal) => Self::Files(Arc::new(refusal)),
            FileStoreError::NotKept { revision, kept } => {
                let kept = kept.map_or_else(
                    || "the journal is empty".to_owned(),
                    |(oldest, newest)| format!("{oldest} to {newest} are"),
                );
                Self::NotFound(format!("revision {revision} of the memory files is not kept; {kept}"))
            }
            FileStoreError::Store(error) => error.into(),
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
