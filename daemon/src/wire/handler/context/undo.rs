//! `context.undo`.

use herma_protocol::context::Archived;
use herma_protocol::context::undo::{UndoParams, UndoResult};

use super::{list, wire_message};
use crate::data::error::Outcome;
use crate::data::numbers::to_u64;
use crate::owners::blocking::blocking;
use crate::service::caller::Caller;
use crate::service::compression::EarlierGeneration;
use crate::wire::services::Services;

pub(in crate::wire::handler) async fn undo(
    services: &Services,
    caller: &Caller,
    params: UndoParams,
) -> Outcome<UndoResult> {
    let session = services.sessions.opened(caller, &params.session).await?;
    let wanted = EarlierGeneration {
        generation: params.generation,
        list: list::read_some(params.messages).await?,
        is_look: params.dry_run == Some(true),
    };
    let restored = services.compression.undo(&session, wanted).await?;
    let (threshold, context_length) = restored.limits.unzip();
    let tokens = restored.tokens;
    let list = restored.messages;
    let messages = blocking("context.undo", move || list.iter().map(wire_message).collect::<Outcome<Vec<_>>>()).await?;
    Ok(UndoResult {
        session: session.id.clone(),
        generation: restored.generation,
        restored: restored.restored,
        undone: restored.undone,
        archived: restored.archived.map(|(handle, messages)| Archived { handle, messages }),
        messages,
        since: restored.since,
        chars: to_u64(restored.chars),
        tokens,
        threshold,
        context_length,
        over_threshold: threshold.is_some_and(|threshold| tokens >= threshold),
    })
}
