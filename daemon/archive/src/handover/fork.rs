//! Forks: content that was added to a session here while another host took it over moves to a session of its own.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::{Connection, Transaction, params};
use serde_json::{Map, Value};

use super::give::{exists, ids};
use super::rows::Rows;
use super::{MOVES, Name};
use crate::copy::copy;
use crate::transcript::{session_key, take_ids};
use crate::{ArchiveError, index};

/// Tables whose rows a fork copies from its session.
const COPIED: [&str; 6] = ["engine", "user_rule", "pin", "discard", "episode", "opened"];

/// Those of them with rows that a user or an agent set.
const SAID: [&str; 4] = ["user_rule", "pin", "discard", "episode"];

/// Columns of the session's own row that a user or an agent set, or that were frozen for it.
const SET: [&str; 3] = ["settings", "title", "sha256"];

/// Tables whose rows belong to a compression, and the column that names it.
const OF_COMPRESSION: [(&str, &str); 3] = [("node", "made_by"), ("original", "handle"), ("list_before", "handle")];

/// Creates a session with the given name from the local content that is not in the published state: the local list, and
/// the compressions that were made here. All its messages get new ids. Those that the other host knows are copies,
/// which no search finds. Returns the id of the fork, or `None` if everything was published.
pub(super) fn fork(
    transaction: &Transaction<'_>,
    (of, named): (&str, &str),
    published: &HashSet<Name>,
    handles: &HashSet<String>,
    head: &BTreeMap<String, Rows>,
) -> Result<Option<String>, ArchiveError> {
    let known = ids(transaction, of)?;
    let strays: HashSet<i64> = known.iter().filter(|(name, _)| !published.contains(*name)).map(|(_, id)| *id).collect();
    let made: Vec<String> = all_handles(transaction, of)?;
    let made: Vec<String> = made.into_iter().filter(|handle| !handles.contains(handle)).collect();
    if strays.is_empty() && made.is_empty() && !has_other_strays(transaction, of, head)? {
        return Ok(None);
    }
    let session = free_id(transaction, named)?;
    copy(transaction, "session", "id", (of, &session))?;
    transaction.execute("UPDATE session SET parent = ?2 WHERE id = ?1", [session.as_str(), of])?;
    for table in COPIED {
        copy(transaction, table, "session", (of, &session))?;
    }
    let (from, to) = (session_key(transaction, of)?, session_key(transaction, &session)?);
    let places = move_messages(transaction, (from, to), &strays, &made)?;
    for handle in &made {
        transaction
            .prepare_cached("UPDATE compression SET session = ?2 WHERE handle = ?1")?
            .execute([handle, &session])?;
        for (table, column) in OF_COMPRESSION {
            let query = format!("UPDATE {table} SET session = ?2 WHERE {column} = ?1");
            transaction.prepare_cached(&query)?.execute([handle, &session])?;
        }
    }
    for (id, new) in &places {
        transaction
            .prepare_cached("UPDATE original SET message = ?2 WHERE message = ?1 AND session = ?3")?
            .execute(params![id, new, session])?;
    }
    // The lists before these compressions refer to rows by ids that are not in this session any more.
    transaction.execute("DELETE FROM list_before WHERE session = ?1", [&session])?;
    Ok(Some(session))
}

/// Moves the strays to the fork, and copies the other messages of its list. Returns the new id of each.
fn move_messages(
    transaction: &Transaction<'_>,
    (from, to): (i64, i64),
    strays: &HashSet<i64>,
    made: &[String],
) -> Result<HashMap<i64, i64>, ArchiveError> {
    let list = list(transaction, from, strays, made)?;
    let mut places = HashMap::new();
    let mut free = take_ids(transaction, list.len())?..;
    for id in list {
        let (new, is_stray) = (free.next().unwrap_or(i64::MAX), strays.contains(&id));
        transaction
            .prepare_cached(
                "INSERT INTO message_row (id, session, generation, position, role, time, compression, recalled, body)
                 SELECT ?2, ?3, generation, position, role, time, compression, max(recalled, ?4), body
                 FROM message_row WHERE id = ?1",
            )?
            .execute(params![id, new, to, !is_stray])?;
        transaction
            .prepare_cached("INSERT INTO message_text (id, text) SELECT ?2, text FROM message_text WHERE id = ?1")?
            .execute([id, new])?;
        places.insert(id, new);
    }
    let gone: Vec<i64> = strays.iter().copied().collect();
    index::forget(transaction, &gone)?;
    for id in gone {
        for table in ["message_row", "message_text", "origin"] {
            transaction.prepare_cached(&format!("DELETE FROM {table} WHERE id = ?1"))?.execute([id])?;
        }
        transaction.prepare_cached("INSERT OR IGNORE INTO stray (number) VALUES (?1)")?.execute([id])?;
    }
    Ok(places)
}

/// Whether anything changed, except messages and compressions, that must not be lost.
fn has_other_strays(
    connection: &Connection,
    session: &str,
    head: &BTreeMap<String, Rows>,
) -> Result<bool, ArchiveError> {
    let query = "SELECT 1 FROM held WHERE session = ?1 AND mattered > sent";
    if !connection.prepare_cached(query)?.exists([session])? {
        return Ok(false);
    }
    for table in SAID {
        let here = Rows::read(connection, table, "session = ?1", &[&session], "session")?;
        if head.get(table).is_none_or(|published| published.rows != here.rows) {
            return Ok(true);
        }
    }
    let here = Rows::read(connection, "session", "id = ?1", &[&session], "id")?;
    let set = |rows: &Rows| SET.map(|name| Some(said(rows.rows.first()?.get(rows.place(name)?)?)));
    Ok(head.get("session").is_none_or(|published| set(published) != set(&here)))
}

/// Returns a value without the field that each host writes by itself.
fn said(value: &Value) -> Value {
    if value.is_null() {
        return Value::Object(Map::new());
    }
    let object = value.as_str().and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
    object.map_or_else(
        || value.clone(),
        |mut object| {
            object.remove(MOVES);
            Value::Object(object)
        },
    )
}

/// Returns the ids of the strays, of the messages in the list, and of the messages that left it by compressions that
/// only this host knows.
fn list(connection: &Connection, key: i64, strays: &HashSet<i64>, made: &[String]) -> Result<Vec<i64>, ArchiveError> {
    let mut query =
        connection.prepare_cached("SELECT id, compression FROM message_row WHERE session = ?1 ORDER BY id")?;
    let rows = query.query_map([key], |row| Ok((row.get(0)?, row.get::<_, Option<String>>(1)?)))?;
    let rows: Vec<(i64, Option<String>)> = rows.collect::<Result<_, _>>()?;
    let is_here = |handle: &Option<String>| handle.as_ref().is_none_or(|handle| made.contains(handle));
    let ids = rows.into_iter().filter(|(id, handle)| strays.contains(id) || is_here(handle)).map(|(id, _)| id);
    Ok(ids.collect())
}

fn all_handles(connection: &Connection, session: &str) -> Result<Vec<String>, ArchiveError> {
    let mut query = connection.prepare_cached("SELECT handle FROM compression WHERE session = ?1")?;
    let rows = query.query_map([session], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns an id that no session has.
fn free_id(connection: &Connection, wanted: &str) -> Result<String, ArchiveError> {
    let mut id = wanted.to_owned();
    let mut number = 1_u64;
    while exists(connection, &id)? {
        number += 1;
        id = format!("{wanted}-{number}");
    }
    Ok(id)
}
