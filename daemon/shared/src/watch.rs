//! What other hosts did, as the database tells it. A notification is a hint and may get lost: what is true is
//! what [`Database::standings`](crate::Database::standings) says when it is asked.

use std::future::poll_fn;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_postgres::AsyncMessage;

use crate::database::Database;
use crate::error::SharedError;

/// Hints that may wait; one that finds no place is lost.
const HINTS: usize = 1024;

/// A store that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The profile.
    pub profile: String,
    /// `memory` or `user`.
    pub target: String,
    /// The revision that it is at.
    pub revision: u64,
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
            let (client, mut connection) =
                self.address.config.connect(self.address.tls.clone()).await.map_err(refused)?;
            let (sender, hints) = mpsc::channel(HINTS);
            let space = self.space.name.clone();
            tokio::spawn(async move {
                while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                    if let AsyncMessage::Notification(said) = message
                        && let Some(hint) = hint(said.payload(), &space)
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

fn hint(payload: &str, space: &str) -> Option<Hint> {
    let (of, profile, target, revision): (String, String, String, u64) = serde_json::from_str(payload).ok()?;
    (of == space).then_some(Hint { profile, target, revision })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_for_its_space() {
        let said = r#"["team", "default", "user", 7]"#;
        let expected = Hint { profile: "default".into(), target: "user".into(), revision: 7 };
        assert_eq!((hint(said, "team"), hint(said, "other"), hint("x", "team")), (Some(expected), None, None));
    }
}
