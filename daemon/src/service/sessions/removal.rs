//! Permanent removal of a session.

use std::sync::Arc;
use std::time::Duration;

use herma_spill::Reason;
use tokio::time::timeout;

use super::SessionService;
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::data::event::GoneSession;
use crate::owners::blocking::blocking;
use crate::service::archive_retention::publish_gone;
use crate::service::caller::Caller;
use crate::service::retention::publish_expired;

/// How long a removal waits until the words are gone from the files of the text index.
const WORDS: Duration = Duration::from_millis(250);

/// The data that was removed with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Removed {
    /// The number of its messages.
    pub messages: u64,
    /// The number of its outputs.
    pub outputs: usize,
    /// The size of both, in bytes.
    pub bytes: u64,
}

impl SessionService {
    /// Removes all data of a session permanently: in the archive, in the text index, and its outputs.
    pub(crate) async fn remove(self: &Arc<Self>, caller: &Caller, id: &str) -> Outcome<Removed> {
        let id = self.known(caller, id).await?;
        let in_use = self.table.get(&id);
        let quiet = in_use.map(|session| {
            let busy = || Error::Busy(format!("session {id:?} is being compressed; remove it afterwards"));
            session.begin_compressing().ok_or_else(busy)
        });
        let quiet = quiet.transpose()?;
        let service = Arc::clone(self);
        // The removal runs in its own task, so that it finishes even if the caller no longer waits.
        let work = tokio::spawn(async move {
            let _quiet = quiet;
            service.remove_now(id).await
        });
        work.await.unwrap_or_else(|_| Err(Error::internal("session.remove")))
    }

    async fn remove_now(&self, id: String) -> Outcome<Removed> {
        self.compression.end(&id);
        let (table, events, session) = (Arc::clone(&self.table), self.events.clone(), id.clone());
        let archived = self.archive.remove_session(id.clone(), move |removed| {
            table.forget(&session);
            let (messages, bytes) = (removed.messages, removed.bytes);
            publish_gone(&events, GoneSession { session, messages, bytes, reason: Reason::Removed });
        });
        let archived = archived.await?;
        self.compression.forget(&id);
        let outputs = Arc::clone(&self.outputs.kept);
        let remove = move || outputs.remove_session(&id, unix_now()).map_err(Error::from);
        let gone = blocking("session.remove", remove).await?;
        publish_expired(&self.events, gone.iter().filter_map(|one| one.expired.as_ref()));
        self.forget_words().await;
        let bytes = gone.iter().fold(archived.bytes, |sum, one| sum.saturating_add(one.bytes));
        Ok(Removed { messages: archived.messages, outputs: gone.len(), bytes })
    }

    /// Removes the words of removed sessions from the files of the text index. No search finds them any more, so the
    /// caller waits only for a small index. In a large one it takes seconds, and goes on in the background, also after a
    /// restart.
    async fn forget_words(&self) {
        let archive = Arc::clone(&self.archive);
        let forgetting = tokio::spawn(async move {
            if let Err(error) = archive.forget_removed().await {
                tracing::warn!("words of removed sessions stay in the text index for now: {error}");
            }
        });
        // An elapsed time ends the wait, not the task.
        drop(timeout(WORDS, forgetting).await);
    }
}
