//! The tables, and how older files become newer ones.

use rusqlite::{Connection, TransactionBehavior};

use crate::ArchiveError;

/// The version of the first release. Files of earlier versions were never released.
const FIRST: u32 = 19;

/// The first step makes the tables of [`FIRST`]; each other one takes a file from one version to the next. Steps are only
/// ever appended, and never changed, because files of every version exist.
const STEPS: &[&str] = &[include_str!("schema/19.sql"), include_str!("schema/20.sql")];

/// The newest version.
pub(crate) fn known() -> u32 {
    newest(STEPS)
}

fn newest(steps: &[&str]) -> u32 {
    u32::try_from(steps.len()).map_or(u32::MAX, |steps| steps + FIRST - 1)
}

/// The number of steps that a file of a version has had.
fn steps_behind(version: u32) -> usize {
    usize::try_from((version + 1).saturating_sub(FIRST)).unwrap_or(usize::MAX)
}

/// The file's version; 0 for an empty file.
pub(crate) fn version(connection: &Connection) -> Result<u32, ArchiveError> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    u32::try_from(version)
        .map_err(|_| ArchiveError::Damaged { words: format!("it has version {version}, which no herma ever wrote") })
}

/// Brings the file to the newest version, all steps in one transaction.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), ArchiveError> {
    migrate_by(connection, STEPS)
}

fn migrate_by(connection: &mut Connection, steps: &[&str]) -> Result<(), ArchiveError> {
    let known = newest(steps);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    if found > known {
        return Err(ArchiveError::Newer { found, known });
    }
    for step in steps.iter().skip(steps_behind(found)) {
        transaction.execute_batch(step)?;
    }
    if found < known {
        transaction.pragma_update(None, "user_version", known)?;
    }
    transaction.commit()?;
    Ok(())
}

/// Whether every table, view and column of the file's own version is there. What it
/// should look like is not written down a second time: an empty database that
/// takes the same steps tells.
pub(crate) fn check(connection: &Connection) -> Result<(), ArchiveError> {
    let found = version(connection)?;
    let there = columns(connection)?;
    if found == 0 {
        return match there.first() {
            Some((table, _)) => damaged(format!("it is not herma's: it has a table {table:?} but no version")),
            None => Ok(()),
        };
    }
    if found < FIRST {
        return damaged(format!("it has version {found}, which was never released"));
    }
    let mut model = Connection::open_in_memory()?;
    migrate_by(&mut model, STEPS.get(..steps_behind(found)).unwrap_or(STEPS))?;
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

/// The columns of every table and view. Tables that belong to SQLite itself are left out.
fn columns(connection: &Connection) -> Result<Vec<(String, String)>, ArchiveError> {
    let mut query = connection.prepare(
        "SELECT master.name, info.name FROM sqlite_master AS master, pragma_table_info(master.name) AS info
         WHERE master.type IN ('table', 'view') AND master.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests;
