//! `context.pin`, `context.pins` and `context.unpin`.

use herma_archive::pin::PinRow;
use herma_protocol::context::pins::{Pin, PinParams, PinsParams, PinsResult, UnpinParams, UnpinResult};

use super::list;
use crate::data::error::{Error, Outcome};
use crate::service::caller::Caller;
use crate::service::compression::Pinned;
use crate::wire::services::Services;

pub(in crate::wire::handler) async fn pin(services: &Services, caller: &Caller, params: PinParams) -> Outcome<Pin> {
    let PinParams { session, position, handle, message, until } = params;
    let which = match (position, handle, message) {
        (Some(position), None, None) => Pinned::Position(position),
        (None, Some(handle), None) => Pinned::Handle(handle),
        (None, None, Some(message)) => Pinned::Message(list::read_message(message)?),
        _ => return Err(Error::param("position", "give a position, a handle or a message, and one of them only")),
    };
    let session = services.sessions.ensure(caller, &session).await?;
    services.compression.pin(&session, which, until).await.map(wire)
}

pub(in crate::wire::handler) async fn pins(
    services: &Services,
    caller: &Caller,
    params: PinsParams,
) -> Outcome<PinsResult> {
    let session = services.sessions.inspected(caller, &params.session).await?;
    let list = services.compression.pins(&session).await?;
    Ok(PinsResult { pins: list.pins.into_iter().map(wire).collect(), most_tokens: list.most_tokens })
}

pub(in crate::wire::handler) async fn unpin(
    services: &Services,
    caller: &Caller,
    params: UnpinParams,
) -> Outcome<UnpinResult> {
    let session = services.sessions.ensure(caller, &params.session).await?;
    services.compression.unpin(&session, &params.id).await?;
    Ok(UnpinResult {})
}

fn wire(pin: PinRow) -> Pin {
    let PinRow { id, role, text, tokens, at, until } = pin;
    Pin { id, role, text, tokens, at, until }
}
