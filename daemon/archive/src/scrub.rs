//! Rewrites texts that were archived before, for example to mask the secrets in them.

use std::collections::BTreeSet;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::index::{self, Indexed};
use crate::remove::begin_forgetting;
use crate::{Archive, ArchiveError, Reader};

/// A message in the order of its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMessage {
    /// Its id.
    pub id: i64,
    /// Its session.
    pub session: String,
    /// Its JSON text.
    pub text: String,
}

/// A change of a text; `None` if it stays.
pub type Change<'a> = &'a mut dyn FnMut(&str) -> Option<String>;

/// The columns with texts of sessions, besides messages, snapshots, memory texts and the lists of undos.
const TEXTS: [(&str, &str); 13] = [
    ("session", "title"),
    ("compression", "summary"),
    ("node", "text"),
    ("node", "exact"),
    ("node", "state"),
    ("node", "warnings"),
    ("engine", "state"),
    ("engine", "summary"),
    ("user_rule", "text"),
    ("pin", "text"),
    ("discard", "reason"),
    ("episode", "title"),
    ("episode", "outcome"),
];

impl Reader {
    /// Returns the messages after an id, in the order of their ids, until their texts have that many bytes.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn messages_after(&self, id: i64, bytes: usize) -> Result<Vec<StoredMessage>, ArchiveError> {
        let mut query = self.connection.prepare_cached(
            "SELECT message.id, session_key.id, message.body
             FROM message JOIN session_key ON session_key.key = message.session
             WHERE message.id > ?1 ORDER BY message.id",
        )?;
        let mut rows = query.query([id])?;
        let (mut messages, mut taken) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            let message = StoredMessage { id: row.get(0)?, session: row.get(1)?, text: row.get(2)? };
            taken += message.text.len();
            messages.push(message);
            if taken >= bytes {
                break;
            }
        }
        Ok(messages)
    }

    /// Returns the largest id that a message may have.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn last_id(&self) -> Result<i64, ArchiveError> {
        let query = "SELECT value - 1 FROM meta WHERE name = 'next_id'";
        Ok(self.connection.prepare_cached(query)?.query_row([], |row| row.get(0))?)
    }
}

impl Archive {
    /// Replaces the texts of messages, also in the index. Compressions of their sessions can't be undone any more. The
    /// old words stay in the index, and the old bytes in the log, until [`Self::forget_step`] has nothing more to do. A
    /// message that is gone is no error.
    ///
    /// # Errors
    /// A failure of the database; nothing is changed then.
    pub fn rewrite_messages(&mut self, messages: &[StoredMessage]) -> Result<(), ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        for StoredMessage { id, text, .. } in messages {
            let indexed = Indexed::message(&transaction, *id)?;
            let stored = "UPDATE message_text SET text = ?2 WHERE id = ?1";
            transaction.prepare_cached(stored)?.execute(params![id, text])?;
            let inline = "UPDATE message_row SET body = ?2 WHERE id = ?1 AND body <> ''";
            transaction.prepare_cached(inline)?.execute(params![id, text])?;
            if let Some(indexed) = indexed {
                indexed.replace(&transaction, text)?;
            }
        }
        let sessions: BTreeSet<&str> = messages.iter().map(|message| message.session.as_str()).collect();
        for session in sessions {
            transaction.prepare_cached("DELETE FROM list_before WHERE session = ?1")?.execute([session])?;
        }
        begin_forgetting(&transaction)?;
        transaction.commit()?;
        Ok(())
    }

    /// Replaces all other texts: summaries, maps, rules, the states of engines, and the history of memories. Frozen
    /// snapshots of ended sessions that would change are dropped, and so are the undos of compressions. With `dry_run`
    /// nothing is written. Returns how many texts change.
    ///
    /// # Errors
    /// A failure of the database; nothing is changed then.
    pub fn rewrite_texts(&mut self, change: Change<'_>, dry_run: bool) -> Result<u64, ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut changed = 0;
        for (table, column) in TEXTS {
            changed += rewrite_column(&transaction, table, column, change)?;
        }
        changed += drop_changed(
            &transaction,
            "list_before",
            &["pieces", "state", "summary"],
            change,
            |connection, value, column| {
                let query = format!("DELETE FROM list_before WHERE {column} = ?1");
                Ok(connection.execute(&query, [value])?)
            },
        )?;
        changed += drop_changed(
            &transaction,
            "session",
            &["memory_block", "user_block"],
            change,
            |connection, value, column| {
                let query = format!(
                    "UPDATE session SET memory_block = NULL, user_block = NULL, sha256 = ''
                 WHERE {column} = ?1 AND ended_at IS NOT NULL"
                );
                Ok(connection.execute(&query, [value])?)
            },
        )?;
        changed += rewrite_memories(&transaction, change)?;
        if !dry_run {
            begin_forgetting(&transaction)?;
            transaction.commit()?;
        }
        Ok(changed)
    }
}

/// Returns the distinct values of a column that change, each with its new value.
fn changed_values(
    connection: &Connection,
    table: &str,
    column: &str,
    change: Change<'_>,
) -> Result<Vec<(String, String)>, ArchiveError> {
    let mut query = connection.prepare(&format!("SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"))?;
    let mut rows = query.query([])?;
    let mut changed = Vec::new();
    while let Some(row) = rows.next()? {
        let value = row.get_ref(0)?.as_str()?;
        if let Some(new) = change(value) {
            changed.push((value.to_owned(), new));
        }
    }
    Ok(changed)
}

fn rewrite_column(
    transaction: &Transaction<'_>,
    table: &str,
    column: &str,
    change: Change<'_>,
) -> Result<u64, ArchiveError> {
    let mut count = 0;
    for (old, new) in changed_values(transaction, table, column, change)? {
        let query = format!("UPDATE {table} SET {column} = ?2 WHERE {column} = ?1");
        count += transaction.execute(&query, params![old, new])?;
    }
    Ok(count as u64)
}

/// Calls `drop` for each value of the columns that would change.
fn drop_changed(
    transaction: &Transaction<'_>,
    table: &str,
    columns: &[&str],
    change: Change<'_>,
    drop: impl Fn(&Connection, &str, &str) -> Result<usize, ArchiveError>,
) -> Result<u64, ArchiveError> {
    let mut count = 0;
    for column in columns {
        for (old, _) in changed_values(transaction, table, column, change)? {
            count += drop(transaction, &old, column)?;
        }
    }
    Ok(count as u64)
}

/// Replaces the texts of memories that were in the stores at some time.
fn rewrite_memories(transaction: &Transaction<'_>, change: Change<'_>) -> Result<u64, ArchiveError> {
    let mut count = 0;
    for (old, new) in changed_values(transaction, "memory_text", "text", change)? {
        let ids: Vec<i64> = {
            let mut query = transaction.prepare("SELECT id FROM memory_text WHERE text = ?1")?;
            let rows = query.query_map([&old], |row| row.get(0))?;
            rows.collect::<Result<_, _>>()?
        };
        transaction.execute("UPDATE memory_text SET text = ?2 WHERE text = ?1", params![old, new])?;
        index::forget(transaction, &ids)?;
        for id in &ids {
            index::index_memories(transaction, id - 1, *id)?;
        }
        count += ids.len();
    }
    Ok(count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Search;
    use crate::testing::{archive, said, session};

    const SECRET: &str = "ottokar7heron7secret";

    fn hide(text: &str) -> Option<String> {
        text.contains(SECRET).then(|| text.replace(SECRET, "***"))
    }

    #[test]
    fn a_rewritten_text_is_in_no_file_and_its_message_is_found_by_its_other_words() {
        let (folder, mut archive) = archive();
        archive.create_session(&session("s")).unwrap();
        let messages = [said("user", &format!("the blue heron {SECRET}")), said("user", "another")];
        let texts: Vec<&str> = messages.iter().map(String::as_str).collect();
        archive.append("s", 0, 0, &texts, 1.0).unwrap();
        archive.index_pending(10).unwrap();
        let found =
            |archive: &Archive, words: &str| archive.reader().search(&Search::everywhere(words, 9)).unwrap().hits.len();
        assert_eq!((found(&archive, "heron"), found(&archive, SECRET)), (1, 1));
        let all = archive.reader().messages_after(0, 1).unwrap();
        assert_eq!(all.len(), 1, "the bytes limit them");
        let all = archive.reader().messages_after(0, usize::MAX).unwrap();
        let changed: Vec<StoredMessage> = all
            .iter()
            .filter_map(|message| Some(StoredMessage { text: hide(&message.text)?, ..message.clone() }))
            .collect();
        archive.rewrite_messages(&changed).unwrap();
        while archive.forget_step().unwrap() {}
        assert_eq!((found(&archive, "heron"), found(&archive, SECRET)), (1, 0));
        assert_eq!(archive.reader().transcript("s").unwrap(), [hide(&messages[0]).unwrap(), messages[1].clone()]);
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            assert!(!bytes.windows(SECRET.len()).any(|part| part.eq_ignore_ascii_case(SECRET.as_bytes())));
        }
    }

    #[test]
    fn other_texts_change_or_are_dropped_and_a_dry_run_only_counts() {
        let (_folder, mut archive) = archive();
        let mut closed = session("s");
        closed.title = Some(format!("about {SECRET}"));
        closed.snapshot.user = Some(format!("knows {SECRET}"));
        closed.ended_at = Some(1.0);
        archive.create_session(&closed).unwrap();
        let mut open = closed.clone();
        (open.id, open.ended_at) = ("open".into(), None);
        archive.create_session(&open).unwrap();
        let mut change = |text: &str| hide(text);
        assert_eq!(archive.rewrite_texts(&mut change, true).unwrap(), 3);
        assert_eq!(archive.reader().session("s").unwrap().unwrap().title, closed.title);
        assert_eq!(archive.rewrite_texts(&mut change, false).unwrap(), 3);
        let kept = archive.reader().session("s").unwrap().unwrap();
        assert_eq!(
            (kept.title.as_deref(), kept.snapshot.user, kept.snapshot.sha256.as_str()),
            (Some("about ***"), None, "")
        );
        let kept = archive.reader().session("open").unwrap().unwrap();
        assert_eq!(kept.snapshot.user, open.snapshot.user, "it is what the session's model has");
        assert_eq!(archive.rewrite_texts(&mut change, false).unwrap(), 0);
    }
}
