//! A whole compression as one transaction: the messages that left the list, the engine's memory, the rules, and the
//! continuation session if there is to be one.

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

/// The setting for the number of log pages from which a commit moves the log into the file.
const AUTOCHECKPOINT: &str = "wal_autocheckpoint";
/// The default of [`AUTOCHECKPOINT`], which is SQLite's own.
const CHECKPOINT_PAGES: u32 = 1_000;

/// The mark between the id of a chain's first session and the number of a continuation.
const MARK: &str = "-c";

/// The maximum length of any session id, in chars.
const ID_CHARS: usize = 1024;

/// Chars of an id that are reserved for the mark and the number.
const NUMBER_CHARS: usize = 24;

/// The changes of a compression in addition to the list.
#[derive(Debug, Clone, Copy, Default)]
pub struct CompressionExtras<'a> {
    /// The engine's new memory; unchanged if absent.
    pub engine: Option<&'a EngineRow>,
    /// New or changed rules.
    pub constraints: &'a [ConstraintRow],
    /// The frozen snapshot of the continuation session. Without it, the same session continues.
    pub continuation: Option<&'a SnapshotRow>,
    /// The data to undo the compression. Without it, the compression can't be undone.
    pub undo: Option<&'a Undoable<'a>>,
    /// Nodes that the compression made. They are saved with its handle.
    pub nodes: &'a [NodeRow],
    /// Messages that stay in the list in another form.
    pub replaced: &'a [Shortened<'a>],
    /// The messages after which episodes begin in the new list, by episode number. Other episodes keep theirs.
    pub anchors: &'a [(u64, String)],
}

/// A compression that is being saved, in one transaction. Dropping it before [`CompressionTransaction::keep`] rolls everything back.
///
/// Its commit does not move the log into the file, because a client waits for it. The next commit does: it is one of
/// the text index, which no client waits for.
pub struct CompressionTransaction<'a> {
    reader: &'a Reader,
    transaction: Transaction<'a>,
    /// Positions of the messages that [`CompressionTransaction::begin`] saved; `None` before that call.
    begun: Option<Range<u64>>,
    _log: LongLog<'a>,
}

impl Archive {
    /// Begins to save a compression.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn compression(&mut self) -> Result<CompressionTransaction<'_>, ArchiveError> {
        let log = LongLog::of(self.connection())?;
        let transaction = Transaction::new_unchecked(self.connection(), TransactionBehavior::Immediate)?;
        Ok(CompressionTransaction { reader: self.reader(), transaction, begun: None, _log: log })
    }
}

impl CompressionTransaction<'_> {
    /// Returns the reading functions. They see everything saved so far.
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

    /// Saves the part that is already certain, to leave less work for later. If the session has a transcript, its
    /// messages are stored already and this saves none.
    ///
    /// # Errors
    /// As [`CompressionTransaction::keep`].
    pub fn begin(&mut self, beginning: &Beginning<'_>) -> Result<(), ArchiveError> {
        self.begun = Some(removed::begin_in(&self.transaction, beginning)?);
        Ok(())
    }

    /// Saves the whole compression or nothing: the messages, the session at the next generation, and the new list as
    /// its transcript. A message that is already in the transcript is marked as removed and not stored again. A message
    /// that is neither removed nor in the new list counts as removed too.
    ///
    /// With a continuation, the session ends with the reason `compression`, unless it ended before. A new session
    /// begins at generation 0 with the new list, the rules, the engine's memory and the next title. It is returned. Its
    /// id is that of the chain's first session with `-c` and a number from 2 on: `s`, `s-c2`, `s-c3`. Numbers in use
    /// are skipped.
    ///
    /// # Errors
    /// - An unknown session, or a handle or generation that was used before.
    /// - A new list that keeps a message that is removed, or that is not in the transcript.
    /// - A removal without a message that `begin` saved.
    /// - A failure of the database.
    pub fn keep(
        self,
        removal: &Removal<'_>,
        extras: &CompressionExtras<'_>,
    ) -> Result<Option<SessionRow>, ArchiveError> {
        let going_on = match extras.continuation {
            Some(snapshot) => Some(self.continuation(removal, snapshot)?),
            None => None,
        };
        let Self { transaction, begun, .. } = self;
        let begun = match begun {
            Some(begun) => begun,
            None => removed::begin_in(&transaction, &removal.bare())?,
        };
        removed::keep_in(&transaction, removal, &begun)?;
        if let Some(undoable) = extras.undo {
            undo::note(&transaction, removal, undoable)?;
        }
        node::save(&transaction, removal.session, removal.handle, extras.nodes)?;
        original::save(&transaction, removal, extras.replaced)?;
        episode::save_anchors(&transaction, removal.session, extras.anchors)?;
        if let Some(row) = extras.engine {
            engine::save(&transaction, removal.session, row)?;
        }
        constraint::save(&transaction, removal.session, extras.constraints)?;
        if let Some(row) = &going_on {
            go_on(&transaction, removal, row)?;
        }
        transaction.commit()?;
        Ok(going_on)
    }

    /// Returns the new session that continues another one. The archive is the only writer, so the id is still free when
    /// the session is saved.
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

/// Keeps commits from moving the log into the file, however long it is, until this is dropped.
struct LongLog<'a>(&'a Connection);

impl<'a> LongLog<'a> {
    fn of(connection: &'a Connection) -> Result<Self, ArchiveError> {
        connection.pragma_update(None, AUTOCHECKPOINT, 0)?;
        Ok(Self(connection))
    }
}

impl Drop for LongLog<'_> {
    fn drop(&mut self) {
        // If this fails, the log grows until the archive is opened again, and nothing is lost.
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
