//! The database of OpenClaw, which may write it at the same time. It is opened for reading only. Its rows are the lines of
//! pi's files (seen in 2026.9.6).

use std::path::Path;

use herma_base::Failure;
use herma_transcripts::{Session, Transcript, pi};
use rusqlite::Connection;

use super::sink::Sink;
use super::sqlite::{columns, open, text};
use super::{whole, zstd};

pub(super) fn read(path: &Path, sink: &mut Sink<'_>, seen: &mut dyn FnMut(u64, u64)) -> Result<bool, Failure> {
    let failed = |words: String| Failure::File(format!("{}: {words}", path.display()));
    let in_words = |error: rusqlite::Error| failed(error.to_string());
    let database = open(path, &["transcript_events"]).map_err(in_words)?;
    whole::each(sessions(&database).map_err(in_words)?, sink, seen, |id, sink| {
        whole::import_row(path, sink, |tally| {
            let mut reader = pi::Reader::new(id);
            for line in lines(&database, id).map_err(in_words)? {
                reader.line(&line.map_err(|words| failed(format!("session {id}: {words}")))?);
            }
            tally.add_all(&reader.ignored());
            Ok(reader.sessions().pop().unwrap_or_else(|| Session::new(id.clone())))
        })
    })
}

/// Returns the ids of the sessions, the oldest first.
fn sessions(database: &Connection) -> rusqlite::Result<Vec<String>> {
    let query = "SELECT session_id FROM transcript_events GROUP BY session_id ORDER BY min(created_at), session_id";
    let mut query = database.prepare(query)?;
    query.query_map([], |row| Ok(text(row, 0)?.unwrap_or_default()))?.collect()
}

/// Returns the records of a session. Long ones are compressed.
fn lines(database: &Connection, id: &str) -> rusqlite::Result<Vec<Result<String, String>>> {
    let known = columns(database, "transcript_events")?;
    let compressed = if known.contains("event_zstd") { "event_zstd" } else { "NULL" };
    let query = format!("SELECT event_json, {compressed} FROM transcript_events WHERE session_id = ?1 ORDER BY seq");
    let mut query = database.prepare(&query)?;
    let lines = query.query_map([id], |row| {
        let frame = || Ok::<_, rusqlite::Error>(row.get_ref(1)?.as_bytes().unwrap_or_default().to_vec());
        Ok(match text(row, 0)? {
            Some(line) => Ok(line),
            None => zstd::text(&frame()?),
        })
    })?;
    lines.collect()
}
