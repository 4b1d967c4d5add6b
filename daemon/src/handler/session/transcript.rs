//! `session.append` and `session.remove`.

use std::sync::Arc;

use herma_archive::transcript::Appended;
use herma_protocol::session::transcript::{AppendParams, AppendResult, RemoveParams, RemoveResult};
use herma_protocol::{ErrorKind, RpcError};
use serde_json::json;

use super::{ensure, known};
use crate::caller::Caller;
use crate::fail::Outcome;
use crate::handler::{blocking, wide};
use crate::retention;
use crate::state::{State, unix_now};

pub(in crate::handler) async fn append(state: &State, caller: &Caller, params: AppendParams) -> Outcome<AppendResult> {
    let session = ensure(state, caller, &params.session).await?;
    let AppendParams { generation, position, messages, .. } = params;
    let id = session.id.clone();
    let appended = state
        .archive
        .call(move |archive| {
            let bodies: Vec<&str> = messages.iter().map(|message| message.get()).collect();
            archive.append(&id, generation, position, &bodies, unix_now())
        })
        .await?;
    match appended {
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
            let details = json!({ "generation": right, "position": next });
            Err(RpcError::new(ErrorKind::Conflict, words).with_details(&details))
        }
    }
}

/// Everything that is kept of a session goes for good: in the archive, in the text
/// index, and its outputs.
pub(in crate::handler) async fn remove(
    state: &Arc<State>,
    caller: &Caller,
    params: RemoveParams,
) -> Outcome<RemoveResult> {
    let session = known(state, caller, &params.session).await?;
    let _quiet = session.compressing.try_lock().map_err(|_| {
        RpcError::new(ErrorKind::Busy, format!("session {:?} is being compressed; remove it afterwards", session.id))
    })?;
    let id = session.id.clone();
    let archived = state.archive.call(move |archive| archive.remove_session(&id)).await?;
    state.sessions.forget(&session.id);
    let (shared, id) = (Arc::clone(state), session.id.clone());
    let gone = blocking("session.remove", move || {
        shared.outputs.remove_session(&id, unix_now()).map_err(|error| crate::fail::disk(&error))
    })
    .await?;
    retention::tell_expired(state, gone.iter().filter_map(|one| one.expired.as_ref()));
    let bytes = gone.iter().fold(archived.bytes, |sum, one| sum.saturating_add(one.bytes));
    Ok(RemoveResult { messages: archived.messages, outputs: wide(gone.len()), bytes })
}
