//! Opening the file, for writing or only for reading.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::{ArchiveError, schema};

/// How long a statement waits for another connection's lock.
pub const BUSY: Duration = Duration::from_secs(5);

/// Page cache of the writer, in KiB (negative: that is how SQLite tells KiB
/// from pages). Enough for a batch of appends.
const WRITER_CACHE: i64 = -4096;

/// Page cache of a reader, in KiB (negative as above). A search over a large
/// archive walks some megabytes of the index; SQLite takes them only when used.
const READER_CACHE: i64 = -16_384;

/// Prepared statements that a connection keeps.
const STATEMENTS: usize = 96;

/// The archive as one connection reads it.
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
    /// Opens the file, creating it when missing and bringing an older one up to
    /// date. What is acknowledged from then on survives a power cut: WAL with
    /// full syncs.
    ///
    /// # Errors
    /// A file that can't be opened, is no database, is damaged, or was written
    /// by a newer herma. It is left as it was then.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let mut connection = Connection::open(path)?;
        prepare_once(&connection)?;
        connection.busy_timeout(BUSY)?;
        // Until it is known whose file it is, its log is not put away either.
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
        // Always, not only while something is removed: pages that the index or a
        // moved row gave up before have the words of messages too.
        connection.pragma_update(None, "secure_delete", "ON")?;
        connection.pragma_update(None, "cache_size", WRITER_CACHE)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        schema::migrate(&mut connection)?;
        Ok(Self { reader: Reader { connection }, path: path.to_owned() })
    }

    /// A read-only view of a file that a newer herma wrote: what it has in common
    /// with this version can be read, anything else fails.
    ///
    /// # Errors
    /// A file that can't be opened, is no database or is damaged.
    pub fn open_newer(path: &Path) -> Result<Reader, ArchiveError> {
        Reader::connect(path)
    }

    /// The reading functions, on the writer's own connection: they see every
    /// write that was acknowledged.
    #[must_use]
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes everything into the file at `path`, which must be empty or missing. That works also
    /// when this archive's own file has lost its name. The copy is not synced.
    ///
    /// # Errors
    /// A disk that refuses it, or a damaged archive.
    pub fn copy_to(&self, path: &Path) -> Result<(), ArchiveError> {
        let path = path.to_str().ok_or_else(|| rusqlite::Error::InvalidPath(path.to_owned()))?;
        self.connection().execute("VACUUM INTO ?1", [path])?;
        Ok(())
    }

    /// Waits for another program's lock no longer than this from now on; [`BUSY`] at first.
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

    /// Gives back the memory that pages are kept in for the next time.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn keep_little(&self) -> Result<(), ArchiveError> {
        self.reader.keep_little()
    }

    /// Puts everything that is in the log into the file, durably.
    ///
    /// # Errors
    /// A reader that is in the way for too long, or a disk that refuses it.
    pub fn put_log_away(&self) -> Result<(), ArchiveError> {
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
    /// A second connection that can only read, beside the one writer. The writer
    /// must have opened the file before: it makes the tables.
    ///
    /// # Errors
    /// A file that is missing, can't be opened, is no database, is damaged, or
    /// has another version than this herma's.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let reader = Self::connect(path)?;
        let (found, known) = (schema::version(&reader.connection)?, schema::known());
        match found.cmp(&known) {
            std::cmp::Ordering::Less => Err(ArchiveError::Older { found, known }),
            std::cmp::Ordering::Greater => Err(ArchiveError::Newer { found, known }),
            std::cmp::Ordering::Equal => Ok(reader),
        }
    }

    /// Gives back the memory that pages are kept in for the next time.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn keep_little(&self) -> Result<(), ArchiveError> {
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

/// Has a statement keep its plan. Otherwise SQLite compiles one with `LIMIT ?` anew each time that it is
/// given another value, which took two fifths of a search.
fn prepare_once(connection: &Connection) -> Result<(), ArchiveError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

#[cfg(test)]
mod tests;
