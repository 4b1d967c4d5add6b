//! Undoes compressions: restores the list before a compression, followed by the messages that were added since.
//!
//! Each compression notes how the list before it can be restored: from stored rows and, if the session has no
//! transcript, from messages that stayed in the list, which only the caller has. An undo walks back from the current
//! list, one compression at a time. At each one it checks that the list begins with the result of that compression. The
//! restored list becomes the session's transcript at a new generation. An undo loses nothing either: messages that
//! leave the list, the handoff above all, are kept under the handle of the undo.

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
use crate::transcript::{self, NewMessage, Rows, chars, to_u64};
use crate::{Archive, ArchiveError, Reader};

/// How many compressions of one session can be undone: the newest ones.
pub const LISTS: u32 = 5;

/// The data that is noted with a compression, so that it can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undoable<'a> {
    /// Messages of the list before it.
    pub length: u64,
    /// The list after it, as changes of the list before it.
    pub slots: &'a [After<'a>],
    /// The list after it, as JSON texts.
    pub list: &'a [&'a str],
}

/// The request to undo compressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undo<'a> {
    /// The session.
    pub session: &'a str,
    /// The generation whose list is wanted; if absent, the one before the newest compression. The current one can only
    /// be viewed.
    pub to: Option<u64>,
    /// The current list, as JSON texts; the transcript if absent.
    pub list: Option<&'a [&'a str]>,
}

/// The restored list, with the messages that were added since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredList {
    /// The session's generation: the next one, unless the list was only viewed.
    pub generation: u64,
    /// The generation whose list was restored.
    pub restored: u64,
    /// The compressions that are undone, newest first.
    pub handles: Vec<String>,
    /// The list, as JSON texts.
    pub list: Vec<String>,
    /// How many of them, at the end, were added since.
    pub since: u64,
    /// How many messages leave the list.
    pub left: u64,
    /// The engine memory of that time.
    pub engine: Option<EngineRow>,
}

/// The reason why an undo is impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UndoRejection {
    /// The session has no transcript, and the caller passed no list.
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
        /// Why it is not there.
        words: String,
    },
    /// The data for the undo was not noted, or is deleted already.
    #[error(
        "what was before generation {generation} is not known any more; the newest {LISTS} compressions can be undone, \
         and none of before herma could undo"
    )]
    NotKept {
        /// The generation that the compression made.
        generation: u64,
    },
    /// The list does not begin with the result of the compression.
    #[error("the list does not begin with the {length} messages that {handle} gave; send it as it came")]
    OtherList {
        /// The compression.
        handle: String,
        /// How many messages that result has.
        length: u64,
    },
    /// Some messages are no longer in the archive.
    #[error("{messages} messages that left with {handle} are not kept any more")]
    Gone {
        /// The compression.
        handle: String,
        /// How many.
        messages: u64,
    },
}

impl UndoRejection {
    fn is_there(current: u64) -> Self {
        let words = "the session is at it, and an undo goes to an earlier one".into();
        Self::NotThere { wanted: current, words }
    }
}

impl Reader {
    /// Returns what an undo would restore; changes nothing.
    ///
    /// # Errors
    /// An unknown session, or a failure of the database.
    pub fn undone(&self, undo: &Undo<'_>) -> Result<Result<RestoredList, UndoRejection>, ArchiveError> {
        // One read transaction, so that all queries see the same state.
        let transaction = self.connection.unchecked_transaction()?;
        match walk(&transaction, undo)? {
            Ok(back) => undone(&transaction, back.current, back).map(Ok),
            Err(why) => Ok(Err(why)),
        }
    }
}

impl Reader {
    /// Returns the generation of the undo that reverted a compression, if one did.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn undone_by(&self, handle: &str) -> Result<Option<u64>, ArchiveError> {
        let mut query = self.connection.prepare_cached("SELECT undone FROM compression WHERE handle = ?1")?;
        Ok(query.query_row([handle], |row| row.get(0)).optional()?.flatten())
    }
}

impl Archive {
    /// Undoes compressions. The list becomes the session's transcript at the next generation, and `handle` names the
    /// messages that leave the list. `engine` receives the engine memory of that time, and returns the new one. A
    /// session that had ended with the compression is open again. A refusal changes nothing.
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
    ) -> Result<Result<RestoredList, UndoRejection>, ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        let back = match walk(&transaction, undo)? {
            Ok(back) => back,
            Err(why) => return Ok(Err(why)),
        };
        if back.handles.is_empty() {
            return Ok(Err(UndoRejection::is_there(back.current)));
        }
        Restore { transaction: &transaction, session: undo.session, handle, now, back: &back }.carry_out()?;
        let undone = undone(&transaction, back.next(), back)?;
        engine::save(&transaction, undo.session, &engine(undone.engine.clone()))?;
        transaction.commit()?;
        Ok(Ok(undone))
    }
}

fn undone(connection: &Connection, generation: u64, back: Back<'_>) -> Result<RestoredList, ArchiveError> {
    let Back { restored, handles, list, since, left, engine, .. } = back;
    let mut bodies = Bodies::of(connection)?;
    let list = list.iter().map(|place| bodies.text(*place)).collect::<Result<_, _>>()?;
    Ok(RestoredList { generation, restored, handles, list, since, left: to_u64(left.len()), engine })
}

/// Returns the digest of a list of messages. It is the same however a client's library writes them, and whichever
/// fields beginning with `_` it keeps.
fn message_digest<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let texts: Vec<String> = texts.map(normal_message).collect();
    digest(texts.iter().map(String::as_str))
}

/// Returns the digest that earlier versions used for a list of JSON texts. It includes the fields beginning with `_`.
fn normal_digest<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let texts: Vec<String> = texts.map(normal).collect();
    digest(texts.iter().map(String::as_str))
}

/// Returns the digest of a list of texts, byte for byte.
fn digest<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(to_u64(text.len()).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().to_vec()
}

/// Reads texts of messages by the ids of their rows.
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
        // A continuation has no parent from now on, because the compression that it continued is undone.
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

    /// Marks the messages that leave the list, so that they are kept under the handle of the undo. If the caller's list
    /// is not the transcript, all rows of the transcript leave that are not restored.
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

    /// Moves the rows to their new positions. Two rows of a transcript never share a position, so all move below zero
    /// first.
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

    /// Inserts rows for messages that only the caller had.
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
