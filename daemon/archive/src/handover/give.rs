//! A session as texts that another archive can take.

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

/// Most messages of a list that is noted with a compression.
const MOST: u64 = 10_000_000;

/// A session as it is told to other hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// Who has it.
    pub held: Held,
    /// The count of its changes when it was read.
    pub changes: u64,
    /// It was not closed.
    pub is_open: bool,
    /// The newest of its messages that this archive brings itself; 0 for none.
    pub newest: u64,
    /// The archives that its messages came to first.
    pub archives: Vec<u32>,
    /// The version of the archive's tables.
    pub version: u32,
    /// The parts by their names, as JSON.
    pub parts: BTreeMap<String, String>,
}

/// Messages that came with a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Came {
    /// The session.
    pub session: String,
    /// The archive that brought them.
    pub archive: u32,
    /// The newest of them, by its number there.
    pub through: u64,
}

/// A message's row.
struct Place {
    id: i64,
    name: Name,
    is_own: bool,
    row: Value,
}

/// Where a row has its role.
const ROLE: usize = 4;
/// Where it has the bytes of its text.
const BYTES: usize = 8;

impl Place {
    /// Has the length of what other hosts get.
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
    /// A session as it is told to other hosts. `None` where nobody noted who has it, and where its messages may have
    /// been brought with secrets masked: what comes of these is not the session. `for_others` says what other hosts
    /// may have of its snapshot and of its system prompts.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn session_parts(
        &self,
        session: &str,
        for_others: (impl FnOnce(SnapshotRow) -> SnapshotRow, PromptForOthers),
    ) -> Result<Option<Parts>, ArchiveError> {
        // One view of the file for all of it.
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

    /// The names of the messages of a session that are here.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn session_names(&self, session: &str) -> Result<HashSet<Name>, ArchiveError> {
        Ok(ids(&self.connection, session)?.into_keys().collect())
    }

    /// The sessions with messages that came with them, each with the archives that brought these, and up to which number they are
    /// here.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn came(&self) -> Result<Vec<Came>, ArchiveError> {
        let mut query = self.connection.prepare_cached("SELECT session, archive, through FROM came")?;
        let rows =
            query.query_map([], |row| Ok(Came { session: row.get(0)?, archive: row.get(1)?, through: row.get(2)? }))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// The messages of a session in the order in which they came, each by the name that all hosts know it by.
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

/// Tells this archive's messages from those of others.
pub(super) fn identity(connection: &Connection) -> Result<u32, ArchiveError> {
    Ok(connection.query_row("SELECT value FROM meta WHERE name = 'identity'", [], |row| row.get(0))?)
}

/// The head, with what tells whether another part is missing.
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

/// The compressions of a session. Rows of messages are named by their place in the order of all.
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
                // A list of which a row is gone can't be made again.
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

/// The pieces of a list with other numbers for its rows.
pub(super) fn renumbered(text: &str, number: impl Fn(i64) -> Option<i64>) -> Option<String> {
    let sources = pieces::read(text, MOST)?.into_iter().map(|source| match source {
        Source::Row(id) => number(id).map(Source::Row),
        after @ Source::After(_) => Some(after),
    });
    Some(pieces::write(sources.collect::<Option<Vec<_>>>()?.into_iter()))
}

/// The local ids of a session's messages by the names that all hosts know them by.
pub(super) fn ids(connection: &Connection, session: &str) -> Result<HashMap<Name, i64>, ArchiveError> {
    Ok(places(connection, session)?.into_iter().map(|place| (place.name, place.id)).collect())
}

/// Whether there is such a session.
pub(super) fn exists(connection: &Connection, session: &str) -> Result<bool, ArchiveError> {
    let query = "SELECT 1 FROM session WHERE id = ?1";
    Ok(connection.query_row(query, params![session], |_| Ok(())).optional()?.is_some())
}
