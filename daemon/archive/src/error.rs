//! What the archive can fail with.

/// A failure of the archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The database says no.
    #[error("the archive failed: {0}")]
    Database(#[from] rusqlite::Error),
    /// The file was written by a newer herma; it is left alone.
    #[error("the archive has schema version {found}, this herma knows versions up to {known}; update herma")]
    Newer {
        /// Its version.
        found: u32,
        /// The newest that is known.
        known: u32,
    },
}

impl ArchiveError {
    /// The disk or a quota is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.code() == Some(rusqlite::ErrorCode::DiskFull)
    }

    /// The system refused to open or write the file.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        matches!(
            self.code(),
            Some(
                rusqlite::ErrorCode::PermissionDenied | rusqlite::ErrorCode::ReadOnly | rusqlite::ErrorCode::CannotOpen
            )
        )
    }

    fn code(&self) -> Option<rusqlite::ErrorCode> {
        match self {
            Self::Database(error) => error.sqlite_error_code(),
            Self::Newer { .. } => None,
        }
    }
}
