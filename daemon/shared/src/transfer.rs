//! Exports everything in a space as lines of JSON, and imports them: into another database, or to read them without
//! one.
//!
//! The first line identifies the file. Each other line has a row. The last one has the number of rows of each table, so
//! that a truncated file is detected. Texts of outputs in an object store are not included.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};
use std::pin::pin;

use futures_util::TryStreamExt;
use serde_json::{Map, Value, json};
use tokio_postgres::Client;
use tokio_postgres::types::ToSql;

use crate::connection::connect;
use crate::database::Database;
use crate::error::SharedError;
use crate::schema;

/// The tables of a space, those first that others refer to, each with the columns that order its rows.
const TABLES: [(&str, &str); 8] = [
    ("store", "profile, target"),
    ("journal", "profile, target, revision"),
    ("shipped", "host, archive"),
    ("message", "host, archive, number"),
    ("content", "sha256"),
    ("output", "host, handle"),
    ("session", "profile, session, birth"),
    ("session_part", "profile, session, birth, name"),
];

/// The maximum length of a line that is read, in bytes.
const LONGEST: u64 = 256 << 20;

/// Bytes of rows that are inserted at a time.
const BYTES: usize = 1 << 20;

/// The keys of a line with a row.
const TABLE: &str = "table";
const ROW: &str = "row";

/// The number of rows of each table.
pub type Counts = BTreeMap<String, u64>;

/// The error of an export or an import.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The database failed.
    #[error(transparent)]
    Shared(#[from] SharedError),
    /// The file can't be read or written.
    #[error("the file can't be read or written: {0}")]
    File(#[from] io::Error),
    /// The file is no export, or is incomplete.
    #[error("{0}")]
    NoExport(String),
    /// The space is not empty.
    #[error(
        "the space {space:?} has rows in {table:?} already; import into one that is empty (`shared.space` names it)"
    )]
    NotEmpty {
        /// The space.
        space: String,
        /// The table.
        table: String,
    },
}

impl Database {
    /// Exports everything in the space, as of one moment. Calls `write` with each line, without its end.
    ///
    /// # Errors
    /// An error of the database, or of `write`.
    pub async fn export(&self, mut write: impl FnMut(&str) -> io::Result<()>) -> Result<Counts, TransferError> {
        let client = self.patient().await?;
        let question = |error: tokio_postgres::Error| SharedError::of_question(&error);
        client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await.map_err(question)?;
        let space = &self.space.name;
        write(&json!({ "herma": "shared", "version": schema::VERSION, "space": space }).to_string())?;
        let mut counts = Counts::new();
        for (table, order) in TABLES {
            let query = format!(
                "SELECT row_to_json(row)::text FROM (SELECT * FROM herma.{table} WHERE space = $1 ORDER BY {order}) AS row"
            );
            let rows = client.query_raw(&query, [space as &(dyn ToSql + Sync)]).await.map_err(question)?;
            let mut rows = pin!(rows);
            let mut count = 0;
            while let Some(row) = rows.try_next().await.map_err(question)? {
                write(&format!("{{\"{TABLE}\":\"{table}\",\"{ROW}\":{}}}", row.get::<_, &str>(0)))?;
                count += 1;
            }
            counts.insert(table.to_owned(), count);
        }
        write(&json!({ "rows": counts }).to_string())?;
        Ok(counts)
    }

    /// Imports the lines of [`Self::export`] into the space, which must be empty: all or nothing. Calls `seen` with the
    /// number of rows read so far.
    ///
    /// # Errors
    /// A file that is no export, is incomplete, or has tables of another version; a space that is not empty; an error
    /// of the database.
    pub async fn import(&self, mut lines: impl BufRead, mut seen: impl FnMut(u64)) -> Result<Counts, TransferError> {
        let mut reader = Lines { lines: &mut lines, number: 0 };
        reader.check_first()?;
        let client = self.patient().await?;
        let refused = |error: tokio_postgres::Error| SharedError::of_change(&error);
        client.batch_execute("BEGIN").await.map_err(refused)?;
        self.check_empty(&client).await?;
        let (mut counts, mut all) = (Counts::new(), 0_u64);
        let (mut table, mut waiting) = (String::new(), String::new());
        let told = loop {
            match reader.next(&self.space.name)? {
                Line::Row { table: of, row } => {
                    if of != table || waiting.len() > BYTES {
                        keep(&client, &table, &mut waiting).await?;
                        seen(all);
                    }
                    waiting.push_str(if waiting.is_empty() { "" } else { "," });
                    waiting.push_str(&row);
                    *counts.entry(of.clone()).or_default() += 1;
                    (table, all) = (of, all + 1);
                }
                Line::End(told) => break told,
            }
        };
        keep(&client, &table, &mut waiting).await?;
        for (table, _) in TABLES {
            counts.entry(table.to_owned()).or_default();
        }
        if counts != told {
            return Err(TransferError::NoExport(format!("the file should have {told:?}, and has {counts:?}")));
        }
        client.batch_execute("COMMIT").await.map_err(refused)?;
        Ok(counts)
    }

    async fn check_empty(&self, client: &Client) -> Result<(), TransferError> {
        for (table, _) in TABLES {
            let query = format!("SELECT 1 FROM herma.{table} WHERE space = $1 LIMIT 1");
            let found = client.query_opt(&query, &[&self.space.name]).await;
            if found.map_err(|error| SharedError::of_question(&error))?.is_some() {
                return Err(TransferError::NotEmpty { space: self.space.name.clone(), table: table.to_owned() });
            }
        }
        Ok(())
    }

    /// Opens a connection without time limits.
    async fn patient(&self) -> Result<Client, SharedError> {
        let client = self.in_time(connect(&self.address, self.patience()), SharedError::Unreachable).await?;
        schema::check(&client).await?;
        let limits = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0";
        client.batch_execute(limits).await.map_err(|error| SharedError::of_question(&error))?;
        Ok(client)
    }
}

async fn keep(client: &Client, table: &str, rows: &mut String) -> Result<(), SharedError> {
    if rows.is_empty() {
        return Ok(());
    }
    let statement = format!(
        "INSERT INTO herma.{table} SELECT row.* FROM json_array_elements($1::text::json) AS value,
         LATERAL json_populate_record(NULL::herma.{table}, value) AS row"
    );
    let all = format!("[{rows}]");
    rows.clear();
    client.execute(&statement, &[&all]).await.map_err(|error| SharedError::of_change(&error))?;
    Ok(())
}

/// A line after the first one.
enum Line {
    Row { table: String, row: String },
    End(Counts),
}

struct Lines<'a, R> {
    lines: &'a mut R,
    number: u64,
}

impl<R: BufRead> Lines<'_, R> {
    fn check_first(&mut self) -> Result<(), TransferError> {
        let first = self.read()?.unwrap_or_default();
        let version = first.get("version").and_then(Value::as_i64);
        match (first.get("herma").and_then(Value::as_str), version) {
            (Some("shared"), Some(version)) if version == i64::from(schema::VERSION) => Ok(()),
            (Some("shared"), Some(version)) => Err(TransferError::NoExport(format!(
                "the file is of tables of version {version}, and this herma knows those of version {}: export with that version of herma",
                schema::VERSION
            ))),
            _ => Err(TransferError::NoExport("the file does not begin as `herma shared export` writes it".into())),
        }
    }

    /// Returns the next line. A row is moved to this space.
    fn next(&mut self, space: &str) -> Result<Line, TransferError> {
        let Some(mut line) = self.read()? else {
            return Err(TransferError::NoExport(format!("the file ends early, behind line {}", self.number)));
        };
        if let Some(counts) = line.remove("rows") {
            let counts = serde_json::from_value(counts).map_err(|_| self.odd())?;
            return Ok(Line::End(counts));
        }
        let table = line.get(TABLE).and_then(Value::as_str).unwrap_or_default().to_owned();
        match line.remove(ROW) {
            Some(Value::Object(mut row)) if TABLES.iter().any(|(known, _)| *known == table) => {
                row.insert("space".to_owned(), space.into());
                Ok(Line::Row { table, row: Value::Object(row).to_string() })
            }
            _ => Err(self.odd()),
        }
    }

    fn read(&mut self) -> Result<Option<Map<String, Value>>, TransferError> {
        let mut line = String::new();
        self.number += 1;
        let read = Read::take(&mut *self.lines, LONGEST).read_line(&mut line)?;
        if read == 0 {
            return Ok(None);
        }
        serde_json::from_str(&line).map(Some).map_err(|_| self.odd())
    }

    fn odd(&self) -> TransferError {
        TransferError::NoExport(format!("line {} is none that `herma shared export` writes", self.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_rows_of_the_space_and_others_are_refused() {
        let first = format!("{{\"herma\":\"shared\",\"version\":{},\"space\":\"a\"}}", schema::VERSION);
        let row = r#"{"table":"store","row":{"space":"a","revision":9007199254740993}}"#;
        let text = format!("{first}\n{row}\n{{\"rows\":{{\"store\":1}}}}\n");
        let mut bytes = text.as_bytes();
        let mut lines = Lines { lines: &mut bytes, number: 0 };
        assert!(lines.check_first().is_ok());
        let line = lines.next("b").ok();
        assert!(matches!(&line, Some(Line::Row { row, .. }) if row == r#"{"space":"b","revision":9007199254740993}"#));
        assert!(matches!(lines.next("b"), Ok(Line::End(counts)) if counts.get("store") == Some(&1)));
        for (text, words) in [
            ("", "does not begin"),
            ("{\"herma\":\"shared\",\"version\":1}", "tables of version 1"),
            ("nonsense", "line 1 is none"),
        ] {
            let error =
                Lines { lines: &mut text.as_bytes(), number: 0 }.check_first().err().map(|error| error.to_string());
            assert!(error.as_ref().is_some_and(|error| error.contains(words)), "{text}: {error:?}");
        }
        for (text, words) in [
            ("", "ends early"),
            ("{\"table\":\"member\",\"row\":{}}", "line 1 is none"),
            ("{\"table\":\"store\",\"row\":7}", "line 1 is none"),
        ] {
            let error = Lines { lines: &mut text.as_bytes(), number: 0 }.next("b").err().map(|error| error.to_string());
            assert!(error.as_ref().is_some_and(|error| error.contains(words)), "{text}: {error:?}");
        }
    }
}
