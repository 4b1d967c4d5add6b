//! Keeping what leaves a list while its summary is still being written.
//!
//! For herma's own record needs no one else and comes soon, and by then the archive has done
//! most of its work. A summarizer that somebody waits for is not waited for here: until the
//! rest comes the archive does nothing else.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use herma_archive::removed::Beginning;
use herma_context::Message;
use tokio::task::JoinHandle;

use super::commit::{self, Leaving, Left};
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::service::session::Session;
use crate::wire::handler::wide;
use crate::wire::state::State;

/// Bytes of messages below which to begin early gains nothing.
const LEAST_BYTES: usize = 256 << 10;

/// How long the archive waits for the rest; far longer than any record takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A compression that the archive has begun to keep. Dropped, it is undone.
pub(crate) struct Stage {
    rest: SyncSender<Leaving>,
    left: JoinHandle<Outcome<Option<Left>>>,
}

impl Stage {
    /// Has the archive begin with messages that leave the list of a session, of which `first` is
    /// the position of the first one, if that gains anything. To be called within the runtime.
    pub(super) fn begin(
        state: &Arc<State>,
        session: &Arc<Session>,
        generation: u64,
        first: usize,
        messages: Vec<Message>,
    ) -> Option<Self> {
        let bytes: usize = messages.iter().map(|message| message.raw().len()).sum();
        if bytes < LEAST_BYTES {
            return None;
        }
        let (rest, comes) = sync_channel(1);
        let (state, session) = (Arc::clone(state), Arc::clone(session));
        let left = tokio::spawn(async move {
            let shared = Arc::clone(&state);
            let begun = state.archive.call(move |archive| {
                let mut keeping = archive.compression()?;
                keeping.begin(&Beginning {
                    handle: &commit::handle(&session, generation),
                    session: &session.id,
                    generation: generation + 1,
                    time: unix_now(),
                    first: wide(first),
                    messages: &messages.iter().map(Message::raw).collect::<Vec<&str>>(),
                })?;
                drop(messages);
                let leaving: Option<Leaving> = comes.recv_timeout(PATIENCE).ok();
                // Not for the next one to find its place taken.
                drop(comes);
                leaving.map(|leaving| leaving.keep(&shared, keeping)).transpose()
            });
            begun.await
        });
        Some(Self { rest, left })
    }

    /// Gives the rest, and has all of it kept.
    pub(super) async fn keep(self, state: &Arc<State>, leaving: Leaving) -> Outcome<Left> {
        match self.rest.send(leaving) {
            Ok(()) => match self.left.await {
                Ok(Ok(Some(left))) => Ok(left),
                Ok(Err(error)) => Err(error),
                Ok(Ok(None)) | Err(_) => Err(Error::internal("context.compress")),
            },
            // The archive could not begin, or has waited too long.
            Err(returned) => commit::leave(state, returned.0).await,
        }
    }
}
