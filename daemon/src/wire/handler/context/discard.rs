//! `context.discard`.

use herma_context::forms::Read;
use herma_context::{Message, Role};
use herma_protocol::Json;
use herma_protocol::context::discard::{DiscardParams, DiscardResult};

use super::list;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::to_u64;
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
        messages: outputs(messages).await?,
        reason,
    };
    if wanted.is_empty() {
        return Err(Error::param("positions", "give positions, handles, calls or messages of the outputs"));
    }
    let session = services.sessions.ensure(caller, &session).await?;
    let discarded = services.compression.discard(&session, wanted).await?;
    Ok(DiscardResult { outputs: to_u64(discarded.outputs), tokens: discarded.tokens })
}

/// Returns the outputs that are given as messages. An item in another form may contain other messages too.
async fn outputs(messages: Option<Vec<Json>>) -> Outcome<Vec<String>> {
    let Some(Read { messages, translation }) = list::read_some(messages).await? else { return Ok(Vec::new()) };
    let is_output = |text: &String| translation.is_none() || Message::of_json(text.as_str()).role() == &Role::Tool;
    Ok(messages.into_iter().filter(is_output).collect())
}
