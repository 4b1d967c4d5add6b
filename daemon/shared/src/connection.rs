//! A connection with its prepared statements.

mod dial;
mod watched;

use std::fmt;
use std::time::Duration;

use tokio_postgres::{Client, Statement};

pub(crate) use self::dial::dial;
use crate::address::Address;
use crate::error::SharedError;
use crate::schema;
use crate::store_statements as statements;

/// The maximum wait for a lock of another change. A longer wait is retried, so that other requests can use the
/// connection meanwhile.
const LOCKED: Duration = Duration::from_secs(1);

/// A connection that is ready for the requests of stores.
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) commit: Statement,
    pub(crate) contend: Statement,
    pub(crate) since: Statement,
    pub(crate) revisions: Statement,
}

impl Connection {
    /// Connects, and checks the version of the tables.
    pub(crate) async fn open(address: &Address, patience: Duration) -> Result<Self, SharedError> {
        let client = connect(address, patience).await?;
        schema::check(&client).await?;
        let refused = |error: tokio_postgres::Error| SharedError::of_question(&error);
        let (commit, contend, since, revisions) = tokio::try_join!(
            client.prepare(statements::COMMIT),
            client.prepare(statements::CONTEND),
            client.prepare(statements::SINCE),
            client.prepare(statements::REVISIONS),
        )
        .map_err(refused)?;
        Ok(Self { client, commit, contend, since, revisions })
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Connection").field("closed", &self.client.is_closed()).finish_non_exhaustive()
    }
}

/// Opens a bare connection. The server itself ends statements that take longer than any caller waits, and transactions
/// that a lost host left open. Statements are planned once, because a plan for each call takes as long as the call. The
/// plans use the indexes, because a plan for empty tables would scan all rows that are added later. JIT is off, because
/// no query takes as long as compiling it.
pub(crate) async fn connect(address: &Address, patience: Duration) -> Result<Client, SharedError> {
    let refused = |error: tokio_postgres::Error| SharedError::of_question(&error);
    let (client, mut messages) = dial(address).await?;
    tokio::spawn(async move {
        while let Some(message) = messages.next().await {
            if let Err(error) = message {
                tracing::debug!("a connection to the shared database ended: {error}");
                break;
            }
        }
    });
    let (most, held) = (patience.as_millis(), (patience / 2).min(LOCKED).as_millis());
    let limits = format!(
        "SET statement_timeout = {most}; SET lock_timeout = {held}; SET idle_in_transaction_session_timeout = {most}; \
         SET plan_cache_mode = force_generic_plan; \
         SET enable_seqscan = off; SET jit = off"
    );
    client.batch_execute(&limits).await.map_err(refused)?;
    Ok(client)
}
