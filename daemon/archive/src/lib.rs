//! The archive: sessions with their frozen snapshots, and the messages that left
//! a conversation, in one SQLite file.
//!
//! Everything here blocks; the daemon calls it from one thread that owns it.

mod error;
pub mod removed;
mod schema;
pub mod session;

use std::path::{Path, PathBuf};

use rusqlite::Connection;

pub use error::ArchiveError;

/// An open archive.
#[derive(Debug)]
pub struct Archive {
    connection: Connection,
    path: PathBuf,
}

impl Archive {
    /// Opens the file, creating it when missing. What is acknowledged from then
    /// on survives a power cut: WAL with full syncs.
    ///
    /// # Errors
    /// A file that can't be opened, is no database, is damaged, or was written
    /// by a newer herma.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let mut connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", "ON")?;
        connection.pragma_update(None, "cache_size", -1024)?;
        connection.busy_timeout(std::time::Duration::from_secs(5))?;
        schema::migrate(&mut connection)?;
        Ok(Self { connection, path: path.to_owned() })
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its size in bytes, without the write-ahead log.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn bytes(&self) -> Result<u64, ArchiveError> {
        let pages: i64 = self.connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        let size: i64 = self.connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        Ok(u64::try_from(pages * size).unwrap_or(0))
    }
}
