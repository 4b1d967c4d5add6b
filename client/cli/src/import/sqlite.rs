//! Databases of other programs: opened for reading only, never created, and without trust in what is in them.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};

/// How long the program may lock the database.
const BUSY: Duration = Duration::from_secs(10);

/// The largest value in bytes that is read.
const VALUE: i32 = 256 << 20;

/// Opens a database. The named tables must not be views, because a view can compute forever and call any function.
pub(super) fn open(path: &Path, tables: &[&str]) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(BUSY)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    for name in tables {
        let kind = "SELECT type FROM sqlite_schema WHERE name = ?1";
        let kind: Option<String> = connection.query_row(kind, [name], |row| row.get(0)).optional()?;
        if let Some(kind) = kind.filter(|kind| kind != "table") {
            return Err(rusqlite::Error::InvalidParameterName(format!("`{name}` is a {kind} and no table")));
        }
    }
    Ok(connection)
}

/// Returns the columns of a table. Older versions of a program have fewer.
pub(super) fn columns(connection: &Connection, table: &str) -> rusqlite::Result<HashSet<String>> {
    let mut query = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    query.query_map([table], |row| row.get(0))?.collect()
}

/// Returns a column as text. It may be missing or have another type.
pub(super) fn text(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(at)? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    })
}
