//! The transcript of a session, as its agent sends it.

use std::sync::Arc;

use herma_archive::transcript::Appended;

use super::SessionService;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::to_u64;
use crate::service::caller::Caller;

impl SessionService {
    /// Appends messages as JSON texts. Returns the position of the next message.
    pub(crate) async fn append(
        &self,
        caller: &Caller,
        id: &str,
        generation: u64,
        position: u64,
        messages: Vec<String>,
    ) -> Outcome<u64> {
        let session = self.ensure(caller, id).await?;
        let (table, id) = (Arc::clone(&self.table), session.id.clone());
        // A removed session becomes a new one at the next request.
        let no_session = move || table.forget(&id);
        let _appending = session.appending();
        let bytes = messages.iter().map(|message| to_u64(message.len())).sum();
        match self.archive.append(session.id.clone(), generation, position, messages, no_session).await? {
            Appended::Next(position) => {
                self.compression.note_appended(&session, generation, bytes);
                Ok(position)
            }
            Appended::Conflict { generation: right, position: next } => {
                let id = &session.id;
                let words = if right == generation {
                    format!("session {id:?} goes on at position {next}, and what was appended before can't be changed")
                } else {
                    format!("session {id:?} is at generation {right}, not {generation}, and goes on at position {next}")
                };
                Err(Error::StalePosition { words, generation: right, position: next })
            }
        }
    }
}
