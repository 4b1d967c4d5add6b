//! `session.append` and `session.remove`.

use std::sync::Arc;

use herma_archive::transcript::Appended;
use herma_archive::{Archive, ArchiveError};
use herma_protocol::session::transcript::{AppendParams, AppendResult, RemoveParams, RemoveResult};

use super::{ensure, known};
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::service::retention;
use crate::wire::caller::Caller;
use crate::wire::handler::{blocking, wide};
use crate::wire::state::State;

pub(in crate::wire::handler) async fn append(
    state: &State,
    caller: &Caller,
    params: AppendParams,
) -> Outcome<AppendResult> {
    let session = ensure(state, caller, &params.session).await?;
    let AppendParams { generation, position, messages, .. } = params;
    let (id, sessions) = (session.id.clone(), Arc::clone(&state.sessions));
    let append = move |archive: &mut Archive| {
        let bodies: Vec<&str> = messages.iter().map(|message| message.get()).collect();
        let appended = archive.append(&id, generation, position, &bodies, unix_now());
        if let Err(ArchiveError::NoSession { .. }) = &appended {
            // Somebody removed it; it is a new one when it is asked for again.
            sessions.forget(&id);
        }
        appended
    };
    match state.archive.call(append).await? {
        Appended::Next(position) => Ok(AppendResult { position }),
        Appended::Conflict { generation: right, position: next } => {
            let words = if right == generation {
                format!(
                    "session {:?} goes on at position {next}, and what was appended before can't be changed",
                    session.id
                )
            } else {
                format!(
                    "session {:?} is at generation {right}, not {generation}, and goes on at position {next}",
                    session.id
                )
            };
            Err(Error::StalePosition { words, generation: right, position: next })
        }
    }
}

/// Everything that is kept of a session goes for good: in the archive, in the text
/// index, and its outputs.
pub(in crate::wire::handler) async fn remove(
    state: &Arc<State>,
    caller: &Caller,
    params: RemoveParams,
) -> Outcome<RemoveResult> {
    let id = known(state, caller, &params.session).await?;
    let in_use = state.sessions.get(&id);
    let quiet = in_use
        .map(|session| Arc::clone(&session.compressing).try_lock_owned())
        .transpose()
        .map_err(|_| Error::Busy(format!("session {id:?} is being compressed; remove it afterwards")))?;
    let state = Arc::clone(state);
    // A task of its own: what was begun is carried out, whether the caller still waits
    // or not.
    let work = tokio::spawn(async move {
        let _quiet = quiet;
        let (sessions, name) = (Arc::clone(&state.sessions), id.clone());
        let forget = move |archive: &mut Archive| {
            let removed = archive.remove_session(&name)?;
            sessions.forget(&name);
            Ok(removed)
        };
        let archived = state.archive.call(forget).await?;
        state.compressions.forget(&id);
        let shared = Arc::clone(&state);
        let gone =
            blocking("session.remove", move || shared.outputs.remove_session(&id, unix_now()).map_err(Error::from))
                .await?;
        retention::tell_expired(&state, gone.iter().filter_map(|one| one.expired.as_ref()));
        let bytes = gone.iter().fold(archived.bytes, |sum, one| sum.saturating_add(one.bytes));
        Ok(RemoveResult { messages: archived.messages, outputs: wide(gone.len()), bytes })
    });
    work.await.unwrap_or_else(|_| Err(Error::internal("session.remove")))
}
