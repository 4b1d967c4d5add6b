//! The errors of the archive.

use rusqlite::ErrorCode;
use rusqlite::types::FromSqlError;

/// The beginning of SQLite's message about a missing table.
const NO_TABLE: &str = "no such table";

/// An error of the archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// SQLite returned an error.
    #[error("the archive failed: {0}")]
    Database(#[source] rusqlite::Error),
    /// A newer herma wrote the file. The file stays unchanged.
    #[error("the archive has schema version {found}, this herma knows versions up to {known}; update herma")]
    Newer {
        /// The file's version.
        found: u32,
        /// The newest version that this herma knows.
        known: u32,
    },
    /// An older herma wrote the file, and it was opened in a way that can't migrate it.
    #[error("the archive has schema version {found}, older than {known}; open it for writing first")]
    Older {
        /// The file's version.
        found: u32,
        /// The newest version that this herma knows.
        known: u32,
    },
    /// The file is no database, is damaged, or lacks a table or column of its version.
    #[error("the archive is damaged: {words}")]
    Damaged {
        /// What is wrong with the file.
        words: String,
    },
    /// The archive has no session of that id to write to.
    #[error("the archive has no session {session:?}")]
    NoSession {
        /// The id.
        session: String,
    },
    /// A new message list that can't result from the stored transcript.
    #[error("the new list of session {session:?} does not fit its transcript: {words}")]
    Misfit {
        /// The session's id.
        session: String,
        /// Why it does not fit.
        words: String,
    },
}

impl ArchiveError {
    /// Whether the disk or a quota is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.code() == Some(ErrorCode::DiskFull)
    }

    /// Whether the system refused to open or write the file.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly | ErrorCode::CannotOpen))
    }

    /// Whether another program has the file locked.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    /// Whether the file itself is at fault: it is no database, or it is damaged. Opening the file may return such an
    /// error, and so may any later call that reads a damaged page.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }

    fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Database(error) => error.sqlite_error_code(),
            Self::Newer { .. }
            | Self::Older { .. }
            | Self::Damaged { .. }
            | Self::NoSession { .. }
            | Self::Misfit { .. } => None,
        }
    }
}

impl From<rusqlite::Error> for ArchiveError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Self::Damaged { words: error.to_string() },
            // Opening the file creates all tables, so another program removed this one.
            _ if error.to_string().starts_with(NO_TABLE) => Self::Damaged { words: error.to_string() },
            _ => Self::Database(error),
        }
    }
}

impl From<FromSqlError> for ArchiveError {
    fn from(error: FromSqlError) -> Self {
        rusqlite::Error::from(error).into()
    }
}
