//! The tables, and how older files become newer ones.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::ArchiveError;

mod engine;
mod second;
mod windows;

/// What takes a file from one version to the next.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    /// Statements.
    Sql(&'static str),
    /// Statements, then what only code can do, in the same transaction.
    Code(&'static str, fn(&Transaction<'_>) -> Result<(), ArchiveError>),
}

/// Each step takes a file from the version of its index to the next one. Steps
/// are only ever appended, and never changed: files of every version exist.
const STEPS: &[Step] = &[
    Step::Sql(
        "CREATE TABLE session (
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
    ) STRICT, WITHOUT ROWID;",
    ),
    Step::Code(second::TABLES, second::move_removed),
    Step::Sql(windows::TABLES),
    Step::Sql(engine::TABLES),
];

/// The newest version.
pub(crate) fn known() -> u32 {
    u32::try_from(STEPS.len()).unwrap_or(u32::MAX)
}

/// The file's version; 0 for an empty file.
pub(crate) fn version(connection: &Connection) -> Result<u32, ArchiveError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Brings the file to the newest version, all steps in one transaction.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), ArchiveError> {
    migrate_by(connection, STEPS)
}

fn migrate_by(connection: &mut Connection, steps: &[Step]) -> Result<(), ArchiveError> {
    let known = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    if found > known {
        return Err(ArchiveError::Newer { found, known });
    }
    for step in steps.iter().skip(found as usize) {
        match step {
            Step::Sql(statements) => transaction.execute_batch(statements)?,
            Step::Code(statements, code) => {
                transaction.execute_batch(statements)?;
                code(&transaction)?;
            }
        }
    }
    if found < known {
        transaction.pragma_update(None, "user_version", known)?;
    }
    transaction.commit()?;
    Ok(())
}

/// Whether every table and column of the file's own version is there. What it
/// should look like is not written down a second time: an empty database that
/// takes the same steps tells.
pub(crate) fn check(connection: &Connection) -> Result<(), ArchiveError> {
    let found = version(connection)? as usize;
    let there = columns(connection)?;
    if found == 0 {
        return match there.first() {
            Some((table, _)) => damaged(format!("it is not herma's: it has a table {table:?} but no version")),
            None => Ok(()),
        };
    }
    let mut model = Connection::open_in_memory()?;
    migrate_by(&mut model, STEPS.get(..found).unwrap_or(STEPS))?;
    for wanted in columns(&model)? {
        if !there.contains(&wanted) {
            return damaged(format!("version {found} has a column {}.{}, this file has not", wanted.0, wanted.1));
        }
    }
    Ok(())
}

fn damaged(words: String) -> Result<(), ArchiveError> {
    Err(ArchiveError::Damaged { words })
}

/// Every table's columns. Tables that belong to SQLite itself are left out.
fn columns(connection: &Connection) -> Result<Vec<(String, String)>, ArchiveError> {
    let mut query = connection.prepare(
        "SELECT master.name, info.name FROM sqlite_master AS master, pragma_table_info(master.name) AS info
         WHERE master.type = 'table' AND master.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests;
