//! Removing a session for good.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::transcript::{find_session_key, to_u64};
use crate::{Archive, ArchiveError, index};

/// The data that was removed with a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removed {
    /// How many messages.
    pub messages: u64,
    /// The length of their JSON texts, in bytes.
    pub bytes: u64,
    /// The outputs that were indexed, fully or partly. The caller removes their files.
    pub output_handles: Vec<String>,
}

impl Archive {
    /// Removes a session with its messages, compressions, usage, locks, rules, engine memory and index entries. Its
    /// children stay, without a known parent. An unknown session is no error. A search no longer finds the session. Its
    /// words stay in the index, and its bytes in the log, until [`Self::forget_step`] has nothing more to do.
    ///
    /// # Errors
    /// A failure of the database; everything is still there then.
    pub fn remove_session(&mut self, id: &str) -> Result<Removed, ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        let removed = without_merges(&transaction, || remove(&transaction, id))?;
        transaction.commit()?;
        Ok(removed)
    }

    /// Removes some of a session's outputs from the index, to leave less work for [`Self::remove_session`]. Returns
    /// their handles; none if no outputs are left. If the session stays after all, they must be indexed again, because
    /// [`Reader::indexed_outputs`](crate::Reader::indexed_outputs) no longer returns them.
    ///
    /// # Errors
    /// A failure of the database; none is removed then.
    pub fn forget_some_outputs(&mut self, id: &str) -> Result<Vec<String>, ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        let query = format!("SELECT key, handle FROM output WHERE session = ?1 LIMIT {OUTPUTS}");
        let outputs: Vec<(i64, String)> = list(&transaction, &query, id, |row| Ok((row.get(0)?, row.get(1)?)))?;
        without_merges(&transaction, || {
            outputs.iter().try_for_each(|(output, _)| index::forget_output(&transaction, *output))
        })?;
        if !outputs.is_empty() {
            transaction.execute(BEGIN_STAGE, [BEGIN])?;
        }
        transaction.commit()?;
        Ok(outputs.into_iter().map(|(_, handle)| handle).collect())
    }

    /// Removes a session as [`Self::remove_session`] does, if it ended at this time and was not opened again. Otherwise
    /// returns `None`.
    ///
    /// # Errors
    /// A failure of the database; everything is still there then.
    pub fn remove_closed(&mut self, id: &str, ended_at: f64) -> Result<Option<Removed>, ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        let query = "SELECT count(*) FROM session WHERE id = ?1 AND ended_at = ?2";
        let found: u32 = transaction.query_row(query, params![id, ended_at], |row| row.get(0))?;
        if found == 0 {
            return Ok(None);
        }
        let removed = remove(&transaction, id)?;
        transaction.commit()?;
        Ok(Some(removed))
    }

    /// Removes some more words of removed sessions from the index. The last step empties the log, unless a reader
    /// blocks that for seconds. Returns true while there is more to do. After the last step the bytes are overwritten
    /// in the file. The progress is stored, so the work of a killed process continues.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn forget_step(&mut self) -> Result<bool, ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        let stage: Option<i64> = transaction.query_row(STAGE, [], |row| row.get(0)).optional()?;
        let is_more = match stage {
            None => return Ok(false),
            Some(LOG) => {
                transaction.execute("DELETE FROM meta WHERE name = 'forget'", [])?;
                false
            }
            Some(stage) => {
                // In FTS5, a merge with a negative number of pages begins to merge all parts of the index into one. A
                // merge that leaves the list of parts unchanged had nothing to do. See FTS5, "merge".
                let pages = if stage == BEGIN { -PAGES } else { PAGES };
                let before = parts(&transaction)?;
                transaction.execute("INSERT INTO word (word, rank) VALUES ('merge', ?1)", [pages])?;
                let is_done = stage != BEGIN && parts(&transaction)? == before;
                transaction.execute(SET_STAGE, [if is_done { LOG } else { GO_ON }])?;
                true
            }
        };
        transaction.commit()?;
        if !is_more {
            self.connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        }
        Ok(is_more)
    }
}

/// FTS5's own default, in percent.
const DELETE_MERGE: u32 = 10;

/// Outputs that are removed in one step, which takes some milliseconds.
const OUTPUTS: usize = 100;

/// Pages of the index, of 4,000 bytes, that are written in one step, which takes some milliseconds.
const PAGES: i64 = 200;

/// Reads the stage of removing words of removed sessions from the index; no row if there are none.
const STAGE: &str = "SELECT value FROM meta WHERE name = 'forget'";
const SET_STAGE: &str = "UPDATE meta SET value = ?1 WHERE name = 'forget'";
/// Begins at this stage, or stays at an earlier one if more of another removal is left.
const BEGIN_STAGE: &str = "INSERT INTO meta (name, value) VALUES ('forget', ?1)
     ON CONFLICT (name) DO UPDATE SET value = min(value, excluded.value)";
const BEGIN: i64 = 1;
const GO_ON: i64 = 2;
/// Only the log is left.
const LOG: i64 = 3;

/// Returns FTS5's own list of the parts of its index.
fn parts(connection: &Connection) -> rusqlite::Result<Vec<u8>> {
    connection.query_row("SELECT block FROM word_data WHERE id = 10", [], |row| row.get(0))
}

/// Deletes without the merges that FTS5 starts once a tenth of the index is deleted. Those merges follow in steps.
fn without_merges<T>(
    connection: &Connection,
    delete: impl FnOnce() -> Result<T, ArchiveError>,
) -> Result<T, ArchiveError> {
    let set = |percent: u32| connection.execute("INSERT INTO word (word, rank) VALUES ('deletemerge', ?1)", [percent]);
    set(0)?;
    let deleted = delete();
    set(DELETE_MERGE)?;
    deleted
}

/// Notes that words of the index and bytes of the log are to be forgotten.
pub(crate) fn begin_forgetting(transaction: &Connection) -> Result<(), ArchiveError> {
    transaction.execute(BEGIN_STAGE, [BEGIN])?;
    Ok(())
}

/// Removes a session, and notes what is still to be removed from the index and the log.
fn remove(transaction: &Connection, id: &str) -> Result<Removed, ArchiveError> {
    let mut removed = Removed::default();
    let mut was_indexed = false;
    if let Some(key) = find_session_key(transaction, id)? {
        let messages: Vec<(i64, u64)> =
            list(transaction, "SELECT id, octet_length(body) FROM message WHERE session = ?1", key, |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        removed.messages = to_u64(messages.len());
        removed.bytes = messages.iter().map(|(_, bytes)| bytes).sum();
        let ids: Vec<i64> = messages.into_iter().map(|(id, _)| id).collect();
        was_indexed = !ids.is_empty();
        index::forget(transaction, &ids)?;
        let texts = "DELETE FROM message_text WHERE id IN (SELECT id FROM message_row WHERE session = ?1)";
        transaction.execute(texts, [key])?;
        let origins = "DELETE FROM origin WHERE id IN (SELECT id FROM message_row WHERE session = ?1)";
        transaction.execute(origins, [key])?;
        for table in ["message_row", "recall_call"] {
            transaction.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [key])?;
        }
        transaction.execute("DELETE FROM session_key WHERE key = ?1", [key])?;
    }
    let outputs: Vec<(i64, String)> =
        list(transaction, "SELECT key, handle FROM output WHERE session = ?1 ORDER BY key", id, |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    for (output, handle) in outputs {
        index::forget_output(transaction, output)?;
        removed.output_handles.push(handle);
        was_indexed = true;
    }
    for table in [
        "node",
        "opened",
        "original",
        "pin",
        "discard",
        "episode",
        "list_before",
        "compression",
        "usage",
        "window_change",
        "lock",
        "engine",
        "user_rule",
    ] {
        transaction.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [id])?;
    }
    transaction.execute("DELETE FROM session WHERE id = ?1", [id])?;
    for table in ["held", "came"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [id])?;
    }
    transaction.execute(BEGIN_STAGE, [if was_indexed { BEGIN } else { LOG }])?;
    Ok(removed)
}

fn list<T>(
    connection: &Connection,
    query: &str,
    value: impl rusqlite::ToSql,
    from_row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, ArchiveError> {
    let mut query = connection.prepare(query)?;
    let rows = query.query_map([value], from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests;
