//! `session.append`, `session.import` and `session.remove`.

use herma_protocol::Json;
use herma_protocol::session::import::{ImportParams, ImportResult};
use herma_protocol::session::transcript::{AppendParams, AppendResult, RemoveParams, RemoveResult};

use crate::data::error::Outcome;
use crate::data::numbers::to_u64;
use crate::service::caller::Caller;
use crate::service::sessions::Importing;
use crate::wire::services::Services;

pub(in crate::wire::handler) async fn append(
    services: &Services,
    caller: &Caller,
    params: AppendParams,
) -> Outcome<AppendResult> {
    let AppendParams { session, generation, position, messages } = params;
    let messages: Vec<String> = messages.into_iter().map(Json::into_text).collect();
    let position = services.sessions.append(caller, &session, generation, position, messages).await?;
    Ok(AppendResult { position })
}

pub(in crate::wire::handler) async fn import(
    services: &Services,
    caller: &Caller,
    params: ImportParams,
) -> Outcome<ImportResult> {
    let ImportParams { session, agent, source, cwd, parent, title, model, position, messages, times, redact } = params;
    let of = Importing { session, agent, source, cwd, parent, title, model, redact };
    let messages = messages.into_iter().map(Json::into_text).collect();
    let imported = services.sessions.import(caller, of, position, messages, times.unwrap_or_default()).await?;
    Ok(ImportResult { position: imported.position, masked: imported.masked })
}

pub(in crate::wire::handler) async fn remove(
    services: &Services,
    caller: &Caller,
    params: RemoveParams,
) -> Outcome<RemoveResult> {
    let removed = services.sessions.remove(caller, &params.session).await?;
    Ok(RemoveResult { messages: removed.messages, outputs: to_u64(removed.outputs), bytes: removed.bytes })
}
