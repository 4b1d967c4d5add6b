//! What other hosts did, as the database tells it. A notification is a hint and may get lost: what is true is
//! what [`Database::standings`](crate::Database::standings) says when it is asked.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use tokio::sync::mpsc;
use tokio_postgres::AsyncMessage;

use crate::connection::dial;
use crate::database::Database;
use crate::error::SharedError;

/// Hints that may wait; one that finds no place is lost.
const HINTS: usize = 1024;

/// A store that changed. All who may connect to the database hear of it, members of other spaces too: so it goes by a
/// name that says nothing to who doesn't know the store ([`name`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The store's name.
    pub store: String,
    /// The revision that it is at.
    pub revision: u64,
}

/// What a store is called in hints: the SHA-256 of what distinguishes it from others, which only members can read, and of its
/// space, profile and target, with a `/` between them, in hex digits.
#[must_use]
pub fn name(born: &str, space: &str, profile: &str, target: &str) -> String {
    let digest = Sha256::digest([born, space, profile, target].join("/"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hints as they come; it ends when the connection does.
#[derive(Debug)]
pub struct Hints {
    hints: mpsc::Receiver<Hint>,
    /// Ends the connection with it.
    _client: tokio_postgres::Client,
}

impl Hints {
    /// The next one; `None` when the connection is gone.
    pub async fn next(&mut self) -> Option<Hint> {
        self.hints.recv().await
    }
}

impl Database {
    /// Listens for what changes in the space.
    ///
    /// # Errors
    /// What the database says.
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
