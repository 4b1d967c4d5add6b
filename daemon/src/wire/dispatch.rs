//! Decides when and under which conditions a request runs. A request that needs no waiting runs at once. Any other
//! request has its own task, with its deadline, its place in the order of its session and its idempotency key.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use herma_protocol::method::{Effect, Order};
use herma_protocol::{ErrorKind, Header, Method, Prepared, Reply, Request, RpcError, limits};
use serde_json::value::to_raw_value;
use sha2::{Digest, Sha256};

use crate::data::error::Error;
use crate::owners::commit_token::{CancelOnDrop, CommitToken};
use crate::service::caller::Caller;
use crate::wire::guarded::Guarded;
use crate::wire::handler;
use crate::wire::idempotency::{Begin, Mutation};
use crate::wire::metrics::has_failed;
use crate::wire::order::Turn;
use crate::wire::rpc_error::Answer;
use crate::wire::services::Services;

/// The order key of requests to the stores without a session. No session can have this id.
const STORES: &str = "\0memory";

/// Answers a request that needs no waiting; `None` for any other. A panic becomes this request's `internal` error.
pub(crate) fn at_once(
    services: &Arc<Services>,
    connection: u64,
    header: &Header,
    request: &Request,
) -> Option<Answer<Reply>> {
    let is_plain = header.idempotency_key.is_none() && header.deadline_ms != Some(0) && header.replaced == 0;
    if !is_plain || !handler::may_be_quick(request) {
        return None;
    }
    let started = Instant::now();
    let caller = Caller { connection, profile: header.profile.clone(), token: CommitToken::default() };
    let outcome = guarded(request.method(), || {
        handler::at_once(services, &caller, request).map(|outcome| outcome.map_err(RpcError::from))
    })?;
    services.connections.metrics.record(request.method(), started.elapsed(), has_failed(&outcome));
    Some(outcome)
}

fn guarded(method: Method, handle: impl FnOnce() -> Option<Answer<Reply>>) -> Option<Answer<Reply>> {
    catch_unwind(AssertUnwindSafe(handle)).unwrap_or_else(|_| {
        tracing::error!(method = method.name(), "a request panicked");
        Some(Err(Error::internal(method.name()).into()))
    })
}

/// Returns the order key of a request: its session, or one key for all store requests without a session.
pub(crate) fn order_key(request: &Request) -> Option<&str> {
    match request.order() {
        Order::Session(session) => Some(session),
        Order::Stores => Some(STORES),
        Order::Free => None,
    }
}

/// Answers any request, when its turn comes and within its deadline. A panic affects only this request.
///
/// If a write to a store is in progress when the deadline passes, this waits for it. So a caller that gets a timeout
/// can rely on it that nothing was written. A request with an idempotency key continues in any case, because its caller
/// will come back with the key.
pub(crate) async fn in_time(
    services: Arc<Services>,
    connection: u64,
    header: Header,
    request: Request,
    mut turn: Turn,
) -> Answer<Reply> {
    let started = Instant::now();
    let method = request.method();
    let deadline = Duration::from_millis(header.deadline_ms.unwrap_or(limits::DEADLINE_MS));
    let token = CommitToken::default();
    let _unwanted = header.idempotency_key.is_none().then(|| CancelOnDrop(token.clone()));
    let (keyed_change, replaced) = (header.idempotency_key.is_some(), header.replaced);
    let shared = Arc::clone(&services);
    let mut work = Guarded::new({
        let token = token.clone();
        async move {
            check(&header)?;
            turn.come().await;
            keyed(shared, connection, header, request, token).await
        }
    });
    let done = match tokio::time::timeout(deadline, &mut work).await {
        Err(_) if !keyed_change && !token.give_up() => Ok(work.await),
        done => done,
    };
    let outcome = match done {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => {
            tracing::error!(method = method.name(), "a request panicked");
            Err(Error::internal(method.name()).into())
        }
        Err(_) => {
            let words = format!("{} did not finish within {} ms", method.name(), deadline.as_millis());
            Err(RpcError::new(ErrorKind::DeadlineExceeded, words))
        }
    };
    services.connections.metrics.record(method, started.elapsed(), has_failed(&outcome));
    match replaced {
        0 => outcome,
        count => outcome.map(|reply| reply.with_warning(&replacement_words(count))),
    }
}

/// Returns the warning for a caller that sent halves of chars.
fn replacement_words(count: usize) -> String {
    let (halves, are) =
        if count == 1 { ("half of a surrogate pair", "is") } else { ("halves of surrogate pairs", "are") };
    format!("{count} {halves} in the params {are} read as U+FFFD: a text was cut in the middle of a char")
}

fn check(header: &Header) -> Result<(), Error> {
    if header.deadline_ms.is_some_and(|deadline| deadline > limits::DEADLINE_MS) {
        return Err(Error::param("deadline_ms", format!("at most {} are allowed", limits::DEADLINE_MS)));
    }
    if header.idempotency_key.as_ref().is_some_and(|key| key.chars().count() > limits::IDEMPOTENCY_KEY) {
        return Err(Error::param("idempotency_key", format!("at most {} chars are allowed", limits::IDEMPOTENCY_KEY)));
    }
    Ok(())
}

/// Handles a request, or returns the earlier result if its key was used before.
async fn keyed(
    services: Arc<Services>,
    connection: u64,
    header: Header,
    request: Request,
    token: CommitToken,
) -> Answer<Reply> {
    let caller = Caller { connection, profile: header.profile, token };
    let method = request.method();
    let (Some(key), Effect::Write) = (header.idempotency_key, method.effect()) else {
        return handler::handle(&services, &caller, request).await.map_err(RpcError::from);
    };
    let mutation = Mutation { key, fingerprint: fingerprint(caller.profile(), &request) };
    loop {
        match services.connections.idempotency.begin(&mutation, Instant::now()) {
            Begin::Done(json) => return Ok(Reply::Prepared(Prepared { method, json })),
            Begin::Reused => {
                let words = "the idempotency key was used for another request";
                return Err(RpcError::new(ErrorKind::Conflict, words));
            }
            // The sender is dropped when the other request is done. The receiver then gets an error, which ends the
            // wait.
            Begin::Running(mut running) => drop(running.changed().await),
            Begin::First(ticket) => {
                // The task continues when the caller goes away, because the caller will come back with the same key.
                let work = tokio::spawn(async move {
                    let outcome = handler::handle(&services, &caller, request).await.map_err(RpcError::from);
                    if let Ok(reply) = &outcome
                        && let Ok(json) = to_raw_value(reply)
                    {
                        ticket.done(json.into(), Instant::now());
                    }
                    outcome
                });
                return work.await.unwrap_or_else(|_| Err(Error::internal("a request").into()));
            }
        }
    }
}

fn fingerprint(profile: &str, request: &Request) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(profile.as_bytes());
    hash.update([0]);
    hash.update(request.method().name());
    hash.update([0]);
    hash.update(serde_json::to_vec(request).unwrap_or_default());
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_this_request_s_internal_error() {
        let outcome = guarded(Method::Ping, || panic!("boom"));
        let error = outcome.and_then(Result::err).map(|error| error.kind);
        assert_eq!(error, Some(ErrorKind::Internal));
    }
}
