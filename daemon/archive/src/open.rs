//! Opening the file, for writing or only for reading.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::{ArchiveError, schema, stems};

/// How long a statement waits for another connection's lock.
pub const BUSY: Duration = Duration::from_secs(5);

/// Page cache of the writer, in KiB: SQLite reads a negative value as KiB and a positive one as pages. Enough for a
/// batch of appends.
const WRITER_CACHE: i64 = -4096;

/// Page cache of a reader, in KiB (negative as above). A search over a large archive reads some megabytes of the index.
/// SQLite allocates the memory only when it is used.
const READER_CACHE: i64 = -16_384;

/// Prepared statements that each connection caches.
const STATEMENTS: usize = 96;

/// A connection that reads the archive.
#[derive(Debug)]
pub struct Reader {
    pub(crate) connection: Connection,
}

/// The archive, open for writing.
#[derive(Debug)]
pub struct Archive {
    pub(crate) reader: Reader,
    path: PathBuf,
}

impl Archive {
    /// Opens the file. Creates it if it is missing, and migrates an older one to the newest version. Every write that
    /// is acknowledged from then on survives a power cut: the file uses WAL with full syncs.
    ///
    /// # Errors
    /// The file can't be opened, is no database, is damaged, or was written by a newer herma. The file stays unchanged
    /// then.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let mut connection = Connection::open(path)?;
        prepare_once(&connection)?;
        connection.busy_timeout(BUSY)?;
        // Until the checks below have passed, closing the connection must not write the log into a file that may not be
        // herma's.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        let (found, known) = (schema::version(&connection)?, schema::known());
        if found > known {
            return Err(ArchiveError::Newer { found, known });
        }
        schema::check(&connection)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", "ON")?;
        // Always on, not only while a session is removed: pages that the index or a moved row freed earlier contain
        // words of messages too.
        connection.pragma_update(None, "secure_delete", "ON")?;
        connection.pragma_update(None, "cache_size", WRITER_CACHE)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        schema::migrate(&mut connection)?;
        Ok(Self { reader: Reader { connection }, path: path.to_owned() })
    }

    /// Opens a read-only view of a file that a newer herma wrote. Tables and columns that this version knows can be
    /// read; any other query fails.
    ///
    /// # Errors
    /// A file that can't be opened, is no database or is damaged.
    pub fn open_newer(path: &Path) -> Result<Reader, ArchiveError> {
        Reader::connect(path)
    }

    /// Returns the reading functions, on the writer's own connection. They see every acknowledged write.
    #[must_use]
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Copies the whole archive into the file at `path`, which must be empty or missing. This works even if this
    /// archive's own file was deleted from its folder. The copy is not synced.
    ///
    /// # Errors
    /// The disk refuses the write, or the archive is damaged.
    pub fn copy_to(&self, path: &Path) -> Result<(), ArchiveError> {
        let path = path.to_str().ok_or_else(|| rusqlite::Error::InvalidPath(path.to_owned()))?;
        self.connection().execute("VACUUM INTO ?1", [path])?;
        Ok(())
    }

    /// Sets how long a statement waits for another program's lock. The initial value is [`BUSY`].
    ///
    /// # Errors
    /// A failure of the database.
    pub fn wait_for_locks(&self, patience: Duration) -> Result<(), ArchiveError> {
        Ok(self.connection().busy_timeout(patience)?)
    }

    /// Whether another program has the file locked right now.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        let tried = self.wait_for_locks(Duration::ZERO);
        let begun = tried.and_then(|()| Ok(self.connection().execute_batch("BEGIN IMMEDIATE; ROLLBACK")?));
        begun.is_err_and(|error| error.is_locked())
    }

    /// Frees the memory of the page cache.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn shrink_memory(&self) -> Result<(), ArchiveError> {
        stems::clear();
        self.reader.shrink_memory()
    }

    /// Moves everything from the write-ahead log into the file, durably.
    ///
    /// # Errors
    /// A reader blocks the checkpoint for too long, or the disk refuses the write.
    pub fn checkpoint(&self) -> Result<(), ArchiveError> {
        let is_busy: bool = self.connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if is_busy { Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(5), None).into()) } else { Ok(()) }
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.reader.connection
    }

    pub(crate) fn connection_mut(&mut self) -> &mut Connection {
        &mut self.reader.connection
    }
}

impl Reader {
    /// Opens a second, read-only connection next to the writer. The writer must have opened the file before, because it
    /// creates the tables.
    ///
    /// # Errors
    /// The file is missing, can't be opened, is no database, is damaged, or has another version than this herma.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let reader = Self::connect(path)?;
        let (found, known) = (schema::version(&reader.connection)?, schema::known());
        match found.cmp(&known) {
            std::cmp::Ordering::Less => Err(ArchiveError::Older { found, known }),
            std::cmp::Ordering::Greater => Err(ArchiveError::Newer { found, known }),
            std::cmp::Ordering::Equal => Ok(reader),
        }
    }

    /// Frees the memory of the page cache.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn shrink_memory(&self) -> Result<(), ArchiveError> {
        self.connection.execute_batch("PRAGMA shrink_memory")?;
        Ok(())
    }

    fn connect(path: &Path) -> Result<Self, ArchiveError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        prepare_once(&connection)?;
        connection.busy_timeout(BUSY)?;
        connection.pragma_update(None, "query_only", "ON")?;
        connection.pragma_update(None, "cache_size", READER_CACHE)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        schema::version(&connection)?;
        Ok(Self { connection })
    }
}

/// Makes SQLite keep the plan of a prepared statement. Otherwise SQLite compiles a statement with `LIMIT ?` again each
/// time the value changes, which took two fifths of a search.
fn prepare_once(connection: &Connection) -> Result<(), ArchiveError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

#[cfg(test)]
mod tests;
