//! `session.lock`, `session.unlock`, `session.lock_holder`: for agents that compress
//! by themselves.

use std::sync::Arc;

use herma_protocol::session::lock::{LockHolderParams, LockHolderResult, LockParams, LockResult, UnlockParams};

use crate::caller::Caller;
use crate::fail::{self, Outcome};
use crate::handler::check_name;
use crate::state::{State, unix_now};

/// Seconds that a lock is held when the caller doesn't say.
const TTL_S: f64 = 300.0;

/// Seconds that a lock may be held at most: a year.
const LONGEST_S: f64 = 366.0 * 24.0 * 3600.0;

pub(in crate::handler) async fn lock(state: &Arc<State>, caller: &Caller, params: LockParams) -> Outcome<LockResult> {
    check_name("session", &params.session)?;
    check_name("holder", &params.holder)?;
    let ttl = params.ttl_s.unwrap_or(TTL_S);
    if !(0.0..=LONGEST_S).contains(&ttl) {
        return Err(fail::invalid("ttl_s", format!("must be from 0 to {LONGEST_S} seconds")));
    }
    let is_bound = ttl == 0.0;
    let LockParams { session, holder, .. } = params;
    let (id, name) = (session.clone(), holder.clone());
    let taken =
        state.archive.call(move |archive| archive.lock(&id, &name, (!is_bound).then_some(ttl), unix_now())).await?;
    if taken && is_bound {
        state.bound_locks.note(caller.connection, session, holder);
    }
    Ok(LockResult { ok: taken })
}

pub(in crate::handler) async fn unlock(state: &State, params: UnlockParams) -> Outcome<LockResult> {
    check_name("session", &params.session)?;
    check_name("holder", &params.holder)?;
    let UnlockParams { session, holder } = params;
    state.bound_locks.forget(&session, &holder);
    let ok = state.archive.call(move |archive| archive.unlock(&session, &holder, unix_now())).await?;
    Ok(LockResult { ok })
}

pub(in crate::handler) async fn lock_holder(state: &State, params: LockHolderParams) -> Outcome<LockHolderResult> {
    check_name("session", &params.session)?;
    let holder = state.archive.read(move |reader| reader.lock_holder(&params.session, unix_now())).await?;
    Ok(LockHolderResult { holder })
}
