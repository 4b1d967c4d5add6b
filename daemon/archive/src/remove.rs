//! Removing a session for good.

use rusqlite::{Connection, TransactionBehavior, params};

use crate::transcript::{find_session_key, wide};
use crate::{Archive, ArchiveError, index};

/// What went with a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removed {
    /// How many messages.
    pub messages: u64,
    /// Their JSON texts' length, in bytes.
    pub bytes: u64,
    /// The outputs that were in the index, whole or in part; their files are the
    /// caller's to remove.
    pub output_handles: Vec<String>,
}

impl Archive {
    /// Removes a session with its messages, compressions, usage, locks, rules, the
    /// engine's memory, and what the index has of it. Its bytes are overwritten in the file, and the
    /// write-ahead log is emptied unless a reader is in the way for seconds. Its
    /// children stay, without a known parent. An unknown session is no error.
    ///
    /// # Errors
    /// A failure of the database; everything is still there then, unless it
    /// failed while the log was emptied.
    pub fn remove_session(&mut self, id: &str) -> Result<Removed, ArchiveError> {
        let connection = self.connection_mut();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (removed, was_indexed) = remove(&transaction, id)?;
        if was_indexed {
            // Until it is merged, the index only notes that a document is gone, and
            // keeps its words.
            transaction.execute(MERGE, [])?;
        }
        transaction.commit()?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(removed)
    }

    /// Removes a session as [`Self::remove_session`] does, if it ended at this time and is not open
    /// again; `None` if it is. The index keeps its words until [`Self::merge_index`] is called.
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
        let (removed, _) = remove(&transaction, id)?;
        transaction.commit()?;
        Ok(Some(removed))
    }

    /// Takes the words out of the index of what was removed, and empties the log.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn merge_index(&mut self) -> Result<(), ArchiveError> {
        self.connection().execute(MERGE, [])?;
        self.connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }
}

/// Has the index written anew without what was removed.
const MERGE: &str = "INSERT INTO word (word) VALUES ('optimize')";

/// Removes a session; also says whether the index had something of it.
fn remove(transaction: &Connection, id: &str) -> Result<(Removed, bool), ArchiveError> {
    let mut removed = Removed::default();
    let mut was_indexed = false;
    if let Some(key) = find_session_key(transaction, id)? {
        let messages: Vec<(i64, u64)> =
            list(transaction, "SELECT id, octet_length(body) FROM message WHERE session = ?1", key, |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        removed.messages = wide(messages.len());
        removed.bytes = messages.iter().map(|(_, bytes)| bytes).sum();
        let ids: Vec<i64> = messages.into_iter().map(|(id, _)| id).collect();
        was_indexed = !ids.is_empty();
        index::forget(transaction, &ids)?;
        for table in ["message", "recall_call"] {
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
    for table in ["compression", "usage", "lock", "engine", "user_rule"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [id])?;
    }
    transaction.execute("DELETE FROM session WHERE id = ?1", [id])?;
    Ok((removed, was_indexed))
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
