//! The database of Goose, which may write it at the same time. It is opened for reading only.

use std::path::Path;

use herma_base::Failure;
use herma_transcripts::{Session, Tally, TimedMessage, goose};
use rusqlite::Connection;
use serde_json::Value;

use super::sink::Sink;
use super::sqlite::{columns, open, text};
use super::whole;

pub(super) fn read(path: &Path, sink: &mut Sink<'_>, seen: &mut dyn FnMut(u64, u64)) -> Result<bool, Failure> {
    let failed = |error: rusqlite::Error| Failure::File(format!("{}: {error}", path.display()));
    let database = open(path, &["sessions", "messages"]).map_err(failed)?;
    whole::each(sessions(&database).map_err(failed)?, sink, seen, |session, sink| {
        whole::import_row(path, sink, |tally| {
            let mut transcript = session.clone();
            messages(&database, &mut transcript, tally).map_err(failed)?;
            Ok(transcript)
        })
    })
}

fn sessions(database: &Connection) -> rusqlite::Result<Vec<Session>> {
    let known = columns(database, "sessions")?;
    let column = |name: &str| if known.contains(name) { name.to_owned() } else { "NULL".into() };
    let [folder, description, name] = ["working_dir", "description", "name"].map(column);
    let query =
        format!("SELECT id, {folder}, {description}, {name} FROM sessions ORDER BY {}, id", column("created_at"));
    let mut query = database.prepare(&query)?;
    let found = query.query_map([], |row| {
        let mut session = Session::new(text(row, 0)?.unwrap_or_default());
        session.cwd = text(row, 1)?;
        session.title = text(row, 2)?.filter(|title| !title.is_empty()).or(text(row, 3)?);
        Ok(session)
    })?;
    found.collect()
}

fn messages(database: &Connection, session: &mut Session, tally: &mut Tally) -> rusqlite::Result<()> {
    let mut query = database
        .prepare("SELECT role, content_json, created_timestamp FROM messages WHERE session_id = ?1 ORDER BY id")?;
    let mut rows = query.query([&session.id])?;
    while let Some(row) = rows.next()? {
        let content: Value = text(row, 1)?.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let time = row.get::<_, f64>(2).or_else(|_| row.get::<_, i64>(2).map(|time| time as f64));
        let time = time.ok().filter(|time| *time >= 0.0);
        for message in goose::messages(&text(row, 0)?.unwrap_or_default(), &content, tally) {
            session.push(TimedMessage { time, message });
        }
    }
    Ok(())
}
