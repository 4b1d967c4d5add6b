//! `session.lock`, `session.unlock`, `session.lock_holder`: for agents that compress on their own.

use herma_protocol::session::lock::{LockHolderParams, LockHolderResult, LockParams, LockResult, UnlockParams};

use crate::data::error::{Error, Outcome};
use crate::data::names;
use crate::service::caller::Caller;
use crate::wire::services::Services;

/// The default time limit of a lock, in seconds.
const TTL_S: f64 = 300.0;

/// The largest time limit of a lock, in seconds: a year.
const LONGEST_S: f64 = 366.0 * 24.0 * 3600.0;

pub(in crate::wire::handler) async fn lock(
    services: &Services,
    caller: &Caller,
    params: LockParams,
) -> Outcome<LockResult> {
    names::check("session", &params.session)?;
    names::check("holder", &params.holder)?;
    let ttl = params.ttl_s.unwrap_or(TTL_S);
    if !(0.0..=LONGEST_S).contains(&ttl) {
        return Err(Error::param("ttl_s", format!("must be from 0 to {LONGEST_S} seconds")));
    }
    // 0 means that the lock lasts as long as the connection.
    let ttl = (ttl > 0.0).then_some(ttl);
    let ok = services.session_locks.lock(caller.connection, params.session, params.holder, ttl).await?;
    Ok(LockResult { ok })
}

pub(in crate::wire::handler) async fn unlock(services: &Services, params: UnlockParams) -> Outcome<LockResult> {
    names::check("session", &params.session)?;
    names::check("holder", &params.holder)?;
    Ok(LockResult { ok: services.session_locks.unlock(params.session, params.holder).await? })
}

pub(in crate::wire::handler) async fn lock_holder(
    services: &Services,
    params: LockHolderParams,
) -> Outcome<LockHolderResult> {
    names::check("session", &params.session)?;
    Ok(LockHolderResult { holder: services.session_locks.holder(params.session).await? })
}
