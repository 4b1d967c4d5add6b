//! Messages of all hosts: each is uploaded by its own host, and found by all hosts of the space.

mod find;
mod statements;
mod tokens;

use herma_archive::outbox::{OutboxMessage, Words};
use tokio_postgres::types::ToSql;

pub use self::find::{RemoteMatches, Within};
use self::tokens::Tokens;
use crate::database::Database;
use crate::error::SharedError;
use crate::stores::{signed, unsigned};

/// A message to upload, and its words; `None` if no search finds it.
pub type NewMessage = (OutboxMessage, Option<Words>);

/// The name of a message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MessageKey {
    /// The host of the archive.
    pub host: String,
    /// The archive that the message came to first.
    pub archive: u32,
    /// Its id in that archive.
    pub number: u64,
}

/// An uploaded message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its name.
    pub key: MessageKey,
    /// The profile.
    pub profile: String,
    /// The session.
    pub session: String,
    /// Which agent.
    pub agent: Option<String>,
    /// Its role; empty when it has none.
    pub role: String,
    /// When it was added to that archive, in Unix seconds.
    pub at: f64,
    /// The JSON text.
    pub body: String,
}

impl Database {
    /// Saves messages of an archive of this host. Messages that exist already stay unchanged.
    ///
    /// # Errors
    /// An error of the database. The messages may have been saved then, and can be saved again.
    pub async fn keep_messages(&self, archive: u32, messages: &[NewMessage]) -> Result<(), SharedError> {
        let taken = self.take().await?;
        let rows = Columns::of(messages);
        let (space, host, archive) = (&self.space.name, &self.space.host, i64::from(archive));
        let newest = messages.last().map_or(0, |(message, _)| signed(message.id));
        let said: [&(dyn ToSql + Sync); 15] = [
            space,
            host,
            &archive,
            &rows.numbers,
            &rows.profiles,
            &rows.sessions,
            &rows.agents,
            &rows.roles,
            &rows.at,
            &rows.bodies,
            &rows.tokens,
            &rows.words,
            &rows.marks,
            &rows.terms,
            &newest,
        ];
        let work = async {
            let client = &taken.connection().client;
            client.execute(statements::KEEP, &said).await.map_err(|error| SharedError::of_change(&error))
        };
        self.in_time(work, SharedError::Unsettled).await?;
        taken.release();
        Ok(())
    }

    /// Returns up to which message an archive of this host was uploaded; 0 if none was.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn shipped(&self, archive: u32) -> Result<u64, SharedError> {
        let archive = i64::from(archive);
        let said: [&(dyn ToSql + Sync); 3] = [&self.space.name, &self.space.host, &archive];
        let rows = self.ask(statements::SHIPPED, &said).await?;
        Ok(rows.first().map_or(0, |row| unsigned(row.get(0))))
    }

    /// Removes the messages of a session in an archive of this host, below an id.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn remove_messages(&self, archive: u32, session: &str, below: u64) -> Result<(), SharedError> {
        let (archive, below) = (i64::from(archive), signed(below));
        let said: [&(dyn ToSql + Sync); 5] = [&self.space.name, &self.space.host, &archive, &session, &below];
        self.change(statements::REMOVE, &said).await.map(drop)
    }

    /// Removes messages of an archive of this host, by their ids.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn remove_each(&self, archive: u32, ids: &[u64]) -> Result<(), SharedError> {
        let (archive, numbers) = (i64::from(archive), ids.iter().map(|id| signed(*id)).collect::<Vec<_>>());
        let said: [&(dyn ToSql + Sync); 4] = [&self.space.name, &self.space.host, &archive, &numbers];
        self.change(statements::REMOVE_EACH, &said).await.map(drop)
    }

    /// Removes at most `most` messages of an archive of this host below an id.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn remove_some(&self, archive: u32, below: u64, most: usize) -> Result<u64, SharedError> {
        let (archive, below) = (i64::from(archive), signed(below));
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let said: [&(dyn ToSql + Sync); 5] = [&self.space.name, &self.space.host, &archive, &below, &most];
        self.change(statements::REMOVE_SOME, &said).await
    }
}

/// Messages as one list per column.
struct Columns<'a> {
    numbers: Vec<i64>,
    profiles: Vec<&'a str>,
    sessions: Vec<&'a str>,
    agents: Vec<Option<&'a str>>,
    roles: Vec<&'a str>,
    at: Vec<f64>,
    bodies: Vec<&'a str>,
    tokens: Vec<Option<Tokens>>,
    words: Vec<i32>,
    marks: Vec<i16>,
    terms: Vec<Option<&'a [u8]>>,
}

impl<'a> Columns<'a> {
    fn of(messages: &'a [NewMessage]) -> Self {
        let said = || messages.iter().map(|(message, _)| message);
        let words = || messages.iter().map(|(_, words)| words.as_ref());
        let count = |words: &Words| i32::try_from(words.count).unwrap_or(i32::MAX);
        Self {
            numbers: said().map(|message| signed(message.id)).collect(),
            profiles: said().map(|message| message.profile.as_str()).collect(),
            sessions: said().map(|message| message.session.as_str()).collect(),
            agents: said().map(|message| message.agent.as_deref()).collect(),
            roles: said().map(|message| message.role.as_str()).collect(),
            at: said().map(|message| message.time).collect(),
            bodies: said().map(|message| message.body.as_str()).collect(),
            tokens: words().map(|words| words.map(|words| Tokens::new(&words.words, &words.others))).collect(),
            words: words().map(|words| words.map_or(0, count)).collect(),
            marks: words().map(|words| words.map_or(0, |words| i16::from(words.marks))).collect(),
            terms: words().map(|words| words.map(|words| words.terms.as_slice())).collect(),
        }
    }
}
