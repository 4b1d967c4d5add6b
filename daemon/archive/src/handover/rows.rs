//! Converts rows of any table to JSON and back.

use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};
use serde_json::{Map, Number, Value, json};

use crate::ArchiveError;

/// Rows of one table, without the column that names their session.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rows {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<Value>>,
}

impl Rows {
    /// Reads the rows that a filter with one parameter finds. The filter may end with an order.
    pub(super) fn read(
        connection: &Connection,
        table: &str,
        filter: &str,
        of: &[&dyn ToSql],
        without: &str,
    ) -> Result<Self, ArchiveError> {
        let mut query = connection.prepare_cached(&format!("SELECT * FROM {table} WHERE {filter}"))?;
        let all: Vec<String> = query.column_names().map(str::to_owned).collect();
        let places: Vec<usize> = (0..all.len()).filter(|at| all[*at] != without).collect();
        let rows = query.query_map(of, |row| {
            places.iter().map(|at| row.get_ref(*at).map(value)).collect::<rusqlite::Result<Vec<_>>>()
        })?;
        let rows = rows.collect::<Result<_, _>>()?;
        Ok(Self { columns: places.into_iter().map(|at| all[at].clone()).collect(), rows })
    }

    /// Returns the index of a column in each row.
    pub(super) fn place(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|name| name == column)
    }

    /// Sets a column of all rows to a value.
    pub(super) fn put(&mut self, column: &str, value: Value) {
        if let Some(at) = self.place(column) {
            self.rows.iter_mut().for_each(|row| row[at] = value.clone());
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({ "columns": self.columns, "rows": self.rows })
    }

    /// Parses the result of [`Self::json`]; `None` for anything else.
    pub(super) fn parse(value: &Value) -> Option<Self> {
        let columns = value.get("columns")?.as_array()?;
        let columns: Vec<String> =
            columns.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?;
        let rows = value.get("rows")?.as_array()?;
        let row = |row: &Value| row.as_array().filter(|row| row.len() == columns.len()).cloned();
        let rows = rows.iter().map(row).collect::<Option<_>>()?;
        Some(Self { columns, rows })
    }

    /// Returns the first column that a table of this archive does not have.
    pub(super) fn unknown(&self, connection: &Connection, table: &str) -> Result<Option<&str>, ArchiveError> {
        let mut query = connection.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
        let known: Vec<String> = query.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(self.columns.iter().map(String::as_str).find(|name| !known.iter().any(|one| one == name)))
    }

    /// Inserts the rows into a table, each with one more column of this value. The table must have their columns.
    pub(super) fn insert(
        &self,
        connection: &Connection,
        table: &str,
        (column, of): (&str, &dyn ToSql),
    ) -> Result<(), ArchiveError> {
        let marks = vec!["?"; self.columns.len() + 1].join(",");
        let columns = self.columns.iter().map(|name| format!(", {name}")).collect::<String>();
        let mut insert = connection.prepare(&format!("INSERT INTO {table} ({column}{columns}) VALUES ({marks})"))?;
        for row in &self.rows {
            let values: Vec<Sql> = row.iter().map(sql).collect();
            let given = std::iter::once(of).chain(values.iter().map(|value| value as &dyn ToSql));
            insert.execute(params_from_iter(given))?;
        }
        Ok(())
    }

    /// Updates the row of a table in which `column` has the value `of` to the first of these rows.
    pub(super) fn update(
        &self,
        connection: &Connection,
        table: &str,
        (column, of): (&str, &dyn ToSql),
    ) -> Result<(), ArchiveError> {
        let Some(row) = self.rows.first() else { return Ok(()) };
        let set = self.columns.iter().map(|name| format!("{name} = ?")).collect::<Vec<_>>().join(", ");
        let values: Vec<Sql> = row.iter().map(sql).collect();
        let given = values.iter().map(|value| value as &dyn ToSql).chain([of]);
        connection
            .prepare(&format!("UPDATE {table} SET {set} WHERE {column} = ?"))?
            .execute(params_from_iter(given))?;
        Ok(())
    }
}

/// The key of the object that represents a blob. Its value is the blob in hex.
const HEX: &str = "hex";

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
        ValueRef::Blob(blob) => json!({ HEX: base16ct::lower::encode_string(blob) }),
    }
}

fn sql(value: &Value) -> Sql {
    match value {
        Value::Null | Value::Array(_) => Sql::Null,
        Value::Bool(is) => Sql::Integer(i64::from(*is)),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Sql::Integer(number),
            (None, Some(number)) => Sql::Real(number),
            (None, None) => Sql::Null,
        },
        Value::String(text) => Sql::Text(text.clone()),
        Value::Object(object) => blob(object).map_or(Sql::Null, Sql::Blob),
    }
}

fn blob(object: &Map<String, Value>) -> Option<Vec<u8>> {
    base16ct::lower::decode_vec(object.get(HEX)?.as_str()?).ok()
}
