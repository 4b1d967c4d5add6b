//! The data to upload to a database that several hosts share: messages by their ids, in order, and removed sessions.
//! The progress is a single number, so nothing is stored twice for it. A process that is killed between uploading and
//! noting uploads the same again.

use rusqlite::{Connection, TransactionBehavior, params};

use crate::browse::narrow;
use crate::message::searched;
use crate::terms::DocumentTerms;
use crate::token::{self, Tokens};
use crate::{Archive, ArchiveError, Reader};

/// The condition for a session whose settings keep it on its host.
pub(crate) const HOST_BOUND: &str =
    "coalesce(CASE WHEN json_valid(session.settings) THEN session.settings ->> '$.host_bound' END, 0)";

/// The condition for a session of one of some profiles. The first parameter is a JSON list of them.
pub(crate) const OF_PROFILES: &str = "session.profile IN (SELECT value FROM json_each(?1))";

/// Encodes names as the parameter of [`OF_PROFILES`].
pub(crate) fn list(names: &[String]) -> String {
    serde_json::json!(names).to_string()
}

/// Returns what other hosts may have of a system prompt message, as JSON; `None` for all of it. The same text must
/// always give the same result, because its length is published separately.
pub type PromptForOthers = fn(&str) -> Option<String>;

/// Returns the text that other hosts get instead of a message's body; `None` if they get the body.
pub(crate) fn other_body(role: &str, body: &str, for_others: PromptForOthers) -> Option<String> {
    if is_prompt(role) { for_others(body) } else { None }
}

/// Whether a role is that of a system prompt.
pub(crate) fn is_prompt(role: &str) -> bool {
    matches!(role, "system" | "developer")
}

/// The condition for a message that came with a session from another host. It is in the shared database already.
const CAME: &str = "EXISTS (SELECT 1 FROM origin WHERE origin.id = message.id)";

/// Keeps the names of messages of published sessions when the archive gets another identity.
const KNOWN_AS_BEFORE: &str = "
    INSERT OR IGNORE INTO origin (id, archive, number)
    SELECT message.id, (SELECT value FROM meta WHERE name = 'identity'), message.id
    FROM held JOIN session_key ON session_key.id = held.session JOIN message_row AS message ON message.session = session_key.key
    WHERE held.sent > 0 AND message.id <= (SELECT value FROM meta WHERE name = 'shipped');
    INSERT INTO came (session, archive, through)
    SELECT session_key.id, origin.archive, max(origin.number)
    FROM origin JOIN message_row AS message ON message.id = origin.id JOIN session_key ON session_key.key = message.session
    WHERE origin.archive = (SELECT value FROM meta WHERE name = 'identity') GROUP BY 1, 2
    ON CONFLICT (session, archive) DO UPDATE SET through = max(through, excluded.through);";

/// A message to be uploaded.
#[derive(Debug, Clone, PartialEq)]
pub struct OutboxMessage {
    /// Its id.
    pub id: u64,
    /// The session.
    pub session: String,
    /// The session's profile.
    pub profile: String,
    /// Which agent the session was opened with.
    pub agent: Option<String>,
    /// Its role; empty when it has none.
    pub role: String,
    /// When it was added to the archive, in Unix seconds.
    pub time: f64,
    /// The JSON text.
    pub body: String,
    /// Whether a search finds it.
    pub is_found: bool,
}

/// A batch of messages, and how far it goes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outbox {
    /// The messages, in the order of their ids.
    pub messages: Vec<OutboxMessage>,
    /// All messages up to this id are in this batch, were uploaded before, or stay here.
    pub through: u64,
    /// Whether no messages come after it.
    pub is_all: bool,
}

/// How much of an archive was uploaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shipped {
    /// Distinguishes the messages of this archive from those of another one of the same host.
    pub identity: u32,
    /// The newest message that may have been uploaded.
    pub sent: u64,
    /// All messages up to this one were uploaded, or stay here.
    pub through: u64,
    /// The id that the next message will have.
    pub next: u64,
}

/// A session that was removed, or that stays here from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone {
    /// Its id.
    pub session: String,
    /// All its messages have ids below this one.
    pub below: u64,
    /// Distinguishes it from another session of its id, if this host had it.
    pub birth: Option<String>,
    /// The term in which this host had it.
    pub term: Option<u64>,
}

/// The words of a message, as they are searched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// Its words in their order, each between spaces.
    pub words: String,
    /// Stems, and parts of words, each between spaces.
    pub others: String,
    /// The number of words.
    pub count: u32,
    /// Properties of the text besides its words, as bits.
    pub marks: u8,
    /// Its terms, as the ranking reads them.
    pub terms: Vec<u8>,
}

/// Returns the words of a message; `None` if it has none.
#[must_use]
pub fn words_of(body: &str) -> Option<Words> {
    let Tokens { words, stems, pieces, counting, marks } = token::tokens(&searched(body));
    if words.is_empty() {
        return None;
    }
    let DocumentTerms { words: count, marks, encoded } = DocumentTerms::of(counting, marks);
    Some(Words { words, others: format!("{stems} {pieces}"), count, marks: marks.encode(), terms: encoded })
}

impl Reader {
    /// Returns the messages of these profiles to upload after an id, oldest first. The batch ends after `most`
    /// messages, or after the message with which they have `bytes` bytes. `for_others` reduces system prompts to what
    /// other hosts may have.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn outbox(
        &self,
        behind: u64,
        profiles: &[String],
        (most, bytes): (usize, usize),
        for_others: PromptForOthers,
    ) -> Result<Outbox, ArchiveError> {
        // One read transaction: an id that is assigned later is larger than all ids that are seen here.
        let view = self.connection.unchecked_transaction()?;
        let next = shipped(&view)?.next;
        let mut last = behind;
        let query = format!(
            "SELECT message.id, session.id, session.profile, session.agent, role, message.time, body,
                    recalled = 0 AND role <> 'system', {HOST_BOUND} OR {CAME}
             FROM message JOIN session_key ON session_key.key = message.session
             JOIN session ON session.id = session_key.id
             WHERE message.id > ?1 ORDER BY message.id LIMIT ?2"
        );
        let mut query = view.prepare_cached(&query)?;
        let (mut messages, mut seen, mut left) = (Vec::new(), 0, bytes);
        let mut rows = query.query(params![last, narrow(most)])?;
        while left > 0
            && let Some(row) = rows.next()?
        {
            last = row.get(0)?;
            seen += 1;
            let profile = row.get_ref(2)?.as_str()?;
            if row.get(8)? || !profiles.iter().any(|one| one == profile) {
                continue;
            }
            let (role, body): (String, String) = (row.get(4)?, row.get(6)?);
            let body = other_body(&role, &body, for_others).unwrap_or(body);
            left = left.saturating_sub(body.len());
            messages.push(OutboxMessage {
                id: last,
                session: row.get(1)?,
                profile: profile.to_owned(),
                agent: row.get(3)?,
                role,
                time: row.get(5)?,
                body,
                is_found: row.get(7)?,
            });
        }
        let is_all = seen < most && left > 0;
        Ok(Outbox { messages, through: if is_all { last.max(next.saturating_sub(1)) } else { last }, is_all })
    }

    /// Returns how much was uploaded.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn shipped(&self) -> Result<Shipped, ArchiveError> {
        shipped(&self.connection)
    }

    /// Returns how many messages of these profiles are still to be uploaded.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn unshipped(&self, profiles: &[String]) -> Result<u64, ArchiveError> {
        let query = format!(
            "SELECT count(*) FROM message_row AS message JOIN session_key ON session_key.key = message.session
             JOIN session ON session.id = session_key.id
             WHERE message.id > (SELECT value FROM meta WHERE name = 'shipped') AND NOT {HOST_BOUND} AND NOT {CAME}
               AND {OF_PROFILES}"
        );
        let mut query = self.connection.prepare_cached(&query)?;
        Ok(query.query_row([list(profiles)], |row| row.get(0))?)
    }

    /// Returns the sessions that stay on this host.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn host_bound(&self) -> Result<Vec<String>, ArchiveError> {
        let mut query = self.connection.prepare_cached(&format!("SELECT id FROM session WHERE {HOST_BOUND}"))?;
        let rows = query.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns sessions that were removed here and not yet in the shared database.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn gone_sessions(&self, most: usize) -> Result<Vec<Gone>, ArchiveError> {
        let query = "SELECT session, below, birth, term FROM session_gone LIMIT ?1";
        let mut query = self.connection.prepare_cached(query)?;
        let rows = query.query_map([narrow(most)], |row| {
            Ok(Gone { session: row.get(0)?, below: row.get(1)?, birth: row.get(2)?, term: row.get(3)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Archive {
    /// Notes that messages of these profiles are about to be uploaded. If a profile is new, the upload begins again
    /// with the first message. Removed sessions are remembered from now on.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn begin_shipping(&mut self, profiles: &[String]) -> Result<(), ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute("UPDATE meta SET value = 1 WHERE name = 'shares'", [])?;
        let known: Vec<String> = {
            let mut query = transaction.prepare_cached("SELECT profile FROM shipped_profile")?;
            let rows = query.query_map([], |row| row.get(0))?;
            rows.collect::<Result<_, _>>()?
        };
        for profile in profiles.iter().filter(|profile| !known.contains(profile)) {
            transaction.execute("INSERT INTO shipped_profile VALUES (?1)", [profile])?;
            transaction.execute("UPDATE meta SET value = 0 WHERE name = 'shipped'", [])?;
        }
        for profile in known.iter().filter(|profile| !profiles.contains(profile)) {
            transaction.execute("DELETE FROM shipped_profile WHERE profile = ?1", [profile])?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Notes that messages up to an id are about to be uploaded. If the shared database has a later one, this archive
    /// is an older copy.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn note_sent(&self, identity: u32, sent: u64) -> Result<(), ArchiveError> {
        self.mark(identity, "UPDATE meta SET value = max(value, ?2) WHERE name = 'sent'", sent)
    }

    /// Notes that messages after an id must be uploaded again, because they are not in the shared database.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn upload_again_after(&self, identity: u32, through: u64) -> Result<(), ArchiveError> {
        self.mark(identity, "UPDATE meta SET value = min(value, ?2) WHERE name = 'shipped'", through)
    }

    /// Notes that all messages up to an id were uploaded. A later id that was noted before stays.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn note_shipped(&self, identity: u32, through: u64) -> Result<(), ArchiveError> {
        self.mark(identity, "UPDATE meta SET value = max(value, ?2) WHERE name = 'shipped'", through)
    }

    /// Moves an upload mark of this archive, unless the archive has another identity by now.
    pub(crate) fn mark(&self, identity: u32, change: &str, id: u64) -> Result<(), ArchiveError> {
        let query = format!("{change} AND (SELECT value FROM meta WHERE name = 'identity') = ?1");
        self.connection().prepare_cached(&query)?.execute(params![identity, id])?;
        Ok(())
    }

    /// Marks all messages for upload again, under a new identity. This archive is older than the uploaded messages, so
    /// it will assign their ids to other messages.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn reset_identity(&self) -> Result<(), ArchiveError> {
        let transaction = self.connection().unchecked_transaction()?;
        // Other hosts may have taken sessions over. They know messages by the old identity, under which these stay in
        // the database.
        transaction.execute_batch(KNOWN_AS_BEFORE)?;
        transaction.execute("UPDATE meta SET value = random() & 0xffffffff WHERE name = 'identity'", [])?;
        transaction.execute("UPDATE meta SET value = 0 WHERE name IN ('shipped', 'sent')", [])?;
        transaction.execute("UPDATE held SET term = term + 1, changes = changes + 1 WHERE holder IS NULL", [])?;
        transaction.commit()?;
        Ok(())
    }

    /// Notes that the uploaded messages of a session must be removed, because it stays here from now on.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn schedule_removal(&self, session: &str) -> Result<(), ArchiveError> {
        let query = "INSERT OR IGNORE INTO session_gone (session, below, birth, term)
                     SELECT ?1, next.value, held.birth, held.term
                     FROM meta AS next, meta AS shares LEFT JOIN held ON held.session = ?1 AND held.holder IS NULL
                     WHERE next.name = 'next_id' AND shares.name = 'shares' AND shares.value = 1";
        self.connection().execute(query, [session])?;
        Ok(())
    }

    /// Forgets sessions that were removed from the shared database too.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn forget_gone(&self, gone: &[Gone]) -> Result<(), ArchiveError> {
        let transaction = self.connection().unchecked_transaction()?;
        for Gone { session, below, .. } in gone {
            transaction
                .prepare_cached("DELETE FROM session_gone WHERE session = ?1 AND below = ?2")?
                .execute(params![session, below])?;
        }
        transaction.commit()?;
        Ok(())
    }
}

fn shipped(connection: &Connection) -> Result<Shipped, ArchiveError> {
    let query = "SELECT (SELECT value FROM meta WHERE name = 'identity'),
                        (SELECT value FROM meta WHERE name = 'sent'),
                        (SELECT value FROM meta WHERE name = 'shipped'),
                        (SELECT value FROM meta WHERE name = 'next_id')";
    let shipped = |row: &rusqlite::Row<'_>| {
        Ok(Shipped { identity: row.get(0)?, sent: row.get(1)?, through: row.get(2)?, next: row.get(3)? })
    };
    Ok(connection.prepare_cached(query)?.query_row([], shipped)?)
}

#[cfg(test)]
mod tests;
