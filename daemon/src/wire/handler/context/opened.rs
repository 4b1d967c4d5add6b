//! `context.open` and `context.fold`.

use herma_protocol::context::opened::{FoldParams, FoldResult, OpenParams, OpenResult};

use super::{list, wire_message};
use crate::data::error::Outcome;
use crate::data::numbers::to_u64;
use crate::service::caller::Caller;
use crate::wire::services::Services;

pub(in crate::wire::handler) async fn open(
    services: &Services,
    caller: &Caller,
    params: OpenParams,
) -> Outcome<OpenResult> {
    let session = services.sessions.opened(caller, &params.session).await?;
    let opened =
        services.compression.open(&session, params.node.clone(), list::read_some(params.messages).await?).await?;
    Ok(OpenResult {
        node: params.node,
        at: to_u64(opened.at),
        messages: opened.messages.iter().map(wire_message).collect::<Outcome<_>>()?,
        tokens: opened.tokens,
        list_tokens: opened.list_tokens,
        threshold: opened.threshold,
        open: opened.open,
    })
}

pub(in crate::wire::handler) async fn fold(
    services: &Services,
    caller: &Caller,
    params: FoldParams,
) -> Outcome<FoldResult> {
    let session = services.sessions.opened(caller, &params.session).await?;
    let folded = services.compression.fold(&session, params.node, list::read_some(params.messages).await?).await?;
    Ok(FoldResult {
        folded: folded.nodes,
        remove: folded.places.iter().map(|range| (to_u64(range.start), to_u64(range.end))).collect(),
        list_tokens: folded.list_tokens,
        open: folded.open,
    })
}
