//! `memory.pending`, `memory.approve`, `memory.reject`, `memory.queued`.

use std::sync::Arc;

use herma_memory::pending::PendingWrite;
use herma_memory::render::shown;
use herma_protocol::Json;
use herma_protocol::memory::{
    self as wire, ApproveParams, ApproveResult, PendingResult, QueuedResult, RejectParams, RejectResult, WriteResult,
};
use serde_json::Value;

use super::wire_target;
use super::written::outcome;
use crate::data::error::{Error, Outcome};
use crate::service::caller::Caller;
use crate::service::memory::{Chosen, Decided};
use crate::wire::services::Services;

pub(in crate::wire::handler) async fn pending(services: &Services, caller: &Caller) -> Outcome<PendingResult> {
    let writes = services.memory.pending(caller.profile()).await?;
    Ok(PendingResult { pending: wire_pending(services, writes)? })
}

pub(in crate::wire::handler) async fn queued(services: &Services, caller: &Caller) -> Outcome<QueuedResult> {
    let writes = services.memory.queued(caller.profile()).await?;
    Ok(QueuedResult { queued: wire_pending(services, writes)? })
}

fn wire_pending(services: &Services, writes: Vec<PendingWrite>) -> Outcome<Vec<wire::PendingWrite>> {
    let policy = Arc::clone(services.memory.policy());
    let wire = |write: PendingWrite| {
        let target = write.target();
        let mut payload = Value::Object(write.payload);
        sanitise(&mut payload, &|text| shown(&policy, target, text));
        Ok(wire::PendingWrite {
            target: wire_target(target),
            summary: shown(&policy, target, &write.summary),
            payload: Json::from_value(&payload).map_err(|_| Error::internal("memory.pending"))?,
            id: write.id,
            action: shown(&policy, target, &write.action),
            created_at: write.created_at,
            session: write.session.map(|session| shown(&policy, target, &session)),
            agent: write.agent.map(|agent| shown(&policy, target, &agent)),
        })
    };
    writes.into_iter().map(wire).collect()
}

pub(in crate::wire::handler) async fn approve(
    services: &Services,
    caller: &Caller,
    params: ApproveParams,
) -> Outcome<ApproveResult> {
    let ApproveParams { ids, all, session, agent, content } = params;
    let decided = services.memory.approve(caller, chosen(ids, all, session, agent)?, content).await?;
    let left = services.memory.pending_count(caller.profile());
    let mut result = ApproveResult { approved: Vec::new(), failed: Vec::new() };
    for one in decided {
        let wire = wire_decided(services, one, left);
        if wire.result.success { &mut result.approved } else { &mut result.failed }.push(wire);
    }
    Ok(result)
}

fn wire_decided(services: &Services, decided: Decided, left: Option<u64>) -> wire::Decided {
    let policy = services.memory.policy();
    let mut result = match decided.outcome {
        Ok(written) => outcome(policy, written),
        Err(error) => WriteResult { error: Some(error.to_string()), ..WriteResult::default() },
    };
    // The words of a refusal may repeat a text that another program staged.
    result.error = result.error.map(|words| shown(policy, decided.target, &words));
    if let Some(error) = decided.undiscarded {
        let told = result.message.take().unwrap_or_default();
        result.message =
            Some(format!("{told} It still waits because its file can't be removed; reject it later: {error}"));
    }
    result.pending_count = left;
    wire::Decided { id: decided.id, result }
}

pub(in crate::wire::handler) async fn reject(
    services: &Services,
    caller: &Caller,
    params: RejectParams,
) -> Outcome<RejectResult> {
    let rejected =
        services.memory.reject(caller, chosen(params.ids, params.all, params.session, params.agent)?).await?;
    Ok(RejectResult { rejected })
}

fn chosen(
    ids: Option<Vec<String>>,
    all: Option<bool>,
    session: Option<String>,
    agent: Option<String>,
) -> Outcome<Chosen> {
    match (ids, all.unwrap_or(false), session.is_some() || agent.is_some()) {
        (None, true, false) => Ok(Chosen::All),
        (Some(ids), false, false) => Ok(Chosen::Ids(ids)),
        (None, false, true) => Ok(Chosen::Of { session, agent }),
        _ => Err(Error::param("ids", "either ids, or all: true, or session and agent is needed")),
    }
}

/// Renders every text for a model, because files of other programs are listed too.
fn sanitise(value: &mut Value, render: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = render(text),
        Value::Array(items) => items.iter_mut().for_each(|item| sanitise(item, render)),
        Value::Object(fields) => {
            let old = std::mem::take(fields);
            fields.extend(old.into_iter().map(|(name, mut field)| {
                sanitise(&mut field, render);
                (render(&name), field)
            }));
        }
        _ => {}
    }
}
