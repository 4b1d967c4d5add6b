//! A whole compression as one change: what left the list, what the engine remembers,
//! the rules, and the session that goes on where there is to be a new one.

use std::ops::Range;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::constraint::{self, ConstraintRow};
use crate::copy::copy;
use crate::engine::{self, EngineRow};
use crate::episode;
use crate::node::{self, NodeRow};
use crate::original::{self, Shortened};
use crate::removed::{self, Beginning, Removal};
use crate::session::{ENDED_BY_COMPRESSION, SessionRow, SnapshotRow};
use crate::transcript::{self, Appended, NewMessage, Rows};
use crate::undo::{self, Undoable};
use crate::{Archive, ArchiveError, Reader};

/// The setting of how long a log may be before a commit moves it into the file, in pages; and
/// what it is otherwise, SQLite's own number.
const AUTOCHECKPOINT: &str = "wal_autocheckpoint";
/// See [`AUTOCHECKPOINT`].
const CHECKPOINT_PAGES: u32 = 1_000;

/// What stands between the id of the first session of a chain and the number of a later
/// one.
const MARK: &str = "-c";

/// Most chars of an id, as long as any id may be.
const ID_CHARS: usize = 1024;

/// Chars of an id that are left for the mark and the number.
const NUMBER_CHARS: usize = 24;

/// What changes with a compression beside the list.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// What the engine remembers from now on; as before when absent.
    pub engine: Option<&'a EngineRow>,
    /// Rules that are new or changed.
    pub constraints: &'a [ConstraintRow],
    /// What is frozen for the session that goes on; without it the same one does.
    pub continuation: Option<&'a SnapshotRow>,
    /// What it takes to undo the compression; without it, it can't be undone.
    pub undo: Option<&'a Undoable<'a>>,
    /// Nodes that were made; they are kept with the handle of the compression.
    pub nodes: &'a [NodeRow],
    /// Messages that stay in the list in another form.
    pub replaced: &'a [Shortened<'a>],
    /// Behind which messages episodes begin in the new list, by their numbers; the others as before.
    pub anchors: &'a [(u64, String)],
}

/// A compression that is being kept, in one transaction: dropped before [`Keeping::keep`] it
/// leaves nothing behind.
///
/// Its commit does not move the log into the file, for somebody waits. The next one does, and
/// that is one of the text index, for which nobody waits.
pub struct Keeping<'a> {
    reader: &'a Reader,
    transaction: Transaction<'a>,
    /// Positions of the messages that [`Keeping::begin`] kept; none before it was called.
    begun: Option<Range<u64>>,
    _log: LongLog<'a>,
}

impl Archive {
    /// Begins to keep a compression.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn compression(&mut self) -> Result<Keeping<'_>, ArchiveError> {
        let log = LongLog::of(self.connection())?;
        let transaction = Transaction::new_unchecked(self.connection(), TransactionBehavior::Immediate)?;
        Ok(Keeping { reader: self.reader(), transaction, begun: None, _log: log })
    }
}

impl Keeping<'_> {
    /// The reading functions; they see what was kept so far.
    #[must_use]
    pub const fn reader(&self) -> &Reader {
        self.reader
    }

    /// See [`Archive::append`].
    ///
    /// # Errors
    /// As [`Archive::append`].
    pub fn append(
        &self,
        session: &str,
        generation: u64,
        position: u64,
        messages: &[&str],
        now: f64,
    ) -> Result<Appended, ArchiveError> {
        transcript::append_in(&self.transaction, session, generation, position, messages, now)
    }

    /// Keeps what is certain before the rest is known, so that less is left to do then. Of a
    /// session that has a transcript the messages are there already, and nothing is kept.
    ///
    /// # Errors
    /// As [`Keeping::keep`].
    pub fn begin(&mut self, beginning: &Beginning<'_>) -> Result<(), ArchiveError> {
        self.begun = Some(removed::begin_in(&self.transaction, beginning)?);
        Ok(())
    }

    /// Keeps a compression whole, or nothing of it: the messages, the session at the next
    /// generation, its transcript as the new list. A message that is in the transcript already is
    /// marked as removed, not kept a second time; one that is neither removed nor in the new list
    /// counts as removed too.
    ///
    /// With a continuation the session, unless it ended before, ends with the reason
    /// `compression`, and a new one begins at generation 0 with the new list, the rules, the
    /// engine's memory and the next title; it is answered. Its id is that of the first one of the
    /// chain with `-c` and a number from 2 on: `s`, `s-c2`, `s-c3`; numbers in use are left out.
    ///
    /// # Errors
    /// An unknown session, a handle or generation that was used before, a new list that keeps
    /// what the transcript has not or what is removed, a removal that lacks what was begun, or a
    /// failure of the database.
    pub fn keep(self, removal: &Removal<'_>, beside: &Beside<'_>) -> Result<Option<SessionRow>, ArchiveError> {
        let going_on = match beside.continuation {
            Some(snapshot) => Some(self.continuation(removal, snapshot)?),
            None => None,
        };
        let Self { transaction, begun, .. } = self;
        let begun = match begun {
            Some(begun) => begun,
            None => removed::begin_in(&transaction, &removal.bare())?,
        };
        removed::keep_in(&transaction, removal, &begun)?;
        if let Some(undoable) = beside.undo {
            undo::note(&transaction, removal, undoable)?;
        }
        node::save(&transaction, removal.session, removal.handle, beside.nodes)?;
        original::save(&transaction, removal, beside.replaced)?;
        episode::save_anchors(&transaction, removal.session, beside.anchors)?;
        if let Some(row) = beside.engine {
            engine::save(&transaction, removal.session, row)?;
        }
        constraint::save(&transaction, removal.session, beside.constraints)?;
        if let Some(row) = &going_on {
            go_on(&transaction, removal, row)?;
        }
        transaction.commit()?;
        Ok(going_on)
    }

    /// The session that goes on for another one. Nobody else writes, so its id is still
    /// free when it is kept.
    fn continuation(&self, removal: &Removal<'_>, snapshot: &SnapshotRow) -> Result<SessionRow, ArchiveError> {
        let none = || ArchiveError::NoSession { session: removal.session.to_owned() };
        let before = self.reader.session(removal.session)?.ok_or_else(none)?;
        let title = before.title.map(|title| self.reader.next_title(&title)).transpose()?;
        Ok(SessionRow {
            id: self.next_id(&before.id)?,
            parent: Some(before.id),
            title,
            generation: 0,
            snapshot: snapshot.clone(),
            started_at: removal.time,
            ended_at: None,
            end_reason: None,
            ..before
        })
    }

    fn next_id(&self, id: &str) -> Result<String, ArchiveError> {
        let (base, number) = match id.rsplit_once(MARK) {
            Some((base, number)) if !base.is_empty() => match number.parse::<u32>() {
                Ok(number) if number >= 2 => (base, u64::from(number)),
                _ => (id, 1),
            },
            _ => (id, 1),
        };
        let base: String = base.chars().take(ID_CHARS - NUMBER_CHARS).collect();
        let mut known = self.transaction.prepare_cached("SELECT 1 FROM session WHERE id = ?1")?;
        let mut number = number;
        loop {
            number = number.saturating_add(1);
            let next = format!("{base}{MARK}{number}");
            if !known.exists([&next])? {
                return Ok(next);
            }
        }
    }
}

/// A log that commits don't move into the file, however long it is, until this is dropped.
struct LongLog<'a>(&'a Connection);

impl<'a> LongLog<'a> {
    fn of(connection: &'a Connection) -> Result<Self, ArchiveError> {
        connection.pragma_update(None, AUTOCHECKPOINT, 0)?;
        Ok(Self(connection))
    }
}

impl Drop for LongLog<'_> {
    fn drop(&mut self) {
        // Without it the log grows until the archive is opened anew, and nothing is lost.
        drop(self.0.pragma_update(None, AUTOCHECKPOINT, CHECKPOINT_PAGES));
    }
}

fn go_on(transaction: &Transaction<'_>, removal: &Removal<'_>, row: &SessionRow) -> Result<(), ArchiveError> {
    transaction
        .prepare_cached("UPDATE session SET ended_at = ?2, end_reason = ?3 WHERE id = ?1 AND ended_at IS NULL")?
        .execute(params![removal.session, removal.time, ENDED_BY_COMPRESSION])?;
    crate::session::insert(transaction, row)?;
    for table in ["engine", "user_rule", "pin", "discard", "episode"] {
        copy(transaction, table, "session", (removal.session, &row.id))?;
    }
    copy_transcript(transaction, removal, row)
}

fn copy_transcript(transaction: &Transaction<'_>, removal: &Removal<'_>, row: &SessionRow) -> Result<(), ArchiveError> {
    let bodies = transcript::bodies(transaction, removal.session)?;
    if bodies.is_empty() {
        return Ok(());
    }
    let key = transcript::session_key(transaction, &row.id)?;
    let first = transcript::take_ids(transaction, bodies.len())?;
    let mut rows = Rows::new(transaction, &row.id, key)?;
    for (position, (id, body)) in (0..).zip((first..).zip(&bodies)) {
        rows.insert(&NewMessage { id, generation: 0, position, time: removal.time, compression: None, body })?;
    }
    rows.count(removal.time)
}

#[cfg(test)]
mod tests;
