//! The connections, and how long anything on them may take.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;

use crate::address::Address;
use crate::connection::{Connection, connect};
use crate::error::SharedError;
use crate::foreign::LeftOut;
use crate::schema;

/// Connections at one time at most, beside the one that listens: for stores, where somebody waits for each write, and for all
/// else, so that no search and no long text keeps a write waiting.
const FOR_STORES: usize = 2;
const FOR_OTHERS: usize = 3;

/// Whose share of the database it is, and who writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// The space: a team's part of a database.
    pub name: String,
    /// This machine, by a name that stays.
    pub host: String,
}

/// A database, a space in it and a few connections.
#[derive(Debug)]
pub struct Database {
    pub(crate) address: Address,
    pub(crate) space: Space,
    patience: Duration,
    idle: Mutex<Vec<Connection>>,
    stores: Semaphore,
    others: Semaphore,
    /// Rows that can't be taken.
    pub(crate) left_out: LeftOut,
}

/// A connection that is used by one; it goes back when nothing went wrong on it.
#[derive(Debug)]
pub(crate) struct Taken<'a> {
    connection: Connection,
    database: &'a Database,
    _place: SemaphorePermit<'a>,
}

impl Database {
    /// Nothing is connected before something is asked. No single thing takes longer than `patience`.
    #[must_use]
    pub fn new(address: Address, space: Space, patience: Duration) -> Arc<Self> {
        let (stores, others) = (Semaphore::new(FOR_STORES), Semaphore::new(FOR_OTHERS));
        let left_out = LeftOut::default();
        Arc::new(Self { address, space, patience, idle: Mutex::default(), stores, others, left_out })
    }

    /// Where it is, without the password.
    #[must_use]
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// The space, and the host that writes.
    #[must_use]
    pub const fn space(&self) -> &Space {
        &self.space
    }

    /// What is wrong with the rows that were left out so far, as far as it is remembered.
    #[must_use]
    pub fn left_out(&self) -> Vec<String> {
        self.left_out.all()
    }

    /// Makes the tables or brings them up to date, as whoever `owner` is, and lets a role use the space. Gives
    /// the version that was found; 0 for none.
    ///
    /// # Errors
    /// What the database says against it.
    pub async fn init(&self, owner: Option<&Address>, role: Option<&str>) -> Result<i32, SharedError> {
        let address = owner.unwrap_or(&self.address);
        let work = async {
            let mut client = connect(address, self.patience).await?;
            schema::make(&mut client, role.map(|role| (role, self.space.name.as_str()))).await
        };
        self.in_time(work, SharedError::Unsettled).await
    }

    /// How long one thing may take.
    pub(crate) const fn patience(&self) -> Duration {
        self.patience
    }

    /// Lets the connections go that nobody uses.
    pub fn rest(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// A connection for what a store is asked.
    pub(crate) async fn take_for_store(&self) -> Result<Taken<'_>, SharedError> {
        self.take_of(&self.stores).await
    }

    /// A connection for anything else.
    pub(crate) async fn take(&self) -> Result<Taken<'_>, SharedError> {
        self.take_of(&self.others).await
    }

    async fn take_of<'a>(&'a self, places: &'a Semaphore) -> Result<Taken<'a>, SharedError> {
        let work = async {
            let place = places.acquire().await.map_err(|error| SharedError::Unreachable(error.to_string()))?;
            let idle = {
                let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
                idle.retain(|connection| !connection.client.is_closed());
                idle.pop()
            };
            let connection = match idle {
                Some(connection) => connection,
                None => Connection::open(&self.address, self.patience).await?,
            };
            Ok(Taken { connection, database: self, _place: place })
        };
        self.in_time(work, SharedError::Unreachable).await
    }

    /// One change, of which it is known afterwards whether it was made.
    pub(crate) async fn change(&self, statement: &str, said: &[&(dyn ToSql + Sync)]) -> Result<u64, SharedError> {
        let taken = self.take().await?;
        let work = async {
            let client = &taken.connection().client;
            client.execute(statement, said).await.map_err(|error| SharedError::of_change(&error))
        };
        let changed = self.in_time(work, SharedError::Unsettled).await?;
        taken.give_back();
        Ok(changed)
    }

    /// What the database says to one question.
    pub(crate) async fn ask(
        &self,
        statement: &str,
        said: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<tokio_postgres::Row>, SharedError> {
        let taken = self.take().await?;
        let work = async {
            let client = &taken.connection().client;
            client.query(statement, said).await.map_err(|error| SharedError::of_question(&error))
        };
        let rows = self.in_time(work, SharedError::Unreachable).await?;
        taken.give_back();
        Ok(rows)
    }

    /// Does something within the time that anything may take; `late` is what is said when it took longer.
    pub(crate) async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, SharedError>>,
        late: fn(String) -> SharedError,
    ) -> Result<T, SharedError> {
        let words = || late(format!("no answer within {} s", self.patience.as_secs_f64()));
        timeout(self.patience, work).await.unwrap_or_else(|_| Err(words()))
    }
}

impl<'a> Taken<'a> {
    pub(crate) const fn database(&self) -> &'a Database {
        self.database
    }

    pub(crate) const fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) const fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Puts the connection back for the next one.
    pub(crate) fn give_back(self) {
        let Self { connection, database, _place } = self;
        if !connection.client.is_closed() {
            database.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
    }
}
