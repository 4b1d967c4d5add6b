//! The database of Zed's agent, which Zed may write at the same time. It is opened for reading only.

use std::path::Path;

use herma_base::Failure;
use herma_transcripts::{Session, zed};
use rusqlite::Connection;

use super::sink::Sink;
use super::sqlite::{columns, open, text};
use super::{whole, zstd};

/// The type of a thread's data that is compressed.
const COMPRESSED: &str = "zstd";

pub(super) fn read(path: &Path, sink: &mut Sink<'_>, seen: &mut dyn FnMut(u64, u64)) -> Result<bool, Failure> {
    let failed = |words: String| Failure::File(format!("{}: {words}", path.display()));
    let in_words = |error: rusqlite::Error| failed(error.to_string());
    let database = open(path, &["threads"]).map_err(in_words)?;
    whole::each(sessions(&database).map_err(in_words)?, sink, seen, |session, sink| {
        whole::import_row(path, sink, |tally| {
            let thread = thread(&database, &session.id).map_err(in_words)?;
            let thread = thread.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
            let thread = thread.map_err(|words| failed(format!("thread {}: {words}", session.id)))?;
            let mut transcript = session.clone();
            zed::read(&thread, &mut transcript, tally);
            Ok(transcript)
        })
    })
}

/// Returns the threads, the oldest first.
fn sessions(database: &Connection) -> rusqlite::Result<Vec<Session>> {
    let known = columns(database, "threads")?;
    let column = |name: &str| if known.contains(name) { name.to_owned() } else { "NULL".into() };
    let [summary, parent, folders] = ["summary", "parent_id", "folder_paths"].map(column);
    let query = format!("SELECT id, {summary}, {parent}, {folders} FROM threads ORDER BY {}, id", column("created_at"));
    let mut query = database.prepare(&query)?;
    let found = query.query_map([], |row| {
        let mut session = Session::new(text(row, 0)?.unwrap_or_default());
        session.title = text(row, 1)?;
        session.parent = text(row, 2)?;
        // Each folder of the window has a line.
        session.cwd = text(row, 3)?.and_then(|folders| folders.lines().next().map(str::to_owned));
        Ok(session)
    })?;
    found.collect()
}

/// Returns the JSON of a thread.
fn thread(database: &Connection, id: &str) -> rusqlite::Result<Result<String, String>> {
    database.query_row("SELECT data_type, data FROM threads WHERE id = ?1", [id], |row| {
        let data = row.get_ref(1)?.as_bytes().unwrap_or_default();
        Ok(match text(row, 0)?.as_deref() {
            Some(COMPRESSED) => zstd::text(data),
            _ => Ok(String::from_utf8_lossy(data).into_owned()),
        })
    })
}
