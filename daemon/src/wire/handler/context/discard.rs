//! `context.discard`.

use herma_protocol::context::discard::{DiscardParams, DiscardResult};

use super::texts;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::wide;
use crate::service::caller::Caller;
use crate::service::compression::Discarding;
use crate::wire::services::Services;

pub(in crate::wire::handler) async fn discard(
    services: &Services,
    caller: &Caller,
    params: DiscardParams,
) -> Outcome<DiscardResult> {
    let DiscardParams { session, positions, handles, calls, messages, reason } = params;
    let wanted = Discarding {
        positions: positions.unwrap_or_default(),
        handles: handles.unwrap_or_default(),
        calls: calls.unwrap_or_default(),
        messages: messages.map(texts).unwrap_or_default(),
        reason,
    };
    if wanted.is_empty() {
        return Err(Error::param("positions", "give positions, handles, calls or messages of the outputs"));
    }
    let session = services.sessions.ensure(caller, &session).await?;
    let discarded = services.compression.discard(&session, wanted).await?;
    Ok(DiscardResult { outputs: wide(discarded.outputs), tokens: discarded.tokens })
}
