//! Notes which sessions changed since they were published to the other hosts, and which host has each session.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use super::{HEAD_TABLES, MADE_TABLES};
use crate::browse::narrow;
use crate::outbox::{HOST_BOUND, OF_PROFILES, list};
use crate::{Archive, ArchiveError, Reader};

/// The end reason of a session that another host took over.
pub const MOVED: &str = "moved";

/// A session and the host that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Its id.
    pub session: String,
    /// Its profile.
    pub profile: String,
    /// Distinguishes it from a session with the same id on another host.
    pub birth: String,
    /// Grows by one with each host that takes the session over, from 1.
    pub term: u64,
    /// The other host that has it; `None` if this host has it.
    pub holder: Option<String>,
    /// Whether this host has changes that must not be lost and that the others may not know.
    pub has_strays: bool,
}

/// A session that changed since it was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsent {
    /// Its id.
    pub session: String,
    /// The current count of its changes.
    pub changes: u64,
}

const HELD: &str = "SELECT held.session, session.profile, birth, term, holder, mattered > sent FROM held
     JOIN session ON session.id = held.session";

/// Finds out whether changes of sessions are noted.
const IS_NOTED: &str = "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = 'held_session_INSERT'";

/// Returns the part of a query that selects the sessions to publish of some profiles.
fn unsent() -> String {
    format!(
        "FROM held JOIN session ON session.id = held.session
         WHERE changes > sent AND holder IS NULL AND {OF_PROFILES} AND NOT {HOST_BOUND}"
    )
}

fn held(row: &Row<'_>) -> rusqlite::Result<Held> {
    Ok(Held {
        session: row.get(0)?,
        profile: row.get(1)?,
        birth: row.get(2)?,
        term: row.get(3)?,
        holder: row.get(4)?,
        has_strays: row.get(5)?,
    })
}

impl Reader {
    /// Returns which host has a session; `None` if that was never noted.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn held(&self, session: &str) -> Result<Option<Held>, ArchiveError> {
        let query = format!("{HELD} WHERE held.session = ?1");
        Ok(self.connection.prepare_cached(&query)?.query_row([session], held).optional()?)
    }

    /// Whether a session changed since it was published. True as long as changes are not noted at all; false for a
    /// session that another host has.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn is_unsent(&self, session: &str) -> Result<bool, ArchiveError> {
        if !self.connection.prepare_cached(IS_NOTED)?.exists([])? {
            return Ok(true);
        }
        let query = "SELECT 1 FROM held WHERE session = ?1 AND changes > sent AND holder IS NULL";
        Ok(self.connection.prepare_cached(query)?.exists([session])?)
    }

    /// Returns the open sessions of these profiles that this host has, that were published, and that were used since
    /// the given time.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn held_in_use(&self, profiles: &[String], since: f64) -> Result<Vec<Held>, ArchiveError> {
        let query = format!(
            "{HELD} WHERE ended_at IS NULL AND holder IS NULL AND sent > 0 AND last_active >= ?2 AND {OF_PROFILES}"
        );
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map(params![list(profiles), since], held)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the sessions that other hosts have.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn remote(&self) -> Result<Vec<Held>, ArchiveError> {
        let query = format!("{HELD} WHERE holder IS NOT NULL");
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map([], held)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns at most `most` sessions of these profiles that changed since they were published, the most recently used
    /// first.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn unsent(&self, profiles: &[String], most: usize) -> Result<Vec<Unsent>, ArchiveError> {
        let query =
            format!("SELECT held.session, changes {} ORDER BY last_active DESC, held.session LIMIT ?2", unsent());
        let mut query = self.connection.prepare_cached(&query)?;
        let unsent = |row: &Row<'_>| Ok(Unsent { session: row.get(0)?, changes: row.get(1)? });
        let rows = query.query_map(params![list(profiles), narrow(most)], unsent)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the profiles that have a published session.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn published_profiles(&self) -> Result<Vec<String>, ArchiveError> {
        let query = "SELECT DISTINCT session.profile FROM held JOIN session ON session.id = held.session
                     WHERE holder IS NULL AND sent > 0";
        let mut query = self.connection.prepare_cached(query)?;
        let rows = query.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the old ids of messages of this archive that have new ids now. They are to be removed from the shared
    /// database.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn strays(&self) -> Result<Vec<u64>, ArchiveError> {
        let mut query = self.connection.prepare_cached("SELECT number FROM stray ORDER BY number LIMIT 10000")?;
        let rows = query.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns how many sessions of these profiles changed since they were published.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn count_unsent(&self, profiles: &[String]) -> Result<u64, ArchiveError> {
        let mut query = self.connection.prepare_cached(&format!("SELECT count(*) {}", unsent()))?;
        Ok(query.query_row([list(profiles)], |row| row.get(0))?)
    }
}

impl Archive {
    /// Notes from now on which sessions change. If that was not noted before, all existing sessions count as changed,
    /// and this returns true.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn begin_handing(&mut self) -> Result<bool, ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        let begins = !transaction.prepare(IS_NOTED)?.exists([])?;
        if begins {
            transaction.execute_batch(&triggers())?;
            count_all(&transaction)?;
        }
        transaction.commit()?;
        Ok(begins)
    }

    /// Marks published sessions for publishing again, unless their birth and term are in `known`: the other hosts don't
    /// know them, or no longer do.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn republish_unknown(&mut self, known: &HashSet<(String, u64)>) -> Result<(), ArchiveError> {
        let transaction = self.connection_mut().transaction_with_behavior(TransactionBehavior::Immediate)?;
        let published: Vec<(String, String, u64)> = {
            let query = "SELECT session, birth, term FROM held WHERE holder IS NULL AND sent > 0";
            let mut query = transaction.prepare_cached(query)?;
            let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect::<Result<_, _>>()?
        };
        for (session, ..) in published.into_iter().filter(|(_, birth, term)| !known.contains(&(birth.clone(), *term))) {
            let query = "UPDATE held SET changes = changes + 1, mattered = changes + 1 WHERE session = ?1";
            transaction.prepare_cached(query)?.execute([session])?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Stops publishing the sessions of a profile. If the profile is published again later, all its sessions are.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn stop_publishing(&self, profile: &str) -> Result<(), ArchiveError> {
        let query = "UPDATE held SET sent = 0, mattered = changes WHERE holder IS NULL AND sent > 0
                     AND session IN (SELECT id FROM session WHERE profile = ?1)";
        self.connection().execute(query, [profile])?;
        Ok(())
    }

    /// Forgets old ids of messages that were removed from the shared database.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn forget_strays(&self, numbers: &[u64]) -> Result<(), ArchiveError> {
        let transaction = self.connection().unchecked_transaction()?;
        for number in numbers {
            transaction.prepare_cached("DELETE FROM stray WHERE number = ?1")?.execute([number])?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Notes that a session was published as of a count of its changes, unless another host took it over meanwhile.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn mark_published(&self, unsent: &Unsent) -> Result<(), ArchiveError> {
        let query = "UPDATE held SET sent = max(sent, ?2) WHERE session = ?1 AND holder IS NULL";
        self.connection().prepare_cached(query)?.execute(params![unsent.session, unsent.changes])?;
        Ok(())
    }

    /// Notes that messages of this archive up to an id may be uploaded with secrets masked.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn note_masked(&self, identity: u32, through: u64) -> Result<(), ArchiveError> {
        self.mark(identity, "UPDATE meta SET value = max(value, ?2) WHERE name = 'masked'", through)
    }

    /// Notes the host that has a session; `None` is this host. If it is another host, the session ends here. A note
    /// with an earlier term is ignored.
    ///
    /// # Errors
    /// A failure of the database.
    pub fn note_holder(&self, session: &str, holder: Option<&str>, term: u64, now: f64) -> Result<(), ArchiveError> {
        let query = "UPDATE held SET holder = ?2, term = max(term, ?3) WHERE session = ?1 AND term <= ?3";
        let changed = self.connection().prepare_cached(query)?.execute(params![session, holder, term])?;
        if changed > 0 && holder.is_some() {
            self.close_session(session, MOVED, now)?;
        }
        Ok(())
    }
}

fn count_all(connection: &Connection) -> Result<(), ArchiveError> {
    connection.execute(
        "INSERT INTO held (session, birth, term, holder, changes, mattered, sent)
         SELECT id, lower(hex(randomblob(8))), 1, NULL, 1, 1, 0 FROM session WHERE true
         ON CONFLICT (session) DO UPDATE SET changes = changes + 1, mattered = changes + 1",
        [],
    )?;
    Ok(())
}

/// The changes of a session's own row that must not be lost: those of settings, title and frozen snapshot.
const SET: &str = "UPDATE OF settings, title, sha256";

/// Returns the triggers that note each change. The last use of a session and the figures of its engine are not worth a
/// fork. Messages change their positions only with a compression, so that is not noted separately.
fn triggers() -> String {
    let head = HEAD_TABLES.iter().map(|(table, column)| match *table {
        "recall_call" => (*table, by_key("session")),
        table => (table, format!("ROW.{column}")),
    });
    let made = MADE_TABLES.iter().map(|(table, _)| (*table, "ROW.session".to_owned()));
    let tables = head.chain(made).chain([("message_row", by_key("session"))]);
    let each =
        tables.flat_map(|(table, session)| ["INSERT", "UPDATE", "DELETE"].map(|event| (table, session.clone(), event)));
    each.filter(|(table, _, event)| (*table, *event) != ("message_row", "UPDATE"))
        .map(|(table, session, event)| trigger(table, &session, event))
        .chain([trigger("session", "ROW.id", SET)])
        .collect()
}

fn by_key(column: &str) -> String {
    format!("(SELECT id FROM session_key WHERE key = ROW.{column})")
}

fn trigger(table: &str, session: &str, event: &str) -> String {
    let session = session.replace("ROW", if event == "DELETE" { "OLD" } else { "NEW" });
    let is_worth = !matches!((table, event), ("session", "UPDATE") | ("engine" | "recall_call", _));
    let name = event.replace([' ', ','], "_");
    let mattered = if is_worth { "changes + 1" } else { "mattered" };
    // A deleted row may have no session any more. Then there is nothing to note.
    format!(
        "CREATE TRIGGER held_{table}_{name} AFTER {event} ON {table} BEGIN
             INSERT INTO held (session, birth, term, holder, changes, mattered, sent)
             SELECT {session}, lower(hex(randomblob(8))), 1, NULL, 1, {}, 0 WHERE {session} IS NOT NULL
             ON CONFLICT (session) DO UPDATE SET changes = changes + 1, mattered = {mattered};
         END;",
        u8::from(is_worth)
    )
}
