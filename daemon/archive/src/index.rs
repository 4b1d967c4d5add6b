//! Adds documents to the text index.
//!
//! The index stores tokens, not text: messages have their bodies, memory texts are in a table of their own, and outputs
//! are files outside the archive. For each row of the index, a row of `document` has the kind, profile and time.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::browse::narrow;
use crate::message::searched;
use crate::terms::DocumentTerms;
use crate::token::{self, Tokens};
use crate::transcript::{self, take_ids};
use crate::{Archive, ArchiveError, Reader};

/// A part of an output, to be indexed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutputPart<'a> {
    /// The handle of the output.
    pub handle: &'a str,
    /// The session that made it.
    pub session: &'a str,
    /// That session's profile.
    pub profile: &'a str,
    /// When, in Unix seconds.
    pub time: f64,
    /// The part's first line, from 1.
    pub line: u64,
    /// Chars of the output before it.
    pub start: u64,
    /// Its length in chars.
    pub chars: u64,
    /// Its text.
    pub text: &'a str,
    /// Whether it is the first part of the output.
    pub is_first: bool,
    /// Whether it is the last part. The output then counts as indexed.
    pub is_last: bool,
}

/// A text from a memory store's history, to be stored and indexed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryText<'a> {
    /// The profile.
    pub profile: &'a str,
    /// The memory store in the profile.
    pub target: &'a str,
    /// The revision of the store that has this text.
    pub revision: u64,
    /// When, in Unix seconds.
    pub time: f64,
    /// The session that changed the store.
    pub session: Option<&'a str>,
    /// The action that changed the store.
    pub action: &'a str,
    /// The text.
    pub text: &'a str,
}

/// Bytes of messages that are indexed in one transaction. The last message may exceed it.
const MOST_BYTES: usize = 8 << 20;

/// The kind of a document, as `document.kind` stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Message = 1,
    Output = 2,
    Memory = 3,
}

/// A document that is about to be indexed.
struct Document<'a> {
    id: i64,
    kind: Kind,
    profile: &'a str,
    time: f64,
    session: Option<i64>,
    tokens: Tokens,
}

impl Archive {
    /// Indexes up to `limit` messages, oldest first. Returns an upper bound of how many are left; 0 only if none is.
    ///
    /// # Errors
    /// A failure of the database; none of them is indexed then.
    pub fn index_pending(&mut self, limit: usize) -> Result<usize, ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        let first = meta(&transaction, "indexed")?;
        let (mut last, mut seen, mut is_cut) = (first, 0, false);
        {
            let mut query = transaction.prepare_cached(
                "SELECT message.id, message.session, session.profile, message.time, message.body,
                        message.recalled = 0 AND message.role <> 'system'
                        AND NOT EXISTS (SELECT 1 FROM original WHERE original.message = message.id)
                 FROM message JOIN session_key ON session_key.key = message.session
                 JOIN session ON session.id = session_key.id
                 WHERE message.id > ?1 ORDER BY message.id LIMIT ?2",
            )?;
            let mut rows = query.query(params![last, narrow(limit)])?;
            let mut bytes = 0;
            while let Some(row) = rows.next()? {
                // Long messages are indexed a few at a time, because other requests wait for the writer.
                if bytes > MOST_BYTES {
                    is_cut = true;
                    break;
                }
                bytes += row.get_ref(4)?.as_str()?.len();
                seen += 1;
                last = row.get(0)?;
                if !row.get::<_, bool>(5)? {
                    continue;
                }
                let text = searched(row.get_ref(4)?.as_str()?);
                if text.is_empty() {
                    continue;
                }
                let document = Document {
                    id: last,
                    kind: Kind::Message,
                    profile: row.get_ref(2)?.as_str()?,
                    time: row.get(3)?,
                    session: Some(row.get(1)?),
                    tokens: token::tokens(&text),
                };
                document.insert(&transaction)?;
            }
        }
        if seen < limit && !is_cut {
            last = meta(&transaction, "next_id")? - 1;
        }
        index_memories(&transaction, first, last)?;
        transaction.prepare_cached("UPDATE meta SET value = ?1 WHERE name = 'indexed'")?.execute([last])?;
        let left = meta(&transaction, "next_id")? - 1 - last;
        transaction.commit()?;
        Ok(usize::try_from(left).unwrap_or(usize::MAX))
    }

    /// Indexes parts of outputs, all or none. The first part of an output replaces everything that is indexed of it.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn index_outputs(&mut self, parts: &[OutputPart<'_>]) -> Result<(), ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        for part in parts {
            insert_part(&transaction, part)?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Removes outputs from the index. Unknown ones are no error.
    ///
    /// # Errors
    /// A failure of the database; none is removed then.
    pub fn forget_outputs(&mut self, handles: &[String]) -> Result<(), ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        for handle in handles {
            forget_handle(&transaction, handle)?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Stores a memory text and indexes it. A revision that is already stored stays unchanged.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn index_memory(&mut self, memory: &MemoryText<'_>) -> Result<(), ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        let is_there = transaction
            .prepare_cached("SELECT 1 FROM memory_text WHERE profile = ?1 AND target = ?2 AND revision = ?3")?
            .exists(params![memory.profile, memory.target, memory.revision])?;
        if is_there {
            return Ok(());
        }
        let id = take_ids(&transaction, 1)?;
        let MemoryText { profile, target, revision, time, session, action, text } = *memory;
        transaction
            .prepare_cached(
                "INSERT INTO memory_text (id, profile, target, revision, time, session, action, text)
                 VALUES (?1,?2,?3,?4,?5,?6,?7,?8)",
            )?
            .execute(params![id, profile, target, revision, time, session, action, text])?;
        let session = session.map(|session| transcript::session_key(&transaction, session)).transpose()?;
        Document { id, kind: Kind::Memory, profile, time, session, tokens: token::tokens(text) }
            .insert(&transaction)?;
        transaction.commit()?;
        Ok(())
    }
}

impl Reader {
    /// Returns the handles of the outputs that are completely indexed.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn indexed_outputs(&self) -> Result<Vec<String>, ArchiveError> {
        let mut query = self.connection.prepare_cached("SELECT handle FROM output WHERE complete ORDER BY key")?;
        let rows = query.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the profile, target and newest indexed revision of every memory store.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn indexed_memory(&self) -> Result<Vec<(String, String, u64)>, ArchiveError> {
        let query = "SELECT profile, target, max(revision) FROM memory_text GROUP BY profile, target";
        let mut query = self.connection.prepare_cached(query)?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Document<'_> {
    fn insert(self, connection: &Connection) -> Result<(), ArchiveError> {
        if self.tokens.words.is_empty() {
            return Ok(());
        }
        connection
            .prepare_cached("INSERT INTO document (id, kind, profile, time) VALUES (?1,?2,?3,?4)")?
            .execute(params![self.id, self.kind as i64, self.profile, self.time])?;
        let mut scope = kind_token(self.kind).to_owned();
        if let Some(session) = self.session {
            scope.push(' ');
            scope.push_str(&session_token(session));
        }
        let Tokens { words, stems, pieces, counting, marks } = self.tokens;
        connection
            .prepare_cached("INSERT INTO word (rowid, words, stems, pieces, scope) VALUES (?1,?2,?3,?4,?5)")?
            .execute(params![self.id, words, stems, pieces, scope])?;
        let session = self.session.filter(|_| self.kind == Kind::Message);
        let terms = DocumentTerms::of(counting, marks);
        connection
            .prepare_cached("INSERT INTO document_terms (id, session, words, marks, terms) VALUES (?1,?2,?3,?4,?5)")?
            .execute(params![self.id, session, terms.words, terms.marks.encode(), terms.encoded])?;
        Ok(())
    }
}

/// An indexed message.
pub(crate) struct Indexed {
    id: i64,
    profile: String,
    time: f64,
    session: i64,
}

impl Indexed {
    /// Returns a message that is in the index; `None` if it is not.
    pub(crate) fn message(connection: &Connection, id: i64) -> Result<Option<Self>, ArchiveError> {
        let mut query = connection.prepare_cached(
            "SELECT document.profile, document.time, message_row.session
             FROM document JOIN message_row USING (id) WHERE document.id = ?1",
        )?;
        let read =
            |row: &rusqlite::Row<'_>| Ok(Self { id, profile: row.get(0)?, time: row.get(1)?, session: row.get(2)? });
        Ok(query.query_row([id], read).optional()?)
    }

    /// Indexes another text of the message in the place of the old one.
    pub(crate) fn replace(&self, connection: &Connection, body: &str) -> Result<(), ArchiveError> {
        forget(connection, &[self.id])?;
        let (text, kind) = (searched(body), Kind::Message);
        let Self { id, ref profile, time, session } = *self;
        Document { id, kind, profile, time, session: Some(session), tokens: token::tokens(&text) }.insert(connection)
    }
}

/// Indexes memory texts with these ids that are not in the index. A file whose index was rebuilt has such texts.
pub(crate) fn index_memories(transaction: &Connection, after: i64, to: i64) -> Result<(), ArchiveError> {
    let mut query = transaction.prepare_cached(
        "SELECT memory_text.id, profile, time, session_key.key, text
         FROM memory_text LEFT JOIN session_key ON session_key.id = memory_text.session
         WHERE memory_text.id > ?1 AND memory_text.id <= ?2
           AND NOT EXISTS (SELECT 1 FROM document WHERE document.id = memory_text.id)",
    )?;
    let mut rows = query.query(params![after, to])?;
    while let Some(row) = rows.next()? {
        let document = Document {
            id: row.get(0)?,
            kind: Kind::Memory,
            profile: row.get_ref(1)?.as_str()?,
            time: row.get(2)?,
            session: row.get(3)?,
            tokens: token::tokens(row.get_ref(4)?.as_str()?),
        };
        document.insert(transaction)?;
    }
    Ok(())
}

/// Returns the token that all documents of a session have. No text has it, because `§` is in no run.
pub(crate) fn session_token(key: i64) -> String {
    format!("§{key}")
}

/// Returns the token that all documents of a kind have. Messages need none, because nearly all documents are messages.
pub(crate) fn kind_token(kind: Kind) -> &'static str {
    match kind {
        Kind::Message => "",
        Kind::Output => "§o",
        Kind::Memory => "§m",
    }
}

/// Removes documents from the index. Unknown ids are no error.
pub(crate) fn forget(connection: &Connection, ids: &[i64]) -> Result<(), ArchiveError> {
    for id in ids {
        if connection.prepare_cached("DELETE FROM document WHERE id = ?1")?.execute([id])? > 0 {
            connection.prepare_cached("DELETE FROM word WHERE rowid = ?1")?.execute([id])?;
            connection.prepare_cached("DELETE FROM document_terms WHERE id = ?1")?.execute([id])?;
        }
    }
    Ok(())
}

fn insert_part(transaction: &Connection, part: &OutputPart<'_>) -> Result<(), ArchiveError> {
    if part.is_first {
        forget_handle(transaction, part.handle)?;
    }
    let session = transcript::session_key(transaction, part.session)?;
    let output: i64 = transaction
        .prepare_cached(
            "INSERT INTO output (handle, session, profile, complete) VALUES (?1,?2,?3,?4)
             ON CONFLICT (handle) DO UPDATE SET complete = excluded.complete RETURNING key",
        )?
        .query_row(params![part.handle, part.session, part.profile, part.is_last], |row| row.get(0))?;
    let id = take_ids(transaction, 1)?;
    transaction
        .prepare_cached("INSERT INTO output_part (id, output, line, start, chars) VALUES (?1,?2,?3,?4,?5)")?
        .execute(params![id, output, part.line, part.start, part.chars])?;
    let (kind, tokens) = (Kind::Output, token::tokens(part.text));
    Document { id, kind, profile: part.profile, time: part.time, session: Some(session), tokens }.insert(transaction)
}

/// Removes an output from the index, if it is there.
fn forget_handle(connection: &Connection, handle: &str) -> Result<(), ArchiveError> {
    let query = "SELECT key FROM output WHERE handle = ?1";
    let output: Option<i64> = connection.prepare_cached(query)?.query_row([handle], |row| row.get(0)).optional()?;
    output.map_or(Ok(()), |output| forget_output(connection, output))
}

/// Removes an output and its parts from the index.
pub(crate) fn forget_output(connection: &Connection, output: i64) -> Result<(), ArchiveError> {
    let parts: Vec<i64> = {
        let mut query = connection.prepare_cached("SELECT id FROM output_part WHERE output = ?1")?;
        let rows = query.query_map([output], |row| row.get(0))?;
        rows.collect::<Result<_, _>>()?
    };
    forget(connection, &parts)?;
    connection.prepare_cached("DELETE FROM output_part WHERE output = ?1")?.execute([output])?;
    connection.prepare_cached("DELETE FROM output WHERE key = ?1")?.execute([output])?;
    Ok(())
}

fn meta(connection: &Connection, name: &str) -> Result<i64, ArchiveError> {
    let mut query = connection.prepare_cached("SELECT value FROM meta WHERE name = ?1")?;
    Ok(query.query_row([name], |row| row.get(0))?)
}

#[cfg(test)]
mod tests;
