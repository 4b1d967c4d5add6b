//! One connection, with the statements that it knows.

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

/// How long a lock of another change is waited for at one time: who waits longer asks again, and lets others use the
/// connection meanwhile.
const LOCKED: Duration = Duration::from_secs(1);

/// A connection that is ready for what stores ask of it.
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) commit: Statement,
    pub(crate) contend: Statement,
    pub(crate) since: Statement,
    pub(crate) revisions: Statement,
}

impl Connection {
    /// Connects, and looks whether the tables are the right ones.
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

/// A bare connection. The server ends by itself what takes longer than anybody waits for it, and what a host
/// that is gone left open. Statements are planned once: a plan of its own for each call takes as long as the call; and by the
/// indexes, for a plan that was made for empty tables would go through all that came since. Nothing that is asked takes as
/// long as compiling it.
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
