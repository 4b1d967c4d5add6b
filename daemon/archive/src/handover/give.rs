//! Exports a session as texts that another archive can import.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Map, Value, json};

use super::marks::Held;
use super::rows::Rows;
use super::{COUNT, HANDLES, HEAD, HEAD_TABLES, MADE, MADE_TABLES, MESSAGES, Name, ROWS};
use crate::outbox::{PromptForOthers, is_prompt, other_body};
use crate::session::SnapshotRow;
use crate::transcript::find_session_key;
use crate::undo::pieces::{self, Source};
use crate::{ArchiveError, Reader, schema};

/// The maximum number of messages in a list that is noted with a compression.
const MOST: u64 = 10_000_000;

/// A session as it is published to other hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// The host that has it, and its term.
    pub held: Held,
    /// The count of its changes when it was read.
    pub changes: u64,
    /// Whether it is open.
    pub is_open: bool,
    /// The newest of its messages that this archive uploads itself; 0 for none.
    pub newest: u64,
    /// The archives that its messages came to first.
    pub archives: Vec<u32>,
    /// The version of the archive's tables.
    pub version: u32,
    /// The parts by their names, as JSON.
    pub parts: BTreeMap<String, String>,
}

/// The messages from one archive that came with a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedMessages {
    /// The session.
    pub session: String,
    /// The archive that uploaded them.
    pub archive: u32,
    /// The number of the newest of them in that archive.
    pub through: u64,
}

/// A message's row.
struct Place {
    id: i64,
    name: Name,
    is_own: bool,
    row: Value,
}

/// The index of the role in a row.
const ROLE: usize = 4;
/// The index of the text's length in bytes.
const BYTES: usize = 8;

impl Place {
    /// Sets the length to that of the text that other hosts get.
    fn for_others(&mut self, view: &Connection, for_others: PromptForOthers) -> Result<(), ArchiveError> {
        let role = self.row[ROLE].as_str().unwrap_or_default();
        if !self.is_own || !is_prompt(role) {
            return Ok(());
        }
        let mut query = view.prepare_cached("SELECT body FROM message WHERE id = ?1")?;
        let body: String = query.query_row([self.id], |row| row.get(0))?;
        if let Some(other) = other_body(role, &body, for_others) {
            self.row[BYTES] = other.len().into();
        }
        Ok(())
    }
}

impl Reader {
    /// Returns a session as it is published to other hosts; `None` if it was never noted which host has it. Returns
    /// `None` also if its messages may have been uploaded with secrets masked, because the result would be another
    /// session. `for_others` reduces its snapshot and its system prompts to what other hosts may have.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn session_parts(
        &self,
        session: &str,
        for_others: (impl FnOnce(SnapshotRow) -> SnapshotRow, PromptForOthers),
    ) -> Result<Option<Parts>, ArchiveError> {
        // One read transaction, so that all queries see the same state.
        let view = self.connection.unchecked_transaction()?;
        let Some(held) = self.held(session)? else { return Ok(None) };
        let mut places = places(&view, session)?;
        for place in &mut places {
            place.for_others(&view, for_others.1)?;
        }
        let masked: i64 = view.query_row("SELECT value FROM meta WHERE name = 'masked'", [], |row| row.get(0))?;
        if places.iter().any(|place| place.is_own && place.id <= masked) {
            return Ok(None);
        }
        let numbers: HashMap<i64, i64> = places.iter().map(|place| place.id).zip(0..).collect();
        let mut parts = made(&view, session, &numbers)?;
        let made: Vec<&str> = parts.keys().filter_map(|name| name.strip_prefix(MADE)).collect();
        let snapshot = self.session(session)?.map(|row| for_others.0(row.snapshot));
        let head = head(&view, session, (places.len(), &made), snapshot)?;
        parts.insert(HEAD.to_owned(), head);
        for (at, some) in places.chunks(ROWS).enumerate() {
            let rows: Vec<&Value> = some.iter().map(|place| &place.row).collect();
            parts.insert(format!("{MESSAGES}{at}"), json!(rows).to_string());
        }
        let query = "SELECT changes, ended_at IS NULL FROM held JOIN session ON session.id = held.session
                     WHERE held.session = ?1";
        let (changes, is_open) = view.query_row(query, [session], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let newest = places.iter().filter(|place| place.is_own).map(|place| place.id).max().unwrap_or(0);
        let archives: BTreeSet<u32> = places.iter().map(|place| place.name.0).collect();
        Ok(Some(Parts {
            held,
            changes,
            is_open,
            newest: newest.unsigned_abs(),
            archives: archives.into_iter().collect(),
            version: schema::known(),
            parts,
        }))
    }

    /// Returns the names of the messages of a session that are stored here.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn session_names(&self, session: &str) -> Result<HashSet<Name>, ArchiveError> {
        Ok(ids(&self.connection, session)?.into_keys().collect())
    }

    /// Returns the sessions with messages from other archives, each with the archive and the highest number that is
    /// stored here.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn received(&self) -> Result<Vec<ReceivedMessages>, ArchiveError> {
        let mut query = self.connection.prepare_cached("SELECT session, archive, through FROM came")?;
        let rows = query.query_map([], |row| {
            Ok(ReceivedMessages { session: row.get(0)?, archive: row.get(1)?, through: row.get(2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Returns the messages of a session in the order in which they came, each with the name under which all hosts know it.
fn places(connection: &Connection, session: &str) -> Result<Vec<Place>, ArchiveError> {
    let Some(key) = find_session_key(connection, session)? else { return Ok(Vec::new()) };
    let own = identity(connection)?;
    let mut query = connection.prepare_cached(
        "SELECT row.id, origin.archive, origin.number, generation, position, role, time, compression, recalled,
                octet_length(row.body) + coalesce(octet_length(message_text.text), 0)
         FROM message_row AS row LEFT JOIN message_text ON message_text.id = row.id
         LEFT JOIN origin ON origin.id = row.id WHERE row.session = ?1 ORDER BY row.id",
    )?;
    let rows = query.query_map([key], |row| {
        let id: i64 = row.get(0)?;
        let name = match row.get::<_, Option<u32>>(1)? {
            Some(archive) => (archive, row.get(2)?),
            None => (own, id.unsigned_abs()),
        };
        let row = json!([
            name.0,
            name.1,
            row.get::<_, i64>(3)?,
            row.get::<_, i64>(4)?,
            row.get::<_, String>(5)?,
            row.get::<_, f64>(6)?,
            row.get::<_, Option<String>>(7)?,
            row.get::<_, i64>(8)?,
            row.get::<_, u64>(9)?,
        ]);
        Ok(Place { id, name, is_own: name.0 == own, row })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the number that distinguishes this archive's messages from those of others.
pub(super) fn identity(connection: &Connection) -> Result<u32, ArchiveError> {
    Ok(connection.query_row("SELECT value FROM meta WHERE name = 'identity'", [], |row| row.get(0))?)
}

/// Returns the head, including the data that shows whether another part is missing.
fn head(
    connection: &Connection,
    session: &str,
    (messages, made): (usize, &[&str]),
    snapshot: Option<SnapshotRow>,
) -> Result<String, ArchiveError> {
    let mut head = Map::from_iter([(COUNT.to_owned(), messages.into()), (HANDLES.to_owned(), made.into())]);
    let key = find_session_key(connection, session)?;
    for (table, column) in HEAD_TABLES {
        let mut rows = match table {
            "recall_call" => Rows::read(connection, table, "session = ?1", &[&key], column)?,
            _ => Rows::read(connection, table, &format!("{column} = ?1"), &[&session], column)?,
        };
        if table == "session"
            && let Some(SnapshotRow { memory, user, sha256, .. }) = &snapshot
        {
            rows.put("memory_block", json!(memory));
            rows.put("user_block", json!(user));
            rows.put("sha256", json!(sha256));
        }
        head.insert(table.to_owned(), rows.json());
    }
    Ok(Value::Object(head).to_string())
}

/// Returns the compressions of a session. They refer to rows of messages by their index in the order of all messages.
fn made(
    connection: &Connection,
    session: &str,
    numbers: &HashMap<i64, i64>,
) -> Result<BTreeMap<String, String>, ArchiveError> {
    let mut made: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for (table, column) in MADE_TABLES {
        let order = if matches!(table, "compression" | "node") { " ORDER BY rowid" } else { "" };
        let all = Rows::read(connection, table, &format!("session = ?1{order}"), &[&session], "session")?;
        let at = |name: &str| all.place(name).unwrap_or(usize::MAX);
        let (handle, message, list) = (at(column), at("message"), at("pieces"));
        for mut row in all.rows {
            let Some(handle) = row.get(handle).and_then(Value::as_str).map(str::to_owned) else { continue };
            if let Some(id) = row.get_mut(message) {
                *id = id.as_i64().and_then(|id| numbers.get(&id)).map_or(Value::Null, |number| (*number).into());
            }
            if let Some(text) = row.get_mut(list) {
                // A list with a missing row can't be restored.
                let Some(mapped) = text.as_str().and_then(|text| renumbered(text, |id| numbers.get(&id).copied()))
                else {
                    continue;
                };
                *text = mapped.into();
            }
            let tables = made.entry(handle).or_default();
            let rows = tables.entry(table).or_insert_with(|| json!({ "columns": all.columns, "rows": [] }));
            if let Some(rows) = rows.get_mut("rows").and_then(Value::as_array_mut) {
                rows.push(row.into());
            }
        }
    }
    Ok(made
        .into_iter()
        .map(|(handle, tables)| (format!("{MADE}{handle}"), Value::Object(tables).to_string()))
        .collect())
}

/// Returns the pieces of a list with its rows renumbered.
pub(super) fn renumbered(text: &str, number: impl Fn(i64) -> Option<i64>) -> Option<String> {
    let sources = pieces::read(text, MOST)?.into_iter().map(|source| match source {
        Source::Row(id) => number(id).map(Source::Row),
        after @ Source::After(_) => Some(after),
    });
    Some(pieces::write(sources.collect::<Option<Vec<_>>>()?.into_iter()))
}

/// Returns the local ids of a session's messages, keyed by the names under which all hosts know them.
pub(super) fn ids(connection: &Connection, session: &str) -> Result<HashMap<Name, i64>, ArchiveError> {
    Ok(places(connection, session)?.into_iter().map(|place| (place.name, place.id)).collect())
}

/// Whether the session exists.
pub(super) fn exists(connection: &Connection, session: &str) -> Result<bool, ArchiveError> {
    let query = "SELECT 1 FROM session WHERE id = ?1";
    Ok(connection.query_row(query, params![session], |_| Ok(())).optional()?.is_some())
}
