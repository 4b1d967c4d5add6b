//! The connections, with time limits.

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

/// The maximum number of connections at a time, in addition to the one that listens. Stores have their own, because a
/// caller waits for each write: no search and no long text delays a write.
const FOR_STORES: usize = 2;
const FOR_OTHERS: usize = 3;

/// The space in the database, and the host that writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// The space: a team's part of a database.
    pub name: String,
    /// The permanent name of this machine.
    pub host: String,
}

/// A database with a space in it and a few connections.
#[derive(Debug)]
pub struct Database {
    pub(crate) address: Address,
    pub(crate) space: Space,
    patience: Duration,
    idle: Mutex<Vec<Connection>>,
    stores: Semaphore,
    others: Semaphore,
    /// Rows that can't be used.
    pub(crate) left_out: LeftOut,
}

/// A connection in use by one request. It returns to the pool if no error occurred on it.
#[derive(Debug)]
pub(crate) struct Taken<'a> {
    connection: Connection,
    database: &'a Database,
    _place: SemaphorePermit<'a>,
}

impl Database {
    /// Creates the database handle. It connects with the first request. No single request takes longer than `patience`.
    #[must_use]
    pub fn new(address: Address, space: Space, patience: Duration) -> Arc<Self> {
        let (stores, others) = (Semaphore::new(FOR_STORES), Semaphore::new(FOR_OTHERS));
        let left_out = LeftOut::default();
        Arc::new(Self { address, space, patience, idle: Mutex::default(), stores, others, left_out })
    }

    /// Returns the address, displayed without the password.
    #[must_use]
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the space, and the host that writes.
    #[must_use]
    pub const fn space(&self) -> &Space {
        &self.space
    }

    /// Returns the problems of the rows that were left out so far, as far as they are remembered.
    #[must_use]
    pub fn left_out(&self) -> Vec<String> {
        self.left_out.all()
    }

    /// Creates or migrates the tables, as the role `owner` if there is one, and lets a role use the space. Returns the
    /// version that was found; 0 for none.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn init(&self, owner: Option<&Address>, role: Option<&str>) -> Result<i32, SharedError> {
        let address = owner.unwrap_or(&self.address);
        let work = async {
            let mut client = connect(address, self.patience).await?;
            schema::make(&mut client, role.map(|role| (role, self.space.name.as_str()))).await
        };
        self.in_time(work, SharedError::Unsettled).await
    }

    /// Returns the time limit of one request.
    pub(crate) const fn patience(&self) -> Duration {
        self.patience
    }

    /// Closes the idle connections.
    pub fn rest(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Takes a connection for a request of a store.
    pub(crate) async fn take_for_store(&self) -> Result<Taken<'_>, SharedError> {
        self.acquire(&self.stores).await
    }

    /// Takes a connection for any other request.
    pub(crate) async fn take(&self) -> Result<Taken<'_>, SharedError> {
        self.acquire(&self.others).await
    }

    async fn acquire<'a>(&'a self, places: &'a Semaphore) -> Result<Taken<'a>, SharedError> {
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

    /// Executes one change, after which it is known whether it was made.
    pub(crate) async fn change(&self, statement: &str, said: &[&(dyn ToSql + Sync)]) -> Result<u64, SharedError> {
        let taken = self.take().await?;
        let work = async {
            let client = &taken.connection().client;
            client.execute(statement, said).await.map_err(|error| SharedError::of_change(&error))
        };
        let changed = self.in_time(work, SharedError::Unsettled).await?;
        taken.release();
        Ok(changed)
    }

    /// Returns the rows of one query.
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
        taken.release();
        Ok(rows)
    }

    /// Runs `work` within the time limit of a request. `late` makes the error if it takes longer.
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

    /// Returns the connection to the pool.
    pub(crate) fn release(self) {
        let Self { connection, database, _place } = self;
        if !connection.client.is_closed() {
            database.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
    }
}
