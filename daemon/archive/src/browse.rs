//! Messages one by one, and what is round them.

use std::ops::Range;

use rusqlite::{OptionalExtension, Row, params};

use crate::original::Left;
use crate::original::STAYED;
use crate::transcript::wide;
use crate::{ArchiveError, Reader, original};

/// A message as it is kept.
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
    /// When it came to the archive, in Unix seconds.
    pub time: f64,
    /// The JSON text, byte for byte.
    pub body: String,
    /// The compression that removed it; none when it is in the transcript.
    pub compression: Option<String>,
    /// It shows what was there before, and is not found by a search.
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

/// A message of the assistant, with when it was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// How many compressions took place since it left the list; 0 for one that is in it.
    pub generations: u64,
    /// Whether it was said since the last of them.
    pub is_since: bool,
    /// The JSON text, byte for byte.
    pub body: String,
}

/// A memory text as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct ArchivedMemory {
    /// Its id.
    pub id: u64,
    /// The profile.
    pub profile: String,
    /// Which of the profile's stores.
    pub target: String,
    /// The store's revision that it came with.
    pub revision: u64,
    /// When, in Unix seconds.
    pub time: f64,
    /// The session that changed the store.
    pub session: Option<String>,
    /// What was done.
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
    /// The message of that id with up to so many of its session before and after
    /// it, oldest first; empty when there is none.
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

    /// What a compression took out, in order of position, from the `from`th on.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn removed_page(&self, handle: &str, from: usize, limit: usize) -> Result<Vec<ArchivedMessage>, ArchiveError> {
        let query = format!("{MESSAGE} WHERE compression = ?1 ORDER BY position, message.id LIMIT ?2 OFFSET ?3");
        self.messages(&query, params![handle, narrow(limit), narrow(from)])
    }

    /// The same of those that were at these positions of the list before and are gone from it: none that stayed there in
    /// a shorter form. One that stood there in a shorter form comes whole.
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

    /// The message that this one is a shorter form of, if it is one and that is kept; else itself.
    fn whole(&self, mut message: ArchivedMessage) -> Result<ArchivedMessage, ArchiveError> {
        let query = format!("{MESSAGE} WHERE compression = ?1 AND position = ?2");
        // What is made shorter twice is found step by step, each time at an earlier generation.
        let lineage = self.lineage(&message.session)?;
        while let Some((handle, position)) = original::find(&self.connection, &lineage, &message.left())?
            && let Some(before) = self.messages(&query, params![handle, position])?.pop()
        {
            message = before;
        }
        Ok(message)
    }

    /// The newest messages of a session, and of those that it goes on for, as many as have so many bytes; oldest
    /// first, each with its id. What shows what was there before is left out, and so are system messages.
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
        // The nearest, which is the newest, first.
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

    /// The newest messages of the assistant in a session, and in those that it goes on for, as many as have so many
    /// bytes; oldest first.
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

    /// The memory text of that id.
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

/// A number of rows that SQLite takes; more than it can count is all.
pub(crate) fn narrow(count: usize) -> i64 {
    i64::try_from(wide(count)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
