//! Copies rows of one session to another session that derives from it.

use rusqlite::Connection;

use crate::ArchiveError;

/// Copies all rows that the session `from` has in a table to the session `to`. `column` names the session.
pub(crate) fn copy(
    connection: &Connection,
    table: &str,
    column: &str,
    (from, to): (&str, &str),
) -> Result<(), ArchiveError> {
    let mut query = connection.prepare_cached("SELECT name FROM pragma_table_info(?1) WHERE name <> ?2")?;
    let columns: Vec<String> = query.query_map([table, column], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let columns = columns.join(", ");
    let query = format!(
        "INSERT OR REPLACE INTO {table} ({column}, {columns}) SELECT ?2, {columns} FROM {table} WHERE {column} = ?1"
    );
    connection.prepare_cached(&query)?.execute([from, to])?;
    Ok(())
}
