//! Reading single messages, and the messages around them.

mod page;

use std::ops::Range;

use rusqlite::{OptionalExtension, Row, params};

use crate::original::Left;
use crate::original::STAYED;
use crate::transcript::to_u64;
use crate::{ArchiveError, Reader, original};

pub use page::MessagePage;

/// A stored message.
#[derive(Debug, Clone, PartialEq)]
pub struct ArchivedMessage {
    /// Its id; later messages have larger ones.
    pub id: u64,
    /// The session.
    pub session: String,
    /// The session's profile.
    pub profile: String,
    /// The generation that it is in, or was removed from.
    pub generation: u64,
    /// Its position in that generation's list.
    pub position: u64,
    /// Its role, if it has one.
    pub role: Option<String>,
    /// When it was added to the archive, in Unix seconds.
    pub time: f64,
    /// The JSON text, byte for byte.
    pub body: String,
    /// The compression that removed it; `None` while it is in the transcript.
    pub compression: Option<String>,
    /// Whether it repeats archived content. A search does not find such a message.
    pub recalled: bool,
}

impl ArchivedMessage {
    fn left(&self) -> Left<'_> {
        Left {
            id: self.id,
            session: &self.session,
            generation: self.generation,
            handle: self.compression.as_deref(),
            body: &self.body,
        }
    }
}

/// A message of the assistant, and how long ago it was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// How many compressions ago it left the list; 0 while it is in the list.
    pub generations: u64,
    /// Whether it was said after the last compression.
    pub is_since: bool,
    /// The JSON text, byte for byte.
    pub body: String,
}

/// A stored memory text.
#[derive(Debug, Clone, PartialEq)]
pub struct ArchivedMemory {
    /// Its id.
    pub id: u64,
    /// The profile.
    pub profile: String,
    /// The memory store in the profile.
    pub target: String,
    /// The revision of the store that has this text.
    pub revision: u64,
    /// When, in Unix seconds.
    pub time: f64,
    /// The session that changed the store.
    pub session: Option<String>,
    /// The action that changed the store.
    pub action: String,
    /// The text.
    pub text: String,
}

const MESSAGE: &str = "SELECT message.id, session_key.id, session.profile, message.generation, position, role, time, \
     body, compression, recalled FROM message JOIN session_key ON session_key.key = message.session \
     JOIN session ON session.id = session_key.id";

fn message(row: &Row<'_>) -> rusqlite::Result<ArchivedMessage> {
    let role: String = row.get(5)?;
    Ok(ArchivedMessage {
        id: row.get(0)?,
        session: row.get(1)?,
        profile: row.get(2)?,
        generation: row.get(3)?,
        position: row.get(4)?,
        role: (!role.is_empty()).then_some(role),
        time: row.get(6)?,
        body: row.get(7)?,
        compression: row.get(8)?,
        recalled: row.get(9)?,
    })
}

impl Reader {
    /// Returns the message of that id with up to `before` and `after` messages of its session around it, oldest first.
    /// Returns an empty list if there is no such message.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn around(&self, id: u64, before: usize, after: usize) -> Result<Vec<ArchivedMessage>, ArchiveError> {
        let Ok(id) = i64::try_from(id) else { return Ok(Vec::new()) };
        let session = "message.session = (SELECT session FROM message WHERE id = ?1)";
        let earlier = format!("{MESSAGE} WHERE {session} AND message.id < ?1 ORDER BY message.id DESC LIMIT ?2");
        let later = format!("{MESSAGE} WHERE {session} AND message.id >= ?1 ORDER BY message.id LIMIT ?2");
        let mut found = self.messages(&earlier, params![id, narrow(before)])?;
        found.reverse();
        found.extend(self.messages(&later, params![id, narrow(after.saturating_add(1))])?);
        Ok(found)
    }

    /// Returns at most `limit` of the messages that a compression removed, in order of position, from the `from`th on.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn removed_page(&self, handle: &str, from: usize, limit: usize) -> Result<Vec<ArchivedMessage>, ArchiveError> {
        let query = format!("{MESSAGE} WHERE compression = ?1 ORDER BY position, message.id LIMIT ?2 OFFSET ?3");
        self.messages(&query, params![handle, narrow(limit), narrow(from)])
    }

    /// Returns a page of the messages that a compression removed from these positions of the list before it. Messages
    /// that stayed in the list in a shorter form are left out. A message that was in the list in a shorter form is
    /// returned in full.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn gone_range(
        &self,
        handle: &str,
        positions: Range<u64>,
        from: usize,
        limit: usize,
    ) -> Result<Vec<ArchivedMessage>, ArchiveError> {
        let query = format!(
            "{MESSAGE} WHERE compression = ?1 AND position >= ?2 AND position < ?3 AND position NOT IN ({STAYED})
             ORDER BY position, message.id LIMIT ?4 OFFSET ?5"
        );
        let end = positions.end.min(i64::MAX.unsigned_abs());
        let range = params![handle, positions.start, end, narrow(limit), narrow(from)];
        self.messages(&query, range)?.into_iter().map(|message| self.whole(message)).collect()
    }

    /// Returns the full form of a message that is a shorter form, if the full form is stored. Otherwise returns the
    /// message itself.
    fn whole(&self, mut message: ArchivedMessage) -> Result<ArchivedMessage, ArchiveError> {
        let query = format!("{MESSAGE} WHERE compression = ?1 AND position = ?2");
        // A message that was shortened twice is resolved step by step, each time at an earlier generation.
        let lineage = self.lineage(&message.session)?;
        while let Some((handle, position)) = original::find(&self.connection, &lineage, &message.left())?
            && let Some(before) = self.messages(&query, params![handle, position])?.pop()
        {
            message = before;
        }
        Ok(message)
    }

    /// Returns the newest messages of a session and of the sessions that it continues, until they have `bytes` bytes.
    /// They are sorted oldest first, each with its id. Recalled messages and system messages are left out.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn newest_bodies(&self, session: &str, bytes: usize) -> Result<Vec<(u64, String)>, ArchiveError> {
        let mut found: Vec<(u64, String)> = Vec::new();
        let mut left = bytes;
        let mut query = self.connection.prepare_cached(
            "SELECT id, body FROM message WHERE session = (SELECT key FROM session_key WHERE id = ?1)
             AND recalled = 0 AND role <> 'system' ORDER BY id DESC",
        )?;
        // The nearest session is first, and it has the newest messages.
        for session in &self.lineage(session)? {
            let mut rows = query.query([session])?;
            while left > 0
                && let Some(row) = rows.next()?
            {
                let body: String = row.get(1)?;
                left = left.saturating_sub(body.len());
                found.push((row.get(0)?, body));
            }
        }
        found.sort_unstable_by_key(|(id, _)| *id);
        Ok(found)
    }

    /// Returns the newest messages of the assistant in a session and in the sessions that it continues, until they have
    /// `bytes` bytes, oldest first.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn spoken(&self, session: &str, bytes: usize) -> Result<Vec<Spoken>, ArchiveError> {
        let mut state = self.connection.prepare_cached(
            "SELECT session.generation,
                    (SELECT max(time) FROM compression WHERE compression.session = session.id),
                    CASE WHEN parent.end_reason = 'compression' THEN session.started_at END
             FROM session LEFT JOIN session AS parent ON parent.id = session.parent WHERE session.id = ?1",
        )?;
        let mut query = self.connection.prepare_cached(
            "SELECT generation, time, body FROM message WHERE session = (SELECT key FROM session_key WHERE id = ?1)
             AND role = 'assistant' ORDER BY id DESC",
        )?;
        let (mut found, mut left, mut behind) = (Vec::new(), bytes, 0);
        for (at, id) in self.lineage(session)?.iter().enumerate() {
            let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            let state: Option<(u64, Option<f64>, Option<f64>)> = state.query_row([id], read).optional()?;
            let Some((generation, compressed, went_on)) = state else { break };
            let began = compressed.or(went_on);
            let mut rows = query.query([id])?;
            while left > 0
                && let Some(row) = rows.next()?
            {
                let (of, time): (u64, f64) = (row.get(0)?, row.get(1)?);
                let body: String = row.get(2)?;
                left = left.saturating_sub(body.len());
                let is_since = at == 0 && began.is_none_or(|began| time >= began);
                found.push(Spoken { generations: behind + generation.saturating_sub(of), is_since, body });
            }
            behind += generation + 1;
        }
        found.reverse();
        Ok(found)
    }

    /// Returns the memory text of that id.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn memory_text(&self, id: u64) -> Result<Option<ArchivedMemory>, ArchiveError> {
        let Ok(id) = i64::try_from(id) else { return Ok(None) };
        let query = "SELECT id, profile, target, revision, time, session, action, text FROM memory_text WHERE id = ?1";
        let memory = |row: &Row<'_>| {
            Ok(ArchivedMemory {
                id: row.get(0)?,
                profile: row.get(1)?,
                target: row.get(2)?,
                revision: row.get(3)?,
                time: row.get(4)?,
                session: row.get(5)?,
                action: row.get(6)?,
                text: row.get(7)?,
            })
        };
        Ok(self.connection.prepare_cached(query)?.query_row([id], memory).optional()?)
    }

    fn messages(&self, query: &str, values: impl rusqlite::Params) -> Result<Vec<ArchivedMessage>, ArchiveError> {
        let mut query = self.connection.prepare_cached(query)?;
        let rows = query.query_map(values, message)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Converts a row count to SQLite's type. A count that is too large becomes the maximum.
pub(crate) fn narrow(count: usize) -> i64 {
    i64::try_from(to_u64(count)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
