//! What the archive can fail with.

use rusqlite::ErrorCode;
use rusqlite::types::FromSqlError;

/// How SQLite begins to say that a table is missing.
const NO_TABLE: &str = "no such table";

/// A failure of the archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The database says no.
    #[error("the archive failed: {0}")]
    Database(#[source] rusqlite::Error),
    /// The file was written by a newer herma; it is left alone.
    #[error("the archive has schema version {found}, this herma knows versions up to {known}; update herma")]
    Newer {
        /// Its version.
        found: u32,
        /// The newest that is known.
        known: u32,
    },
    /// The file was written by an older herma, and is opened in a way that can't
    /// bring it up to date.
    #[error("the archive has schema version {found}, older than {known}; open it for writing first")]
    Older {
        /// Its version.
        found: u32,
        /// The newest that is known.
        known: u32,
    },
    /// The file is no database, a damaged one, or lacks what its version has.
    #[error("the archive is damaged: {words}")]
    Damaged {
        /// What was found to be wrong.
        words: String,
    },
    /// There is no session of that id to write to.
    #[error("the archive has no session {session:?}")]
    NoSession {
        /// The id.
        session: String,
    },
    /// A new list that can't come out of the transcript that is kept.
    #[error("the new list of session {session:?} does not fit its transcript: {words}")]
    Misfit {
        /// The session's id.
        session: String,
        /// What does not fit.
        words: String,
    },
}

impl ArchiveError {
    /// The disk or a quota is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.code() == Some(ErrorCode::DiskFull)
    }

    /// The system refused to open or write the file.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly | ErrorCode::CannotOpen))
    }

    /// Another program has the file locked.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    /// The file itself is at fault: it is no database, or a damaged one. It may
    /// be found when it is opened, or by any later call that reads a bad page.
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
            // Its tables are made with it, and nobody removes one but from outside.
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
