//! Takes over a session that another host had.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use serde_json::Value;
use serde_json::value::RawValue;

use super::fork::fork;
use super::give::{exists, ids, renumbered};
use super::marks::MOVED;
use super::rows::Rows;
use super::{COUNT, HANDLES, HEAD, HEAD_TABLES, MADE, MADE_TABLES, MESSAGES, MOVES, Name, OLDEST, ROWS};
use crate::transcript::{session_key, take_ids};
use crate::{Archive, ArchiveError, schema};

/// A session to take over, as another host published it.
#[derive(Debug, Clone)]
pub struct Takeover {
    /// Its id.
    pub session: String,
    /// Its profile.
    pub profile: String,
    /// Distinguishes it from another session with its id.
    pub birth: String,
    /// The term of the host that has it from now on.
    pub term: u64,
    /// That host, if it is not this one. Then only a copy is stored here.
    pub holder: Option<String>,
    /// The version of the tables of the archive that published it.
    pub version: u32,
    /// Its parts, by their names.
    pub parts: BTreeMap<String, String>,
    /// The texts of its messages, as JSON, as far as they are not stored here.
    pub texts: HashMap<Name, String>,
    /// The id for the fork, which gets the content that was added here and that the other host does not know.
    pub fork: String,
}

/// The result of taking over a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakeoverResult {
    /// How many messages were not stored here before.
    pub new: usize,
    /// The fork with the content that the other host does not know; `None` if it knows everything.
    pub fork: Option<String>,
}

/// A message of a published session.
struct PublishedMessage {
    name: Name,
    generation: i64,
    position: i64,
    role: String,
    time: f64,
    compression: Option<String>,
    recalled: i64,
    bytes: u64,
}

/// A published session, parsed.
struct Session {
    head: BTreeMap<String, Rows>,
    /// The compressions, the oldest first.
    made: Vec<BTreeMap<String, Rows>>,
    messages: Vec<PublishedMessage>,
}

impl Archive {
    /// Takes over a session, whole or nothing of it. The local session becomes as published. Content that was added
    /// here and is not in the published state moves to a fork.
    ///
    /// # Errors
    /// - Parts of an unknown version, parts that are no session's, or a missing part.
    /// - A message without its text.
    /// - A session that this host has, or of which it knows a later term.
    /// - A failure of the database.
    pub fn take_session(&mut self, takeover: &Takeover) -> Result<TakeoverResult, ArchiveError> {
        self.take(takeover, true)
    }

    /// Checks whether a session can be taken over: takes it over and rolls back.
    ///
    /// # Errors
    /// As [`Self::take_session`].
    pub fn try_session(&mut self, takeover: &Takeover) -> Result<(), ArchiveError> {
        self.take(takeover, false).map(drop)
    }

    fn take(&mut self, takeover: &Takeover, is_kept: bool) -> Result<TakeoverResult, ArchiveError> {
        let misfit = |words: String| ArchiveError::Misfit { session: takeover.session.clone(), words };
        if !(OLDEST..=schema::known()).contains(&takeover.version) {
            let words = "it was published by another version of herma; update the older one";
            return Err(misfit(format!("{words} (tables of version {})", takeover.version)));
        }
        let published = Session::read(&takeover.parts).map_err(|words| misfit(words.to_owned()))?;
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.pragma_update(None, "defer_foreign_keys", "ON")?;
        for (table, _) in HEAD_TABLES.iter().chain(&MADE_TABLES) {
            for rows in std::iter::once(&published.head).chain(&published.made).filter_map(|tables| tables.get(*table))
            {
                if let Some(column) = rows.unknown(&transaction, table)? {
                    return Err(misfit(format!("its {table} has a column {column:?} that is not known")));
                }
            }
        }
        check_term(&transaction, takeover)?;
        let fork = if exists(&transaction, &takeover.session)? {
            let names = published.messages.iter().map(|published| published.name).collect();
            fork(&transaction, (&takeover.session, &takeover.fork), &names, &published.handles(), &published.head)?
        } else {
            None
        };
        let new = replace(&transaction, takeover, &published)?;
        if is_kept {
            transaction.commit()?;
        }
        Ok(TakeoverResult { new, fork })
    }
}

/// Returns the names of the messages in some parts, each with the length of its text in bytes. Returns `None` if the
/// parts are no session's.
#[must_use]
pub fn names_in(parts: &BTreeMap<String, String>) -> Option<Vec<(Name, u64)>> {
    Some(messages(parts)?.into_iter().map(|published| (published.name, published.bytes)).collect())
}

/// Returns an error if this host has a later state, which the state that another host had before must not replace.
fn check_term(connection: &Connection, takeover: &Takeover) -> Result<(), ArchiveError> {
    let query = "SELECT term, holder IS NULL FROM held WHERE session = ?1 AND birth = ?2";
    let known = connection
        .prepare_cached(query)?
        .query_row([&takeover.session, &takeover.birth], |row| Ok((row.get::<_, u64>(0)?, row.get::<_, bool>(1)?)));
    match known.optional()? {
        Some((term, is_here))
            if term > takeover.term || (term == takeover.term && is_here && takeover.holder.is_some()) =>
        {
            let words = "this host has a later state of it".to_owned();
            Err(ArchiveError::Misfit { session: takeover.session.clone(), words })
        }
        _ => Ok(()),
    }
}

impl Session {
    /// Parses the parts. The error says why they are no session's.
    fn read(parts: &BTreeMap<String, String>) -> Result<Self, &'static str> {
        let head_part = parts.get(HEAD).ok_or("its head is missing")?;
        let value: Value = serde_json::from_str(head_part).map_err(|_| "its head can't be read")?;
        let head = tables(&value).ok_or("its head can't be read")?;
        let row = head.get("session").filter(|rows| rows.rows.len() == 1 && rows.place("id").is_none());
        if row.is_none() || HEAD_TABLES.iter().any(|(table, _)| !head.contains_key(*table)) {
            return Err("its head is not whole");
        }
        let made = parts.iter().filter_map(|(name, text)| Some((name.strip_prefix(MADE)?, text)));
        let (mut handles, mut read) = (Vec::new(), Vec::new());
        for (handle, text) in made {
            let value: Value = serde_json::from_str(text).map_err(|_| "a compression can't be read")?;
            let tables = tables(&value).ok_or("a compression can't be read")?;
            let rows = tables
                .get("compression")
                .filter(|rows| rows.rows.len() == 1 && text_in(rows, "handle") == Some(handle));
            rows.ok_or("a compression is not whole")?;
            handles.push(handle);
            read.push(tables);
        }
        let messages = messages(parts).ok_or("its messages can't be read")?;
        let count = messages.len();
        let wanted = value.get(HANDLES).and_then(Value::as_array).ok_or("its head is not whole")?;
        let is_whole = wanted.iter().map(Value::as_str).eq(handles.iter().copied().map(Some))
            && value.get(COUNT).and_then(Value::as_u64) == u64::try_from(count).ok()
            && parts.len() == 1 + handles.len() + count.div_ceil(ROWS);
        if !is_whole {
            return Err("a part of it is missing");
        }
        read.sort_by_key(generation);
        Ok(Self { head, made: read, messages })
    }

    fn handles(&self) -> HashSet<String> {
        let rows = self.made.iter().filter_map(|tables| tables.get("compression"));
        rows.filter_map(|rows| text_in(rows, "handle").map(str::to_owned)).collect()
    }
}

/// Replaces the local session with the published one. Returns how many messages are new.
fn replace(transaction: &Transaction<'_>, takeover: &Takeover, published: &Session) -> Result<usize, ArchiveError> {
    let Takeover { session, profile, .. } = takeover;
    let known = ids(transaction, session)?;
    if let Some(rows) = published.head.get("session") {
        if exists(transaction, session)? {
            rows.update(transaction, "session", ("id", session))?
        } else {
            rows.insert(transaction, "session", ("id", session))?
        }
    }
    transaction.execute("UPDATE session SET profile = ?2 WHERE id = ?1", [session, profile])?;
    let key = session_key(transaction, session)?;
    transaction.execute("DELETE FROM recall_call WHERE session = ?1", [key])?;
    // The local rows move out of the way of the published ones.
    transaction.execute("UPDATE message_row SET compression = NULL, position = -id WHERE session = ?1", [key])?;
    for (table, _) in HEAD_TABLES.iter().chain(MADE_TABLES.iter().rev()) {
        if !matches!(*table, "session" | "recall_call") {
            transaction.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [session])?;
        }
    }
    for (table, rows) in published.head.iter().filter(|(table, _)| *table != "session") {
        match table.as_str() {
            "recall_call" => rows.insert(transaction, table, ("session", &key))?,
            _ => rows.insert(transaction, table, ("session", session))?,
        }
    }
    let places: Vec<i64> = place_messages(transaction, takeover, key, &known, &published.messages)?;
    for (table, _) in MADE_TABLES {
        for rows in published.made.iter().filter_map(|tables| tables.get(table)) {
            with_ids(rows.clone(), &places).insert(transaction, table, ("session", session))?;
        }
    }
    note_held(transaction, takeover)?;
    Ok(published.messages.iter().filter(|published| !known.contains_key(&published.name)).count())
}

/// Notes the host that has the session from now on. If it is this host, the session's setting changes, so that this
/// host assigns other names than those before it. If it is another host, the session ends here.
fn note_held(transaction: &Transaction<'_>, takeover: &Takeover) -> Result<(), ArchiveError> {
    let Takeover { session, birth, term, holder, .. } = takeover;
    match holder {
        Some(_) => {
            let query = "UPDATE session SET end_reason = ?2, ended_at = coalesce(last_active, started_at)
                         WHERE id = ?1 AND ended_at IS NULL";
            transaction.execute(query, [session.as_str(), MOVED])?;
        }
        None => {
            let query = format!(
                "UPDATE session SET settings = json_set(
                     CASE WHEN json_valid(settings) THEN settings ELSE '{{}}' END, '$.{MOVES}', ?2) WHERE id = ?1"
            );
            transaction.execute(&query, params![session, term])?;
        }
    }
    transaction.execute(
        "INSERT INTO held (session, birth, term, holder, changes, mattered, sent) VALUES (?1, ?2, ?3, ?4, 1, 1, 1)
         ON CONFLICT (session) DO UPDATE SET birth = excluded.birth, term = excluded.term, holder = excluded.holder,
             mattered = changes, sent = changes",
        params![session, birth, term, holder],
    )?;
    Ok(())
}

/// Stores the messages that are new here, and moves all messages to their positions. Returns their ids, in the order of
/// the messages.
fn place_messages(
    transaction: &Transaction<'_>,
    takeover: &Takeover,
    key: i64,
    known: &HashMap<Name, i64>,
    published: &[PublishedMessage],
) -> Result<Vec<i64>, ArchiveError> {
    let new = published.iter().filter(|published| !known.contains_key(&published.name)).count();
    let mut free = take_ids(transaction, new)?..;
    let mut place = transaction.prepare(
        "INSERT INTO message_row (id, session, generation, position, role, time, compression, recalled, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, '')
         ON CONFLICT (id) DO UPDATE SET generation = excluded.generation, position = excluded.position,
             compression = excluded.compression, recalled = excluded.recalled",
    )?;
    let mut keep = transaction.prepare("INSERT INTO message_text (id, text) VALUES (?1, ?2)")?;
    let mut name = transaction.prepare("INSERT INTO origin (id, archive, number) VALUES (?1, ?2, ?3)")?;
    let mut received = transaction.prepare(
        "INSERT INTO came (session, archive, through) VALUES (?1, ?2, ?3)
         ON CONFLICT (session, archive) DO UPDATE SET through = max(through, excluded.through)",
    )?;
    let mut ids = Vec::with_capacity(published.len());
    for one in published {
        let id = match known.get(&one.name) {
            Some(id) => *id,
            None => {
                let text = text_of(takeover, one)?;
                let id = free.next().unwrap_or(i64::MAX);
                keep.execute(params![id, text])?;
                // This includes a message of this archive that is gone from it: it gets another id here, and is not
                // uploaded again.
                name.execute(params![id, one.name.0, one.name.1])?;
                received.execute(params![takeover.session, one.name.0, one.name.1])?;
                id
            }
        };
        let PublishedMessage { generation, position, role, time, compression, recalled, .. } = one;
        place.execute(params![id, key, generation, position, role, time, compression, recalled])?;
        ids.push(id);
    }
    Ok(ids)
}

/// Returns the text of a message that is not stored here.
fn text_of<'a>(takeover: &'a Takeover, published: &PublishedMessage) -> Result<&'a str, ArchiveError> {
    let is_it = |text: &&String| {
        u64::try_from(text.len()) == Ok(published.bytes) && serde_json::from_str::<&RawValue>(text).is_ok()
    };
    takeover.texts.get(&published.name).filter(is_it).map(String::as_str).ok_or_else(|| ArchiveError::Misfit {
        session: takeover.session.clone(),
        words: format!(
            "message msg_{:08x}-{} of it is not in the database as it was said; it can only go on on the host that has it",
            published.name.0, published.name.1
        ),
    })
}

/// Replaces the numbers of messages in rows with their ids.
fn with_ids(mut rows: Rows, ids: &[i64]) -> Rows {
    let id = |number: i64| usize::try_from(number).ok().and_then(|at| ids.get(at)).copied();
    if let Some(message) = rows.place("message") {
        for row in &mut rows.rows {
            row[message] = row[message].as_i64().and_then(id).map_or(Value::Null, Value::from);
        }
    }
    if let Some(pieces) = rows.place("pieces") {
        rows.rows.retain_mut(|row| match row[pieces].as_str().and_then(|text| renumbered(text, id)) {
            Some(text) => {
                row[pieces] = text.into();
                true
            }
            None => false,
        });
    }
    rows
}

/// Returns the rows of each table in a part.
fn tables(part: &Value) -> Option<BTreeMap<String, Rows>> {
    let known = |name: &str| HEAD_TABLES.iter().chain(&MADE_TABLES).any(|(table, _)| *table == name);
    let tables = part.as_object()?.iter().filter(|(table, _)| known(table));
    tables.map(|(table, rows)| Some((table.clone(), Rows::parse(rows)?))).collect()
}

fn text_in<'a>(rows: &'a Rows, column: &str) -> Option<&'a str> {
    rows.rows.first()?.get(rows.place(column)?)?.as_str()
}

/// Returns the generation of a compression's part.
fn generation(made: &BTreeMap<String, Rows>) -> i64 {
    let read = |rows: &Rows| rows.rows.first()?.get(rows.place("generation")?)?.as_i64();
    made.get("compression").and_then(read).unwrap_or(0)
}

fn messages(parts: &BTreeMap<String, String>) -> Option<Vec<PublishedMessage>> {
    let mut published = Vec::new();
    let mut at = 0;
    while let Some(part) = parts.get(&format!("{MESSAGES}{at}")) {
        let rows: Vec<Value> = serde_json::from_str(part).ok()?;
        for row in &rows {
            published.push(PublishedMessage {
                name: (u32::try_from(row.get(0)?.as_u64()?).ok()?, row.get(1)?.as_u64()?),
                generation: row.get(2)?.as_i64()?,
                position: row.get(3)?.as_i64()?,
                role: row.get(4)?.as_str()?.to_owned(),
                time: row.get(5)?.as_f64()?,
                compression: match row.get(6)? {
                    Value::Null => None,
                    handle => Some(handle.as_str()?.to_owned()),
                },
                recalled: row.get(7)?.as_i64()?,
                bytes: row.get(8)?.as_u64()?,
            });
        }
        at += 1;
    }
    Some(published)
}
