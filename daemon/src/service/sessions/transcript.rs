//! The transcript of a session, as its agent sends it.

use std::sync::Arc;

use herma_archive::transcript::Appended;
use herma_context::{Capture, CaptureCounts};

use super::SessionService;
use crate::data::error::{Error, Outcome};
use crate::data::event::{Append, Event};
use crate::data::numbers::to_u64;
use crate::owners::blocking::blocking;
use crate::service::caller::Caller;

impl SessionService {
    /// Appends messages as JSON texts. Returns the position of the next message, and what was left out of these.
    pub(crate) async fn append(
        &self,
        caller: &Caller,
        id: &str,
        generation: u64,
        position: u64,
        messages: Vec<String>,
    ) -> Outcome<(u64, CaptureCounts)> {
        let session = self.ensure(caller, id).await?;
        let (messages, left_out) = match self.capture_of(&session) {
            Some(capture) => captured("session.append", capture, messages).await?,
            None => (messages, CaptureCounts::default()),
        };
        let (table, id) = (Arc::clone(&self.table), session.id.clone());
        // A removed session becomes a new one at the next request.
        let no_session = move || table.forget(&id);
        let _appending = session.appending();
        let bytes = messages.iter().map(|message| to_u64(message.len())).sum();
        match self.archive.append(session.id.clone(), generation, position, messages, no_session).await? {
            Appended::Next(position) => {
                self.compression.note_appended(&session, generation, bytes);
                if bytes > 0 {
                    self.publish_append(&session.id, generation, position);
                }
                Ok((position, left_out))
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

    pub(super) fn publish_append(&self, session: &str, generation: u64, position: u64) {
        self.events.publish_append(|| {
            let session = session.to_owned();
            Event::MessagesAppended(Arc::new(Append { session, generation, position }))
        });
    }
}

/// Returns what is kept of messages from the files of another program.
pub(super) async fn captured(
    method: &'static str,
    capture: Capture,
    messages: Vec<String>,
) -> Outcome<(Vec<String>, CaptureCounts)> {
    if messages.is_empty() {
        return Ok((messages, CaptureCounts::default()));
    }
    blocking(method, move || {
        let mut left_out = CaptureCounts::default();
        let kept = messages.into_iter().map(|message| capture.message(message, &mut left_out)).collect();
        Ok((kept, left_out))
    })
    .await
}
