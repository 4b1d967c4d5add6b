//! The database of OpenCode, which may write it at the same time. It is opened for reading only.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use herma_base::Failure;
use herma_transcripts::opencode::{self, Row};
use herma_transcripts::{Session, Tally};
use rusqlite::Connection;
use serde_json::Value;

use super::sink::Sink;
use super::sqlite::{columns, open, text};
use super::whole;

/// Seconds after which an answer without an end counts as given up.
const GIVEN_UP: f64 = 3_600.0;

/// The kind of a message that is still being written.
const UNFINISHED: &str = "unfinished message";

pub(super) fn read(path: &Path, sink: &mut Sink<'_>, seen: &mut dyn FnMut(u64, u64)) -> Result<bool, Failure> {
    let failed = |error: rusqlite::Error| Failure::File(format!("{}: {error}", path.display()));
    let database = open(path, &["session", "message", "part"]).map_err(failed)?;
    whole::each(sessions(&database).map_err(failed)?, sink, seen, |session, sink| {
        whole::import_row(path, sink, |tally| {
            let mut transcript = session.clone();
            messages(&database, &mut transcript, tally).map_err(failed)?;
            Ok(transcript)
        })
    })
}

/// Returns the sessions, the oldest first.
fn sessions(database: &Connection) -> rusqlite::Result<Vec<Session>> {
    let known = columns(database, "session")?;
    let column = |name: &str| if known.contains(name) { name.to_owned() } else { "NULL".into() };
    let [directory, title, parent] = ["directory", "title", "parent_id"].map(column);
    let query =
        format!("SELECT id, {directory}, {title}, {parent} FROM session ORDER BY {}, id", column("time_created"));
    let mut query = database.prepare(&query)?;
    let found = query.query_map([], |row| {
        let mut session = Session::new(text(row, 0)?.unwrap_or_default());
        session.cwd = text(row, 1)?;
        session.title = text(row, 2)?;
        session.parent = text(row, 3)?;
        Ok(session)
    })?;
    found.collect()
}

/// Reads the messages of a session up to the first one that is still being written.
fn messages(database: &Connection, session: &mut Session, tally: &mut Tally) -> rusqlite::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let mut parts = database.prepare("SELECT data FROM part WHERE message_id = ?1 ORDER BY id")?;
    let mut query = database
        .prepare("SELECT id, time_created, data FROM message WHERE session_id = ?1 ORDER BY time_created, id")?;
    let mut rows = query.query([&session.id])?;
    while let Some(row) = rows.next()? {
        let id = text(row, 0)?.unwrap_or_default();
        let created = match text(row, 1)? {
            Some(number) => number.parse::<f64>().map_or_else(|_| Value::from(number), Value::from),
            None => Value::Null,
        };
        let of_message = parts.query_map([&id], |row| Ok(json(text(row, 0)?)))?;
        let parts = of_message.collect::<rusqlite::Result<Vec<Value>>>()?;
        let row = Row { id, created, data: json(text(row, 2)?), parts };
        let said = opencode::read(&row, tally);
        if !said.is_complete && said.time.is_none_or(|time| now - time < GIVEN_UP) {
            tally.add(UNFINISHED);
            return Ok(());
        }
        if let Some(model) = said.call.as_ref().and_then(|call| call.model.clone()) {
            session.model = Some(model);
        }
        said.messages.into_iter().for_each(|message| session.push(message));
        said.call.into_iter().for_each(|call| session.push_call(call));
    }
    Ok(())
}

/// Parses a value. What is no JSON says nothing.
fn json(text: Option<String>) -> Value {
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}
