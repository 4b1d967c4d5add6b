//! Undoing compressions: the list as it was before one, and what was said since behind it.
//!
//! With a compression it is noted how the list before it can be made again: of rows that are kept
//! here, and, where the session has no transcript, of messages that stayed in the list, which only
//! the caller has. To undo means to walk back from the current list, one compression at a time, each
//! time checking that the list begins with what that compression gave. What comes of it
//! becomes the session's transcript at a new generation, so nothing is lost by an undo either:
//! what leaves the list, the handoff above all, is kept under the handle of the undo.

mod note;
pub(crate) mod pieces;
mod walk;

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use sha2::{Digest, Sha256};

pub(crate) use self::note::note;
use self::walk::{Back, Place, walk};
use crate::engine::{self, EngineRow};
use crate::normal::{normal, normal_message};
use crate::removed::After;
use crate::session::ENDED_BY_COMPRESSION;
use crate::transcript::{self, NewMessage, Rows, chars, wide};
use crate::{Archive, ArchiveError, Reader};

/// Compressions of one session that can be undone: the newest.
pub const LISTS: u32 = 5;

/// What is to be noted with a compression, so that it can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undoable<'a> {
    /// Messages of the list before it.
    pub length: u64,
    /// The list after it, by what became of the one before.
    pub slots: &'a [After<'a>],
    /// The list after it, as JSON texts.
    pub list: &'a [&'a str],
}

/// What is to be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undo<'a> {
    /// The session.
    pub session: &'a str,
    /// The generation whose list is wanted; that before the newest compression when absent. The current
    /// one can be looked at.
    pub to: Option<u64>,
    /// The list by now, as JSON texts; the transcript when absent.
    pub list: Option<&'a [&'a str]>,
}

/// The list as it was, and what was said since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The session's generation: the next one, unless it was only looked.
    pub generation: u64,
    /// The generation whose list it is.
    pub restored: u64,
    /// The compressions that are undone, newest first.
    pub handles: Vec<String>,
    /// JSON texts.
    pub list: Vec<String>,
    /// How many of them, at the end, were said since.
    pub since: u64,
    /// How many messages leave the list.
    pub left: u64,
    /// What the engine remembered then.
    pub engine: Option<EngineRow>,
}

/// Why there is nothing that could be undone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoUndo {
    /// The session has no transcript, and no list came.
    #[error("its list is needed, for nothing was appended to this session with session.append")]
    NoList,
    /// No compression of the session is left to undo.
    #[error("this session has no compression that could be undone")]
    Nothing,
    /// No list of that generation is on the way back.
    #[error("generation {wanted} can't be brought back: {words}")]
    NotThere {
        /// The generation.
        wanted: u64,
        /// Which can.
        words: String,
    },
    /// What it takes was not noted, or is let go.
    #[error(
        "what was before generation {generation} is not known any more; the newest {LISTS} compressions can be undone, \
         and none of before herma could undo"
    )]
    NotKept {
        /// The generation that the compression made.
        generation: u64,
    },
    /// The list does not begin with what the compression gave.
    #[error("the list does not begin with the {length} messages that {handle} gave; send it as it came")]
    OtherList {
        /// The compression.
        handle: String,
        /// Messages that it gave.
        length: u64,
    },
    /// Messages are not in the archive any more.
    #[error("{messages} messages that left with {handle} are not kept any more")]
    Gone {
        /// The compression.
        handle: String,
        /// How many.
        messages: u64,
    },
}

impl NoUndo {
    fn is_there(current: u64) -> Self {
        let words = "the session is at it, and an undo goes to an earlier one".into();
        Self::NotThere { wanted: current, words }
    }
}

impl Reader {
    /// What an undo would bring back; nothing changes.
    ///
    /// # Errors
    /// An unknown session, or a failure of the database.
    pub fn undone(&self, undo: &Undo<'_>) -> Result<Result<Undone, NoUndo>, ArchiveError> {
        // One view of the file for all of it.
        let transaction = self.connection.unchecked_transaction()?;
        match walk(&transaction, undo)? {
            Ok(back) => undone(&transaction, back.current, back).map(Ok),
            Err(why) => Ok(Err(why)),
        }
    }
}

impl Reader {
    /// The generation of the undo that took a compression back, if one did.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn undone_by(&self, handle: &str) -> Result<Option<u64>, ArchiveError> {
        let mut query = self.connection.prepare_cached("SELECT undone FROM compression WHERE handle = ?1")?;
        Ok(query.query_row([handle], |row| row.get(0)).optional()?.flatten())
    }
}

impl Archive {
    /// Undoes compressions: the list becomes the session's transcript at the next generation, its
    /// `handle` names what leaves the list, and `engine` is given what the engine remembered and says what
    /// it remembers now. A session that had ended with the compression is open again. With a refusal
    /// nothing changes.
    ///
    /// # Errors
    /// An unknown session, a handle that was used before, or a failure of the database; nothing has
    /// changed then.
    pub fn undo(
        &mut self,
        undo: &Undo<'_>,
        handle: &str,
        now: f64,
        engine: impl FnOnce(Option<EngineRow>) -> EngineRow,
    ) -> Result<Result<Undone, NoUndo>, ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        let back = match walk(&transaction, undo)? {
            Ok(back) => back,
            Err(why) => return Ok(Err(why)),
        };
        if back.handles.is_empty() {
            return Ok(Err(NoUndo::is_there(back.current)));
        }
        Restore { transaction: &transaction, session: undo.session, handle, now, back: &back }.carry_out()?;
        let undone = undone(&transaction, back.next(), back)?;
        engine::save(&transaction, undo.session, &engine(undone.engine.clone()))?;
        transaction.commit()?;
        Ok(Ok(undone))
    }
}

fn undone(connection: &Connection, generation: u64, back: Back<'_>) -> Result<Undone, ArchiveError> {
    let Back { restored, handles, list, since, left, engine, .. } = back;
    let mut bodies = Bodies::of(connection)?;
    let list = list.iter().map(|place| bodies.text(*place)).collect::<Result<_, _>>()?;
    Ok(Undone { generation, restored, handles, list, since, left: wide(left.len()), engine })
}

/// A list of messages is known by this, however a client's library writes them and whichever fields beginning with `_` it
/// keeps.
fn message_digest<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let texts: Vec<String> = texts.map(normal_message).collect();
    digest(texts.iter().map(String::as_str))
}

/// A list of JSON texts was known by this at first, these fields included.
fn normal_digest<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let texts: Vec<String> = texts.map(normal).collect();
    digest(texts.iter().map(String::as_str))
}

/// Stands for a list of texts, byte for byte.
fn digest<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(wide(text.len()).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().to_vec()
}

/// Texts of messages by the ids of their rows.
struct Bodies<'c>(rusqlite::CachedStatement<'c>);

impl<'c> Bodies<'c> {
    fn of(connection: &'c Connection) -> Result<Self, ArchiveError> {
        Ok(Self(connection.prepare_cached("SELECT body FROM message WHERE id = ?1")?))
    }

    fn text(&mut self, place: Place<'_>) -> Result<String, ArchiveError> {
        match place {
            Place::Row(id) => Ok(self.0.query_row([id], |row| row.get(0))?),
            Place::Given(_, text) => Ok(text.to_owned()),
        }
    }
}

/// A list that becomes the transcript.
struct Restore<'a> {
    transaction: &'a Transaction<'a>,
    session: &'a str,
    handle: &'a str,
    now: f64,
    back: &'a Back<'a>,
}

impl Restore<'_> {
    fn carry_out(&self) -> Result<(), ArchiveError> {
        let Back { restored, handles, list, .. } = self.back;
        let next = self.back.next();
        self.transaction
            .prepare_cached(
                "INSERT INTO compression (handle, session, generation, time, summary, back_to)
                 VALUES (?1, ?2, ?3, ?4, '', ?5)",
            )?
            .execute(params![self.handle, self.session, next, self.now, restored])?;
        self.put_aside()?;
        self.move_rows(next)?;
        let given: Vec<(u64, &str)> = (0..).zip(list).filter_map(|(at, place)| Some((at, place.given()?))).collect();
        self.insert(&given, next, None)?;
        let mut undone = self.transaction.prepare_cached("UPDATE compression SET undone = ?2 WHERE handle = ?1")?;
        for handle in handles {
            undone.execute(params![handle, next])?;
        }
        self.transaction
            .prepare_cached("DELETE FROM list_before WHERE session = ?1 AND generation > ?2")?
            .execute(params![self.session, restored])?;
        // Who went on for it stands alone from now on: what it went on for is taken back.
        self.transaction
            .prepare_cached(
                "UPDATE session SET parent = NULL WHERE parent = ?1 AND started_at >=
                     (SELECT before.ended_at FROM session AS before WHERE before.id = ?1 AND before.end_reason = ?2)",
            )?
            .execute([self.session, ENDED_BY_COMPRESSION])?;
        self.transaction
            .prepare_cached(
                "UPDATE session SET generation = ?2, last_active = max(coalesce(last_active, ?3), ?3),
                     ended_at = CASE WHEN end_reason = ?4 THEN NULL ELSE ended_at END,
                     end_reason = nullif(end_reason, ?4)
                 WHERE id = ?1",
            )?
            .execute(params![self.session, next, self.now, ENDED_BY_COMPRESSION])?;
        Ok(())
    }

    /// What leaves the list is kept under the handle of the undo. Of a transcript that the caller's
    /// list is not, all leaves that does not come back.
    fn put_aside(&self) -> Result<(), ArchiveError> {
        let stays: HashSet<i64> = self.rows().map(|(_, id)| id).collect();
        let ids: Vec<i64> = {
            let query = "SELECT id FROM message_row WHERE session = ?1 AND compression IS NULL";
            let mut query = self.transaction.prepare_cached(query)?;
            let ids = query.query_map([self.back.key], |row| row.get(0))?;
            ids.filter(|id| id.as_ref().map_or(true, |id| !stays.contains(id))).collect::<Result<_, _>>()?
        };
        let mut mark = self.transaction.prepare_cached("UPDATE message_row SET compression = ?2 WHERE id = ?1")?;
        for id in ids {
            mark.execute(params![id, self.handle])?;
        }
        let left = self.back.left.iter().copied();
        let given: Vec<(u64, &str)> = left.filter_map(|(at, place)| Some((at, place.given()?))).collect();
        self.insert(&given, self.back.current, Some(self.handle))?;
        let query = "SELECT body FROM message WHERE compression = ?1";
        let mut bodies = self.transaction.prepare_cached(query)?;
        let (mut count, mut length) = (0_u64, 0_u64);
        for body in bodies.query_map([self.handle], |row| row.get::<_, String>(0))? {
            count += 1;
            length += chars(&body?);
        }
        self.transaction
            .prepare_cached("UPDATE compression SET messages = ?2, chars = ?3 WHERE handle = ?1")?
            .execute(params![self.handle, count, length])?;
        Ok(())
    }

    /// Two rows of a transcript never have one position, so all go out of the way first, below zero.
    fn move_rows(&self, generation: u64) -> Result<(), ArchiveError> {
        let mut aside = self.transaction.prepare_cached(
            "UPDATE message_row SET position = -1 - ?2, generation = ?3, compression = NULL WHERE id = ?1",
        )?;
        for (position, id) in self.rows() {
            aside.execute(params![id, position, generation])?;
        }
        self.transaction
            .prepare_cached(
                "UPDATE message_row SET position = -1 - position
                 WHERE session = ?1 AND position < 0 AND compression IS NULL",
            )?
            .execute([self.back.key])?;
        Ok(())
    }

    /// Makes rows of messages that only the caller had.
    fn insert(&self, given: &[(u64, &str)], generation: u64, compression: Option<&str>) -> Result<(), ArchiveError> {
        let first = transcript::take_ids(self.transaction, given.len())?;
        let mut rows = Rows::new(self.transaction, self.session, self.back.key)?;
        for (id, &(position, body)) in (first..).zip(given) {
            rows.insert(&NewMessage { id, generation, position, time: self.now, compression, body })?;
        }
        rows.count(self.now)
    }

    fn rows(&self) -> impl Iterator<Item = (u64, i64)> {
        (0..).zip(&self.back.list).filter_map(|(position, place)| match place {
            Place::Row(id) => Some((position, *id)),
            Place::Given(..) => None,
        })
    }
}

#[cfg(test)]
mod tests;
