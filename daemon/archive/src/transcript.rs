//! The transcript of a session, to which messages are appended.

use rusqlite::{CachedStatement, Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::message::{Call, Parsed};
use crate::normal::normal;
use crate::{Archive, ArchiveError, Reader};

/// The result of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// Everything is stored. The next message belongs at this position.
    Next(u64),
    /// Nothing was stored: the generation is another one, messages before these are missing, or others are at their
    /// positions. An append with these values is accepted.
    Conflict {
        /// The session's generation.
        generation: u64,
        /// The position after its last message.
        position: u64,
    },
}

/// Messages to be added to one session's transcript; see [`Archive::append`].
#[derive(Debug, Clone, Copy)]
pub struct Append<'a> {
    /// The session.
    pub session: &'a str,
    /// Its generation.
    pub generation: u64,
    /// The position of the first message.
    pub position: u64,
    /// When they were added, in Unix seconds.
    pub time: f64,
    /// JSON texts.
    pub messages: &'a [&'a str],
}

impl Archive {
    /// Adds messages (JSON texts, stored byte for byte) to a session's transcript, the first at `position`. Messages
    /// that are already there are accepted and not stored twice, however a client's library writes their JSON. A search
    /// finds new messages once [`Archive::index_pending`] has indexed them.
    ///
    /// # Errors
    /// An unknown session, or a failure of the database; nothing is stored then.
    pub fn append(
        &mut self,
        session: &str,
        generation: u64,
        position: u64,
        messages: &[&str],
        now: f64,
    ) -> Result<Appended, ArchiveError> {
        let append = Append { session, generation, position, time: now, messages };
        self.append_all(&[append])?.pop().unwrap_or(Err(ArchiveError::NoSession { session: session.to_owned() }))
    }

    /// Does what [`Archive::append`] does for several appends, in their order, with one sync for all of them. Each has
    /// its own result; a refused one changes nothing for the others.
    ///
    /// # Errors
    /// A failure of the database; nothing of any of them is stored then.
    pub fn append_all(&mut self, appends: &[Append<'_>]) -> Result<Vec<Result<Appended, ArchiveError>>, ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        let answers = append_each(&transaction, appends)?;
        if answers.iter().any(|answer| matches!(answer, Ok(Appended::Next(_)))) {
            transaction.commit()?;
        }
        Ok(answers)
    }

    /// Imports messages that were made durable outside of the archive first: does what [`Archive::append_all`] does,
    /// and changes [`Reader::epoch`] in the same transaction. From then on, their other copies no longer count.
    ///
    /// # Errors
    /// A failure of the database; nothing is stored then, and the epoch is unchanged.
    pub fn take_over(
        &mut self,
        appends: &[Append<'_>],
    ) -> Result<(u64, Vec<Result<Appended, ArchiveError>>), ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        let answers = append_each(&transaction, appends)?;
        let next = "UPDATE meta SET value = value + 1 WHERE name = 'epoch' RETURNING value";
        let epoch = transaction.prepare_cached(next)?.query_row([], |row| row.get(0))?;
        transaction.commit()?;
        Ok((epoch, answers))
    }
}

fn append_each(
    transaction: &Transaction<'_>,
    appends: &[Append<'_>],
) -> Result<Vec<Result<Appended, ArchiveError>>, ArchiveError> {
    let each = |&Append { session, generation, position, time, messages }: &Append<'_>| match append_in(
        transaction,
        session,
        generation,
        position,
        messages,
        time,
    ) {
        Err(error) if !matches!(error, ArchiveError::NoSession { .. }) => Err(error),
        answer => Ok(answer),
    };
    appends.iter().map(each).collect()
}

/// Does what [`Archive::append`] does, as part of a larger transaction.
pub(crate) fn append_in(
    transaction: &Transaction<'_>,
    session: &str,
    generation: u64,
    position: u64,
    messages: &[&str],
    now: f64,
) -> Result<Appended, ArchiveError> {
    let current = generation_of(transaction, session)?;
    let key = session_key(transaction, session)?;
    let next = next_position(transaction, key)?;
    let conflict = Appended::Conflict { generation: current, position: next };
    if generation != current || position > next {
        return Ok(conflict);
    }
    let known = usize::try_from(next - position).unwrap_or(usize::MAX).min(messages.len());
    let (again, new) = messages.split_at(known);
    if !is_kept(transaction, key, position, again)? {
        return Ok(conflict);
    }
    let mut rows = Rows::new(transaction, session, key)?;
    let first = take_ids(transaction, new.len())?;
    for (position, (body, id)) in (next..).zip(new.iter().zip(first..)) {
        rows.insert(&NewMessage { id, generation, position, time: now, compression: None, body })?;
    }
    rows.count(now)?;
    Ok(Appended::Next(next + to_u64(new.len())))
}

/// Identifies the transcript that a list was read from. A session that was removed and created again has another one.
/// While the session stays at its generation, messages are only added at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscriptId {
    key: i64,
    generation: u64,
}

impl Reader {
    /// Returns the number that messages carry which were made durable outside of the archive and which
    /// [`Archive::take_over`] will import. It differs between archives, and changes with each import.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn epoch(&self) -> Result<u64, ArchiveError> {
        let query = "SELECT value FROM meta WHERE name = 'epoch'";
        Ok(self.connection.prepare_cached(query)?.query_row([], |row| row.get(0))?)
    }

    /// Returns a session's generation, and the position after its last message.
    ///
    /// # Errors
    /// An unknown session, or a failure of the database.
    pub fn place(&self, session: &str) -> Result<(u64, u64), ArchiveError> {
        let generation = generation_of(&self.connection, session)?;
        let next = match find_session_key(&self.connection, session)? {
            Some(key) => next_position(&self.connection, key)?,
            None => 0,
        };
        Ok((generation, next))
    }

    /// Returns the session's current list; empty if it has none or is unknown.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn transcript(&self, session: &str) -> Result<Vec<String>, ArchiveError> {
        bodies(&self.connection, session)
    }

    /// Returns the session's transcript with its identity; `None` for an unknown session.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn identified_transcript(&self, session: &str) -> Result<Option<(TranscriptId, Vec<String>)>, ArchiveError> {
        // One read transaction, so that all queries see the same state.
        let transaction = self.connection.unchecked_transaction()?;
        let Some(id) = transcript_id(&transaction, session)? else { return Ok(None) };
        Ok(Some((id, bodies(&transaction, session)?)))
    }

    /// Returns the messages of a transcript from a position on; `None` if the session has another one.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn transcript_from(
        &self,
        session: &str,
        id: TranscriptId,
        position: u64,
    ) -> Result<Option<Vec<String>>, ArchiveError> {
        let transaction = self.connection.unchecked_transaction()?;
        if transcript_id(&transaction, session)? == Some(id) {
            bodies_from(&transaction, id.key, position).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Returns the bytes of the JSON texts of a session's current list; 0 if it has none or is unknown. Reads no text.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn transcript_bytes(&self, session: &str) -> Result<u64, ArchiveError> {
        // SQLite knows the length of a table's own column without reading the text. For a view's column it reads the
        // text.
        let query = "SELECT coalesce(sum(octet_length(body) + coalesce(octet_length(text), 0)), 0)
                     FROM message_row LEFT JOIN message_text ON message_text.id = message_row.id
                     WHERE session = (SELECT key FROM session_key WHERE id = ?1) AND compression IS NULL";
        Ok(self.connection.prepare_cached(query)?.query_row([session], |row| row.get(0))?)
    }

    /// Returns how many messages the transcript has by now; `None` if the session has another one.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn transcript_length(&self, session: &str, id: TranscriptId) -> Result<Option<u64>, ArchiveError> {
        if transcript_id(&self.connection, session)? == Some(id) {
            next_position(&self.connection, id.key).map(Some)
        } else {
            Ok(None)
        }
    }
}

fn transcript_id(connection: &Connection, session: &str) -> Result<Option<TranscriptId>, ArchiveError> {
    let query =
        "SELECT session_key.key, session.generation FROM session JOIN session_key ON session_key.id = session.id
                 WHERE session.id = ?1";
    let id = |row: &rusqlite::Row<'_>| Ok(TranscriptId { key: row.get(0)?, generation: row.get(1)? });
    Ok(connection.prepare_cached(query)?.query_row([session], id).optional()?)
}

pub(crate) fn bodies(connection: &Connection, session: &str) -> Result<Vec<String>, ArchiveError> {
    find_session_key(connection, session)?.map_or_else(|| Ok(Vec::new()), |key| bodies_from(connection, key, 0))
}

fn bodies_from(connection: &Connection, key: i64, position: u64) -> Result<Vec<String>, ArchiveError> {
    let mut query = connection.prepare_cached(
        "SELECT body FROM message WHERE session = ?1 AND compression IS NULL AND position >= ?2 ORDER BY position",
    )?;
    let rows = query.query_map(params![key, position], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A message to be inserted as a row.
pub(crate) struct NewMessage<'a> {
    pub(crate) id: i64,
    pub(crate) generation: u64,
    pub(crate) position: u64,
    pub(crate) time: f64,
    /// The compression that removed it; `None` in a transcript.
    pub(crate) compression: Option<&'a str>,
    pub(crate) body: &'a str,
}

/// Inserts messages of one session, and counts them at the end.
pub(crate) struct Rows<'t> {
    transaction: &'t Transaction<'t>,
    session: &'t str,
    key: i64,
    insert: CachedStatement<'t>,
    insert_text: CachedStatement<'t>,
    /// Whether any call of the session was to a recall tool.
    recalls: bool,
    messages: usize,
    tool_calls: usize,
}

impl<'t> Rows<'t> {
    pub(crate) fn new(transaction: &'t Transaction<'t>, session: &'t str, key: i64) -> Result<Self, ArchiveError> {
        let insert = transaction.prepare_cached(
            "INSERT INTO message_row (id, session, generation, position, role, time, compression, recalled, body)
             VALUES (?1,?2,?3,?4,?5,?6,?7,?8,'')",
        )?;
        let insert_text = transaction.prepare_cached("INSERT INTO message_text (id, text) VALUES (?1,?2)")?;
        let recalls =
            transaction.prepare_cached("SELECT 1 FROM recall_call WHERE session = ?1 LIMIT 1")?.exists([key])?;
        Ok(Self { transaction, session, key, insert, insert_text, recalls, messages: 0, tool_calls: 0 })
    }

    /// Inserts one message.
    pub(crate) fn insert(&mut self, message: &NewMessage<'_>) -> Result<(), ArchiveError> {
        let parsed = Parsed::of(message.body);
        let recalled = parsed.is_recalled(|call| self.asked(call))?;
        self.insert.execute(params![
            message.id,
            self.key,
            message.generation,
            message.position,
            parsed.role,
            message.time,
            message.compression,
            recalled
        ])?;
        self.insert_text.execute(params![message.id, message.body])?;
        for call in parsed.calls.iter().filter(|call| !call.id.is_empty()) {
            self.note(call)?;
        }
        self.messages += 1;
        self.tool_calls += parsed.calls.len();
        Ok(())
    }

    fn asked(&self, call: &str) -> Result<bool, ArchiveError> {
        let query = "SELECT 1 FROM recall_call WHERE session = ?1 AND call = ?2";
        Ok(self.recalls && self.transaction.prepare_cached(query)?.exists(params![self.key, call])?)
    }

    /// Notes whether a call was to a recall tool. A later call may have the same id; the newest one counts.
    fn note(&mut self, call: &Call) -> Result<(), ArchiveError> {
        let change = match (call.recalls, self.recalls) {
            (true, _) => "INSERT OR IGNORE INTO recall_call (session, call) VALUES (?1, ?2)",
            (false, true) => "DELETE FROM recall_call WHERE session = ?1 AND call = ?2",
            (false, false) => return Ok(()),
        };
        self.transaction.prepare_cached(change)?.execute(params![self.key, call.id])?;
        self.recalls |= call.recalls;
        Ok(())
    }

    /// Adds the inserted messages to the session's counts.
    pub(crate) fn count(self, now: f64) -> Result<(), ArchiveError> {
        let query = "UPDATE session SET messages = messages + ?2, tool_calls = tool_calls + ?3,
                     last_active = max(coalesce(last_active, ?4), ?4) WHERE id = ?1";
        let counts = params![self.session, to_u64(self.messages), to_u64(self.tool_calls), now];
        self.transaction.prepare_cached(query)?.execute(counts)?;
        Ok(())
    }
}

/// Returns the generation of a session that must exist.
pub(crate) fn generation_of(connection: &Connection, session: &str) -> Result<u64, ArchiveError> {
    connection
        .prepare_cached("SELECT generation FROM session WHERE id = ?1")?
        .query_row([session], |row| row.get(0))
        .optional()?
        .ok_or_else(|| ArchiveError::NoSession { session: session.to_owned() })
}

/// Returns the number that represents a session's id in rows. It is created on first use, and never used for another
/// session.
pub(crate) fn session_key(connection: &Connection, session: &str) -> Result<i64, ArchiveError> {
    if let Some(key) = find_session_key(connection, session)? {
        return Ok(key);
    }
    connection.prepare_cached("INSERT INTO session_key (id) VALUES (?1)")?.execute([session])?;
    Ok(connection.last_insert_rowid())
}

pub(crate) fn find_session_key(connection: &Connection, session: &str) -> Result<Option<i64>, ArchiveError> {
    let mut query = connection.prepare_cached("SELECT key FROM session_key WHERE id = ?1")?;
    Ok(query.query_row([session], |row| row.get(0)).optional()?)
}

/// Takes `count` ids from the sequence that messages, parts of outputs and memory texts share, and returns the first.
/// No id is assigned twice, even after its row is gone.
pub(crate) fn take_ids(connection: &Connection, count: usize) -> Result<i64, ArchiveError> {
    let query = "UPDATE meta SET value = value + ?1 WHERE name = 'next_id' RETURNING value - ?1";
    Ok(connection.prepare_cached(query)?.query_row([to_u64(count)], |row| row.get(0))?)
}

/// Returns the position after the transcript's last message.
pub(crate) fn next_position(connection: &Connection, key: i64) -> Result<u64, ArchiveError> {
    let query = "SELECT coalesce(max(position) + 1, 0) FROM message WHERE session = ?1 AND compression IS NULL";
    Ok(connection.prepare_cached(query)?.query_row([key], |row| row.get(0))?)
}

/// Returns the length of a text in chars.
pub(crate) fn chars(text: &str) -> u64 {
    to_u64(text.chars().count())
}

pub(crate) fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Whether the transcript has these messages from `position` on, however a client's library writes them.
fn is_kept(connection: &Connection, key: i64, position: u64, messages: &[&str]) -> Result<bool, ArchiveError> {
    if messages.is_empty() {
        return Ok(true);
    }
    let mut query = connection.prepare_cached(
        "SELECT body FROM message WHERE session = ?1 AND compression IS NULL AND position >= ?2
         ORDER BY position LIMIT ?3",
    )?;
    let mut rows = query.query(params![key, position, to_u64(messages.len())])?;
    let mut given = messages.iter();
    while let Some(row) = rows.next()? {
        let kept = row.get_ref(0)?.as_str()?;
        if !given.next().is_some_and(|body| *body == kept || normal(body) == normal(kept)) {
            return Ok(false);
        }
    }
    Ok(given.next().is_none())
}

#[cfg(test)]
mod tests;
