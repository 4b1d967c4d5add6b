//! The tables, and how older files become newer ones.

use rusqlite::{Connection, TransactionBehavior};

use crate::ArchiveError;

/// Each step takes a file from the version of its index to the next one. Steps
/// are only ever appended.
const STEPS: &[&str] = &["CREATE TABLE session (
        id TEXT PRIMARY KEY,
        profile TEXT NOT NULL,
        agent TEXT,
        parent TEXT,
        title TEXT,
        generation INTEGER NOT NULL DEFAULT 0,
        settings TEXT,
        memory_block TEXT,
        user_block TEXT,
        sha256 TEXT NOT NULL,
        memory_revision INTEGER NOT NULL,
        user_revision INTEGER NOT NULL,
        started_at REAL NOT NULL,
        ended_at REAL,
        end_reason TEXT
    ) STRICT;
    CREATE TABLE compression (
        handle TEXT PRIMARY KEY,
        session TEXT NOT NULL REFERENCES session (id),
        generation INTEGER NOT NULL,
        time REAL NOT NULL,
        summary TEXT NOT NULL,
        UNIQUE (session, generation)
    ) STRICT;
    CREATE TABLE removed (
        compression TEXT NOT NULL REFERENCES compression (handle),
        position INTEGER NOT NULL,
        message TEXT NOT NULL,
        PRIMARY KEY (compression, position)
    ) STRICT, WITHOUT ROWID;"];

/// Brings the file to the newest version, all steps in one transaction.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), ArchiveError> {
    let known = u32::try_from(STEPS.len()).unwrap_or(u32::MAX);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > known {
        return Err(ArchiveError::Newer { found, known });
    }
    for step in STEPS.iter().skip(found as usize) {
        transaction.execute_batch(step)?;
    }
    if found < known {
        transaction.pragma_update(None, "user_version", known)?;
    }
    transaction.commit()?;
    Ok(())
}
