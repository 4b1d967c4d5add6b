//! Saves the messages that a compression removed from a conversation.

use std::collections::HashMap;
use std::ops::Range;

use rusqlite::{OptionalExtension, Transaction, params};

use crate::transcript::{self, NewMessage, Rows, chars, to_u64};
use crate::{ArchiveError, Reader};

/// One compression, to be saved before its result leaves the daemon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Removal<'a> {
    /// Its handle.
    pub handle: &'a str,
    /// The session.
    pub session: &'a str,
    /// The session's generation after it.
    pub generation: u64,
    /// When, in Unix seconds.
    pub time: f64,
    /// The summary that replaces the messages.
    pub summary: &'a str,
    /// Position in the list and JSON text of every message whose text left it.
    pub messages: &'a [(u64, &'a str)],
    /// The whole new list. It matters if the session has a transcript. Without it that transcript ends here, because it
    /// is unknown which messages are left.
    pub after: Option<&'a [After<'a>]>,
    /// Whether each message of the list before that has a position in the transcript is known to be the one that is
    /// there. Then their texts are not compared again.
    pub is_transcript: bool,
}

impl<'a> Removal<'a> {
    /// Returns its beginning without any message.
    pub(crate) const fn bare(&self) -> Beginning<'a> {
        let Self { handle, session, generation, time, .. } = *self;
        Beginning { handle, session, generation, time, first: 0, messages: &[] }
    }
}

/// The first part of a compression, which can be saved before the rest of it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beginning<'a> {
    /// Its handle.
    pub handle: &'a str,
    /// The session.
    pub session: &'a str,
    /// The session's generation after it.
    pub generation: u64,
    /// When, in Unix seconds.
    pub time: f64,
    /// Position in the list of the first message.
    pub first: u64,
    /// Consecutive messages that leave the list whatever the rest will be, as JSON texts.
    pub messages: &'a [&'a str],
}

/// A message of the new list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After<'a> {
    /// The message that was at this position of the transcript.
    Kept(u64),
    /// Another message, as JSON text.
    New(&'a str),
}

/// A stored compression.
#[derive(Debug, Clone, PartialEq)]
pub struct Compression {
    /// The session's generation after it.
    pub generation: u64,
    /// When, in Unix seconds.
    pub time: f64,
    /// Its handle.
    pub handle: String,
    /// How many messages left the list.
    pub messages: u64,
    /// The length of their JSON texts, in chars.
    pub chars: u64,
    /// The summary that replaces them.
    pub summary: String,
    /// For an undo: the generation whose list it restored. Then the messages are those that the undo removed.
    pub back_to: Option<u64>,
    /// The generation of the undo that reverted it; its messages are in the list again.
    pub undone: Option<u64>,
}

/// Saves the messages, and moves the session to the next generation and its transcript to the new list. A message that
/// is already in the transcript is marked as removed and not stored again. A message that is neither removed nor in the
/// new list counts as removed too. `begun` is the result of [`begin_in`], which must have been called.
pub(crate) fn keep_in(
    transaction: &Transaction<'_>,
    removal: &Removal<'_>,
    begun: &Range<u64>,
) -> Result<(), ArchiveError> {
    let generation = transcript::generation_of(transaction, removal.session)?;
    let key = transcript::session_key(transaction, removal.session)?;
    let move_to = Move { transaction, removal, key, generation, begun };
    let length = transcript::next_position(transaction, key)?;
    let kept = move_to.kept(length)?;
    let mut size = Size::default();
    let new = move_to.remove(length, &kept, &mut size)?;
    move_to.remove_others(&kept, &mut size)?;
    move_to.renumber(&kept)?;
    move_to.insert(&new, length)?;
    transaction
        .prepare_cached("UPDATE compression SET messages = ?2, chars = ?3, summary = ?4, time = ?5 WHERE handle = ?1")?
        .execute(params![removal.handle, size.messages, size.chars, removal.summary, removal.time])?;
    transaction
        .prepare_cached(
            "UPDATE session SET generation = ?2, last_active = max(coalesce(last_active, ?3), ?3) WHERE id = ?1",
        )?
        .execute(params![removal.session, removal.generation, removal.time])?;
    Ok(())
}

/// Saves the first part of a removal: its handle and, for a session without a transcript, the messages. Returns the
/// positions of the saved messages.
pub(crate) fn begin_in(transaction: &Transaction<'_>, beginning: &Beginning<'_>) -> Result<Range<u64>, ArchiveError> {
    let Beginning { handle, session, generation, time, first, messages } = *beginning;
    let before = transcript::generation_of(transaction, session)?;
    let key = transcript::session_key(transaction, session)?;
    transaction
        .prepare_cached("INSERT INTO compression (handle, session, generation, time, summary) VALUES (?1,?2,?3,?4,'')")?
        .execute(params![handle, session, generation, time])?;
    if messages.is_empty() || transcript::next_position(transaction, key)? > 0 {
        return Ok(first..first);
    }
    let id = transcript::take_ids(transaction, messages.len())?;
    let mut rows = Rows::new(transaction, session, key)?;
    for ((id, position), body) in (id..).zip(first..).zip(messages) {
        rows.insert(&NewMessage { id, generation: before, position, time, compression: Some(handle), body })?;
    }
    rows.count(time)?;
    Ok(first..first.saturating_add(to_u64(messages.len())))
}

impl Reader {
    /// Returns the compressions of a session and of the sessions that it continues, oldest first.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn describe(&self, session: &str) -> Result<Vec<Compression>, ArchiveError> {
        let mut query = self.connection.prepare_cached(
            "SELECT generation, time, handle, messages, chars, summary, back_to, undone FROM compression
             WHERE session = ?1 ORDER BY generation",
        )?;
        let mut compressions = Vec::new();
        for session in self.lineage(session)?.iter().rev() {
            let rows = query.query_map([session], |row| {
                Ok(Compression {
                    generation: row.get(0)?,
                    time: row.get(1)?,
                    handle: row.get(2)?,
                    messages: row.get(3)?,
                    chars: row.get(4)?,
                    summary: row.get(5)?,
                    back_to: row.get(6)?,
                    undone: row.get(7)?,
                })
            })?;
            for row in rows {
                compressions.push(row?);
            }
        }
        Ok(compressions)
    }
}

/// The size of the removed messages.
#[derive(Default)]
struct Size {
    messages: u64,
    chars: u64,
}

impl Size {
    fn add(&mut self, body: &str) {
        self.messages += 1;
        self.chars += chars(body);
    }
}

/// A transcript that is being changed to the new list.
struct Move<'a> {
    transaction: &'a Transaction<'a>,
    removal: &'a Removal<'a>,
    key: i64,
    /// The generation before the compression.
    generation: u64,
    /// Positions of removed messages that are saved already.
    begun: &'a Range<u64>,
}

impl Move<'_> {
    /// Returns the old and the new position of every message that stays.
    fn kept(&self, length: u64) -> Result<HashMap<u64, u64>, ArchiveError> {
        let mut kept = HashMap::new();
        if length == 0 {
            return Ok(kept);
        }
        for (new, after) in (0..).zip(self.removal.after.unwrap_or_default()) {
            let After::Kept(old) = after else { continue };
            if *old >= length {
                return Err(self.misfit(format!("it keeps message {old} of {length}")));
            }
            if kept.insert(*old, new).is_some() {
                return Err(self.misfit(format!("it keeps message {old} twice")));
            }
        }
        Ok(kept)
    }

    /// Marks the rows of removed messages. Returns the messages that have no row.
    fn remove(&self, length: u64, kept: &HashMap<u64, u64>, size: &mut Size) -> Result<Vec<(u64, &str)>, ArchiveError> {
        let mut there = self.transaction.prepare_cached(
            "SELECT id FROM message WHERE session = ?1 AND position = ?2 AND compression IS NULL AND body = ?3",
        )?;
        let mut in_a_row = 0..0;
        let mut new = Vec::new();
        let mut left = self.begun.end - self.begun.start;
        for &(position, body) in self.removal.messages {
            if kept.contains_key(&position) {
                return Err(self.misfit(format!("it keeps message {position}, which is removed")));
            }
            size.add(body);
            if self.begun.contains(&position) {
                left -= 1;
                continue;
            }
            if self.removal.is_transcript && position < length {
                if position != in_a_row.end {
                    self.mark_all(&in_a_row)?;
                    in_a_row.start = position;
                }
                in_a_row.end = position + 1;
                continue;
            }
            let id = if position < length {
                there.query_row(params![self.key, position, body], |row| row.get(0)).optional()?
            } else {
                None
            };
            match id {
                Some(id) => self.mark(id)?,
                None => new.push((position, body)),
            }
        }
        self.mark_all(&in_a_row)?;
        match left {
            0 => Ok(new),
            _ => Err(self.misfit(format!("{left} messages were begun that it does not remove"))),
        }
    }

    /// Marks the rows at consecutive positions.
    fn mark_all(&self, positions: &Range<u64>) -> Result<(), ArchiveError> {
        let marked = self
            .transaction
            .prepare_cached(
                "UPDATE message_row SET compression = ?4
                 WHERE session = ?1 AND compression IS NULL AND position >= ?2 AND position < ?3",
            )?
            .execute(params![self.key, positions.start, positions.end, self.removal.handle])?;
        if to_u64(marked) == positions.end - positions.start {
            Ok(())
        } else {
            Err(self.misfit(format!("of messages {positions:?} only {marked} are there")))
        }
    }

    fn mark(&self, id: i64) -> Result<(), ArchiveError> {
        self.transaction
            .prepare_cached("UPDATE message_row SET compression = ?2 WHERE id = ?1")?
            .execute(params![id, self.removal.handle])?;
        Ok(())
    }

    /// Marks rows that the caller did not mention as removed too. No message leaves the transcript without being kept.
    fn remove_others(&self, kept: &HashMap<u64, u64>, size: &mut Size) -> Result<(), ArchiveError> {
        let others: Vec<i64> = {
            let mut query = self.transaction.prepare_cached(
                "SELECT id, position FROM message WHERE session = ?1 AND compression IS NULL ORDER BY position",
            )?;
            let mut rows = query.query([self.key])?;
            let mut others = Vec::new();
            while let Some(row) = rows.next()? {
                if !kept.contains_key(&row.get(1)?) {
                    others.push(row.get(0)?);
                }
            }
            others
        };
        let mut body = self.transaction.prepare_cached("SELECT body FROM message WHERE id = ?1")?;
        for id in others {
            self.mark(id)?;
            size.add(&body.query_row([id], |row| row.get::<_, String>(0))?);
        }
        Ok(())
    }

    /// Moves the rows that stay to their new positions. Two rows of a transcript never share a position, so all move
    /// below zero first.
    fn renumber(&self, kept: &HashMap<u64, u64>) -> Result<(), ArchiveError> {
        let mut aside = self.transaction.prepare_cached(
            "UPDATE message_row SET position = -1 - ?3, generation = ?4
             WHERE session = ?1 AND position = ?2 AND compression IS NULL",
        )?;
        for (old, new) in kept {
            aside.execute(params![self.key, old, new, self.removal.generation])?;
        }
        self.transaction
            .prepare_cached(
                "UPDATE message_row SET position = -1 - position
                 WHERE session = ?1 AND position < 0 AND compression IS NULL",
            )?
            .execute([self.key])?;
        Ok(())
    }

    /// Inserts rows for removed messages that have none and, for a session with a transcript, for the new messages of
    /// its list.
    fn insert(&self, removed: &[(u64, &str)], length: u64) -> Result<(), ArchiveError> {
        let after = self.removal.after.filter(|_| length > 0).unwrap_or_default();
        let added = (0..).zip(after).filter_map(|(position, after)| match after {
            After::New(body) => Some((position, *body, self.removal.generation, None)),
            After::Kept(_) => None,
        });
        let removed = removed.iter().map(|&(at, body)| (at, body, self.generation, Some(self.removal.handle)));
        let all: Vec<_> = removed.chain(added).collect();
        let first = transcript::take_ids(self.transaction, all.len())?;
        let mut rows = Rows::new(self.transaction, self.removal.session, self.key)?;
        for (id, (position, body, generation, compression)) in (first..).zip(all) {
            rows.insert(&NewMessage { id, generation, position, time: self.removal.time, compression, body })?;
        }
        rows.count(self.removal.time)
    }

    fn misfit(&self, words: String) -> ArchiveError {
        ArchiveError::Misfit { session: self.removal.session.to_owned(), words }
    }
}

#[cfg(test)]
mod tests;
