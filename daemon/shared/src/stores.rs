//! The text of a store, its revision and its history. Only the row of a store assigns its revisions: a change names the
//! revision that it is based on, and is done only if the store is still at that one.

use std::sync::Arc;

use herma_memory::{Action, Author, Entry, Row};
use serde::Serialize;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use crate::database::{Database, Taken};
use crate::error::SharedError;
use crate::foreign;
use crate::store_statements as statements;

/// A store of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StoreKey {
    /// The profile.
    pub profile: String,
    /// `memory` or `user`.
    pub target: &'static str,
}

/// A change that needs a revision.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// The permanent name of the write. A caller that does not know whether the write was done looks it up.
    pub write_id: String,
    /// The change, at the requested revision.
    pub row: Row,
}

impl Wanted {
    /// Returns the change in a form that the database can store: NUL, which the database does not know, becomes U+FFFD.
    #[must_use]
    pub fn new(write_id: String, row: Row) -> Self {
        let row = Row { before: storable(&row.before), after: storable(&row.after), ..row };
        Self { write_id, row }
    }
}

fn storable(entries: &Arc<[Entry]>) -> Arc<[Entry]> {
    if entries.iter().any(|entry| entry.contains('\0')) {
        entries.iter().map(|entry| Entry::from(entry.replace('\0', "\u{fffd}"))).collect()
    } else {
        Arc::clone(entries)
    }
}

/// The result of committing changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Given {
    /// They have their revisions since this time, by the database's clock in Unix seconds.
    At(f64),
    /// Another change was faster: the store is at another revision.
    Late,
}

/// The revision of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreRevision {
    /// The profile.
    pub profile: String,
    /// `memory` or `user`.
    pub target: String,
    /// The revision.
    pub revision: u64,
    /// Distinguishes it from another store that replaced it.
    pub born: String,
}

/// A locked store, which no other connection can change. Its new revisions are known.
#[derive(Debug)]
pub struct Held<'a> {
    taken: Taken<'a>,
    key: StoreKey,
    /// Its revision.
    pub revision: u64,
    /// Distinguishes it from another store that replaced it.
    pub born: String,
    /// Its new revisions.
    pub rows: Vec<Row>,
    /// Those of the requested writes that were done before: their ids, with the revisions.
    pub written: Vec<(String, u64)>,
}

impl Database {
    /// Assigns revisions to changes, if the store is still at `base`.
    ///
    /// # Errors
    /// An error of the database, or that it is unknown whether the changes were done.
    pub async fn commit(
        &self,
        key: &StoreKey,
        (base, born): (u64, &str),
        wanted: &[Wanted],
    ) -> Result<Given, SharedError> {
        let taken = self.take_for_store().await?;
        let given = self.in_time(self.give(&taken, key, (base, born), wanted), SharedError::Unsettled).await?;
        taken.release();
        Ok(given)
    }

    async fn give(
        &self,
        taken: &Taken<'_>,
        key: &StoreKey,
        (base, born): (u64, &str),
        wanted: &[Wanted],
    ) -> Result<Given, SharedError> {
        let (Some(oldest), Some(newest)) = (wanted.first(), wanted.last()) else { return Ok(Given::At(0.0)) };
        let (before, entries, rows) = (texts(&oldest.row.before), texts(&newest.row.after), rows(wanted));
        let (space, host) = (&self.space.name, &self.space.host);
        let (base, after) = (signed(base), signed(newest.row.revision));
        let connection = taken.connection();
        let (statement, client) = (&connection.commit, &connection.client);
        let said: [&(dyn ToSql + Sync); 10] =
            [space, &key.profile, &key.target, &base, &after, &entries, host, &rows, &before, &born];
        match client.query_opt(statement, &said).await {
            Ok(Some(row)) => Ok(Given::At(row.get(0))),
            Ok(None) => Ok(Given::Late),
            // This very write was done before.
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(Given::Late),
            Err(error) => Err(SharedError::of_change(&error)),
        }
    }

    /// Waits for a store and locks it. Returns its revisions after `known`, at most `most`, and which of these writes
    /// were done. With `makes`, creates the store if it does not exist.
    ///
    /// # Errors
    /// An error of the database, or that there is no such store.
    pub async fn hold(
        &self,
        key: &StoreKey,
        known: u64,
        most: usize,
        writes: &[String],
        makes: bool,
    ) -> Result<Held<'_>, SharedError> {
        let taken = self.take_for_store().await?;
        let refused = |error: tokio_postgres::Error| SharedError::of_question(&error);
        let (space, connection) = (&self.space.name, taken.connection());
        let names: [&(dyn ToSql + Sync); 3] = [space, &key.profile, &key.target];
        let begin = async { connection.client.batch_execute("BEGIN").await.map_err(refused) };
        let contend = async {
            let held = connection.client.query_opt(&connection.contend, &names).await.map_err(refused)?;
            let held = held.ok_or_else(|| self.no_store(key))?;
            Ok((unsigned(held.get(0)), held.get(1)))
        };
        let written = async {
            if writes.is_empty() {
                return Ok(Vec::new());
            }
            let found = connection.client.query(statements::WRITTEN, &[space, &writes]).await.map_err(refused)?;
            Ok(found.iter().map(|row| (row.get(0), unsigned(row.get(1)))).collect())
        };
        let work = async {
            if makes {
                begin.await?;
                connection.client.execute(statements::MAKE, &names).await.map_err(refused)?;
                let (revision, born) = contend.await?;
                return Ok((revision, born, since(self, connection, key, known, most).await?, written.await?));
            }
            // All statements are sent at once, in this order: other callers don't wait for round trips between them.
            let rows = since(self, connection, key, known, most);
            let (begun, held, rows, written) = tokio::join!(biased; begin, contend, rows, written);
            // The first error counts: later statements fail only because of it.
            begun?;
            let (revision, born) = held?;
            Ok((revision, born, rows?, written?))
        };
        let (revision, born, rows, written) = self.in_time(work, SharedError::Unreachable).await?;
        Ok(Held { taken, key: key.clone(), revision, born, rows, written })
    }

    /// Returns the revisions of a store after one, oldest first, at most `most` of the newest.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn since(&self, key: &StoreKey, revision: u64, most: usize) -> Result<Vec<Row>, SharedError> {
        let taken = self.take_for_store().await?;
        let work = since(self, taken.connection(), key, revision, most);
        let rows = self.in_time(work, SharedError::Unreachable).await?;
        taken.release();
        Ok(rows)
    }

    /// Whether a write of this name was done.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn was_written(&self, id: &str) -> Result<bool, SharedError> {
        let taken = self.take_for_store().await?;
        let work = async {
            let ids = [id];
            let said: [&(dyn ToSql + Sync); 2] = [&self.space.name, &ids.as_slice()];
            let found = taken.connection().client.query(statements::WRITTEN, &said).await;
            Ok(!found.map_err(|error| SharedError::of_question(&error))?.is_empty())
        };
        let found = self.in_time(work, SharedError::Unreachable).await?;
        taken.release();
        Ok(found)
    }

    /// Returns the revision of every store of the space.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn store_revisions(&self) -> Result<Vec<StoreRevision>, SharedError> {
        let taken = self.take_for_store().await?;
        let work = async {
            let connection = taken.connection();
            let rows = connection.client.query(&connection.revisions, &[&self.space.name]).await;
            rows.map_err(|error| SharedError::of_question(&error))
        };
        let rows = self.in_time(work, SharedError::Unreachable).await?;
        taken.release();
        let standing = |row: &tokio_postgres::Row| StoreRevision {
            profile: row.get(0),
            target: row.get(1),
            // An invalid revision is detected where it is compared.
            revision: unsigned(row.get(2)),
            born: row.get(3),
        };
        Ok(rows.iter().map(standing).collect())
    }

    /// Forgets the history of a store up to a revision.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn prune(&self, key: &StoreKey, up_to: u64) -> Result<(), SharedError> {
        let taken = self.take_for_store().await?;
        let work = async {
            let up_to = signed(up_to);
            let client = &taken.connection().client;
            let names: [&(dyn ToSql + Sync); 4] = [&self.space.name, &key.profile, &key.target, &up_to];
            client.execute(statements::PRUNE, &names).await.map_err(|error| SharedError::of_change(&error))
        };
        self.in_time(work, SharedError::Unsettled).await?;
        taken.release();
        Ok(())
    }

    fn no_store(&self, key: &StoreKey) -> SharedError {
        let (space, profile, target) = (self.space.name.clone(), key.profile.clone(), key.target.to_owned());
        SharedError::NoStore { space, profile, target }
    }
}

impl Held<'_> {
    /// Assigns revisions to changes, and releases the store. Without changes, only releases it.
    ///
    /// # Errors
    /// An error of the database, or that it is unknown whether the changes were done.
    pub async fn commit(self, wanted: &[Wanted]) -> Result<Given, SharedError> {
        let database = self.taken.database();
        let client = &self.taken.connection().client;
        let end = async |how| client.batch_execute(how).await.map_err(|error| SharedError::of_change(&error));
        let work = async {
            if wanted.is_empty() {
                return end("ROLLBACK").await.map(|()| Given::At(0.0));
            }
            // Both are sent at once. If no revision was assigned, the commit changes nothing; after an error it is a
            // rollback.
            let given = database.give(&self.taken, &self.key, (self.revision, &self.born), wanted);
            let (given, ended) = tokio::join!(biased; given, end("COMMIT"));
            given.and_then(|given| ended.map(|()| given))
        };
        let given = database.in_time(work, SharedError::Unsettled).await?;
        self.taken.release();
        Ok(given)
    }

    /// Commits the creation of the store, if it was created, and releases it unchanged.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn keep(self) -> Result<(), SharedError> {
        let database = self.taken.database();
        let work = async {
            let client = &self.taken.connection().client;
            client.batch_execute("COMMIT").await.map_err(|error| SharedError::of_change(&error))
        };
        database.in_time(work, SharedError::Unsettled).await?;
        self.taken.release();
        Ok(())
    }
}

async fn since(
    database: &Database,
    connection: &crate::connection::Connection,
    key: &StoreKey,
    revision: u64,
    most: usize,
) -> Result<Vec<Row>, SharedError> {
    let (after, most) = (signed(revision), i64::try_from(most).unwrap_or(i64::MAX));
    let said: [&(dyn ToSql + Sync); 5] = [&database.space.name, &key.profile, &key.target, &after, &most];
    let rows =
        connection.client.query(&connection.since, &said).await.map_err(|error| SharedError::of_question(&error))?;
    rows.iter().map(|said| row(database, key, said)).collect()
}

/// Converts a row to a change. A change whose entries can't be read counts as no change, so that later ones can follow.
fn row(database: &Database, key: &StoreKey, said: &tokio_postgres::Row) -> Result<Row, SharedError> {
    let entries = |at: usize| -> Option<Arc<[Entry]>> {
        Some(foreign::entries(said.get(at))?.into_iter().map(Entry::from).collect())
    };
    let (revision, host) = (foreign::revision(said.get(0))?, said.get::<_, Option<String>>(2).map(foreign::name));
    let (before, after) = (entries(6), entries(7));
    if before.is_none() || after.is_none() {
        let (profile, target, host) = (&key.profile, key.target, host.as_deref().unwrap_or("a host"));
        let words =
            "has entries that can't be read, for they are no list of texts or too long, and counts as no change";
        database.left_out.note(format!("revision {revision} of {profile}'s {target}, which {host} wrote, {words}"));
    }
    let before = before.or_else(|| after.clone()).unwrap_or_default();
    Ok(Row {
        revision,
        time: foreign::seconds(said.get(1)),
        replaced: herma_memory::Replaced::Unknown,
        action: Action::named(said.get(3)),
        author: Author {
            host,
            session: said.get::<_, Option<String>>(4).map(foreign::name),
            agent: said.get::<_, Option<String>>(5).map(foreign::name),
        },
        after: after.unwrap_or_else(|| Arc::clone(&before)),
        before,
    })
}

/// Encodes the stored fields of changes.
fn rows(wanted: &[Wanted]) -> String {
    #[derive(Serialize)]
    struct Kept<'a> {
        revision: u64,
        action: &'a str,
        session: Option<&'a str>,
        agent: Option<&'a str>,
        write_id: &'a str,
        before: Vec<&'a str>,
        after: Vec<&'a str>,
    }
    let kept = |Wanted { write_id, row }: &'_ Wanted| {
        serde_json::to_value(Kept {
            revision: row.revision,
            action: row.action.name(),
            session: row.author.session.as_deref(),
            agent: row.author.agent.as_deref(),
            write_id,
            before: row.before.iter().map(|entry| &**entry).collect(),
            after: row.after.iter().map(|entry| &**entry).collect(),
        })
        .unwrap_or_default()
    };
    serde_json::Value::Array(wanted.iter().map(kept).collect()).to_string()
}

fn texts(entries: &[Entry]) -> String {
    serde_json::to_string(&entries.iter().map(|entry| &**entry).collect::<Vec<&str>>()).unwrap_or_default()
}

pub(crate) fn signed(revision: u64) -> i64 {
    i64::try_from(revision).unwrap_or(i64::MAX)
}

/// Converts the number of an archive from the database.
pub(crate) fn archive(number: i64) -> Result<u32, SharedError> {
    u32::try_from(number).map_err(|_| SharedError::Refused(format!("an archive has the number {number}")))
}

pub(crate) fn unsigned(revision: i64) -> u64 {
    u64::try_from(revision).unwrap_or_default()
}
