//! The changes of other hosts, as the database notifies them. A notification is a hint and may get lost. The truth is
//! the result of a call of [`Database::store_revisions`](crate::Database::store_revisions).

use std::sync::Arc;

use sha2::{Digest, Sha256};
use tokio::sync::mpsc;
use tokio_postgres::AsyncMessage;

use crate::connection::dial;
use crate::database::Database;
use crate::error::SharedError;

/// The maximum number of hints that may wait; further ones are lost.
const HINTS: usize = 1024;

/// A store that changed. Every role that may connect to the database receives hints, members of other spaces too. So a
/// hint has a name that means nothing to a reader who does not know the store ([`name`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The store's name.
    pub store: String,
    /// Its revision.
    pub revision: u64,
}

/// Returns the name of a store in hints, in hex digits. It is the SHA-256 of the store's birth, which only members can
/// read, and its space, profile and target, with a `/` between them.
#[must_use]
pub fn name(born: &str, space: &str, profile: &str, target: &str) -> String {
    let digest = Sha256::digest([born, space, profile, target].join("/"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A stream of hints, which ends with the connection.
#[derive(Debug)]
pub struct Hints {
    hints: mpsc::Receiver<Hint>,
    /// Dropping the client ends the connection.
    _client: tokio_postgres::Client,
}

impl Hints {
    /// Returns the next hint; `None` when the connection has ended.
    pub async fn next(&mut self) -> Option<Hint> {
        self.hints.recv().await
    }
}

impl Database {
    /// Listens for changes in the space.
    ///
    /// # Errors
    /// An error of the database.
    pub async fn listen(self: &Arc<Self>) -> Result<Hints, SharedError> {
        let refused = |error: tokio_postgres::Error| SharedError::of_question(&error);
        let work = async {
            let (client, mut messages) = dial(&self.address).await?;
            let (sender, hints) = mpsc::channel(HINTS);
            tokio::spawn(async move {
                while let Some(Ok(message)) = messages.next().await {
                    if let AsyncMessage::Notification(said) = message
                        && let Some(hint) = hint(said.payload())
                    {
                        drop(sender.try_send(hint));
                    }
                }
            });
            client.batch_execute("LISTEN herma").await.map_err(refused)?;
            Ok(Hints { hints, _client: client })
        };
        self.in_time(work, SharedError::Unreachable).await
    }
}

fn hint(payload: &str) -> Option<Hint> {
    let (store, revision) = payload.split_once(' ')?;
    Some(Hint { store: store.to_owned(), revision: revision.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_a_store_and_its_revision() {
        let store = name("b-1", "team", "default", "user");
        assert_eq!(store.len(), 64);
        assert_eq!(hint(&format!("{store} 7")), Some(Hint { store: store.clone(), revision: 7 }));
        assert_ne!(store, name("b-2", "team", "default", "user"));
        assert!(["", "x", "x y", "x -1"].into_iter().all(|payload| hint(payload).is_none()));
    }
}
