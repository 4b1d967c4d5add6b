//! The database of Cursor's editor, which may write it at the same time. It is opened for reading only. It has one table with
//! keys and values; the keys of conversations and bubbles begin with their kind.

use std::path::Path;

use herma_base::Failure;
use herma_transcripts::{Session, cursor_editor};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

use super::sink::Sink;
use super::sqlite::{columns, open, text};
use super::whole;

/// The beginnings of keys, which are followed by ids.
const CONVERSATION: &str = "composerData:";
const BUBBLE: &str = "bubbleId:";

pub(super) fn read(path: &Path, sink: &mut Sink<'_>, seen: &mut dyn FnMut(u64, u64)) -> Result<bool, Failure> {
    let failed = |error: rusqlite::Error| Failure::File(format!("{}: {error}", path.display()));
    let database = open(path, &["cursorDiskKV"]).map_err(failed)?;
    whole::each(conversations(&database).map_err(failed)?, sink, seen, |id, sink| {
        whole::import_row(path, sink, |tally| {
            let mut session = Session::new(id);
            let conversation = value(&database, &format!("{CONVERSATION}{id}")).map_err(failed)?.unwrap_or_default();
            let bubble = |bubble: &str| value(&database, &format!("{BUBBLE}{id}:{bubble}"));
            cursor_editor::read(&conversation, bubble, &mut session, tally).map_err(failed)?;
            Ok(session)
        })
    })
}

/// Returns the ids of the conversations. The database of a single workspace has none.
fn conversations(database: &Connection) -> rusqlite::Result<Vec<String>> {
    if columns(database, "cursorDiskKV")?.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = database.prepare("SELECT key FROM cursorDiskKV WHERE key GLOB ?1 ORDER BY key")?;
    let keys = query.query_map([format!("{CONVERSATION}*")], |row| text(row, 0))?;
    keys.map(|key| Ok(key?.unwrap_or_default().trim_start_matches(CONVERSATION).to_owned())).collect()
}

/// Returns a value. What is no JSON says nothing.
fn value(database: &Connection, key: &str) -> rusqlite::Result<Option<Value>> {
    let mut query = database.prepare_cached("SELECT value FROM cursorDiskKV WHERE key = ?1")?;
    let found = query.query_row([key], |row| text(row, 0)).optional()?.flatten();
    Ok(found.and_then(|text| serde_json::from_str(&text).ok()))
}
