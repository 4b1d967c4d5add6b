//! `session.append`, `session.import` and `session.remove`.

use herma_protocol::Json;
use herma_protocol::session::import::{ImportParams, ImportResult};
use herma_protocol::session::transcript::{AppendParams, AppendResult, RemoveParams, RemoveResult};

use super::usage::reported;
use crate::data::error::Outcome;
use crate::data::numbers::to_u64;
use crate::service::caller::Caller;
use crate::service::sessions::{ImportedPart, Importing};
use crate::wire::handler::guard::secrets_by_kind;
use crate::wire::services::Services;

pub(in crate::wire::handler) async fn append(
    services: &Services,
    caller: &Caller,
    params: AppendParams,
) -> Outcome<AppendResult> {
    let AppendParams { session, generation, position, messages } = params;
    let messages: Vec<String> = messages.into_iter().map(Json::into_text).collect();
    let (position, kept) = services.sessions.append(caller, &session, generation, position, messages).await?;
    Ok(AppendResult { position, secrets: secrets_by_kind(&kept.secrets) })
}

pub(in crate::wire::handler) async fn import(
    services: &Services,
    caller: &Caller,
    params: ImportParams,
) -> Outcome<ImportResult> {
    let ImportParams { session, agent, source, cwd, branch, parent, title, model, context_length, .. } = params;
    let ImportParams { position, messages, times, redact, calls, .. } = params;
    let of = Importing { session, agent, source, cwd, branch, parent, title, model, context_length, redact };
    let messages = messages.into_iter().map(Json::into_text).collect();
    let part = ImportedPart { position, messages, times: times.unwrap_or_default() };
    let calls = calls.unwrap_or_default().into_iter().map(reported).collect();
    let imported = services.ledger.import(caller, of, part, calls).await?;
    let masked = to_u64(imported.left_out.messages);
    Ok(ImportResult { position: imported.position, masked, secrets: secrets_by_kind(&imported.left_out.secrets) })
}

pub(in crate::wire::handler) async fn remove(
    services: &Services,
    caller: &Caller,
    params: RemoveParams,
) -> Outcome<RemoveResult> {
    let removed = services.sessions.remove(caller, &params.session).await?;
    Ok(RemoveResult { messages: removed.messages, outputs: to_u64(removed.outputs), bytes: removed.bytes })
}
