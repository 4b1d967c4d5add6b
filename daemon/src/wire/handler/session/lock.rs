//! `session.lock`, `session.unlock`, `session.lock_holder`: for agents that compress
//! by themselves.

use std::sync::Arc;

use herma_archive::Archive;
use herma_protocol::session::lock::{LockHolderParams, LockHolderResult, LockParams, LockResult, UnlockParams};

use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::wire::caller::Caller;
use crate::wire::handler::check_name;
use crate::wire::state::State;

/// Seconds that a lock is held when the caller doesn't say.
const TTL_S: f64 = 300.0;

/// Seconds that a lock may be held at most: a year.
const LONGEST_S: f64 = 366.0 * 24.0 * 3600.0;

pub(in crate::wire::handler) async fn lock(
    state: &Arc<State>,
    caller: &Caller,
    params: LockParams,
) -> Outcome<LockResult> {
    check_name("session", &params.session)?;
    check_name("holder", &params.holder)?;
    let ttl = params.ttl_s.unwrap_or(TTL_S);
    if !(0.0..=LONGEST_S).contains(&ttl) {
        return Err(Error::param("ttl_s", format!("must be from 0 to {LONGEST_S} seconds")));
    }
    let is_bound = ttl == 0.0;
    let lock = (params.session, params.holder);
    let (shared, connection) = (Arc::clone(state), caller.connection);
    let is_bound_here = is_bound && state.connection_locks.note(connection, lock.clone());
    let take = move |archive: &mut Archive| {
        let taken = archive.lock(&lock.0, &lock.1, (!is_bound).then_some(ttl), unix_now())?;
        if is_bound_here && taken && !shared.connection_locks.is_noted(connection, &lock) {
            // The connection ended before it got what would have ended with it.
            archive.unlock_unbound(&lock.0, &lock.1)?;
        }
        if is_bound_here && !taken {
            shared.connection_locks.take_back(connection, &lock);
        }
        Ok(taken)
    };
    Ok(LockResult { ok: state.archive.call(take).await? })
}

pub(in crate::wire::handler) async fn unlock(state: &Arc<State>, params: UnlockParams) -> Outcome<LockResult> {
    check_name("session", &params.session)?;
    check_name("holder", &params.holder)?;
    let (shared, lock) = (Arc::clone(state), (params.session, params.holder));
    let give_back = move |archive: &mut Archive| {
        let is_free = archive.unlock(&lock.0, &lock.1, unix_now())?;
        if is_free {
            shared.connection_locks.forget(&lock);
        }
        Ok(is_free)
    };
    Ok(LockResult { ok: state.archive.call(give_back).await? })
}

pub(in crate::wire::handler) async fn lock_holder(
    state: &State,
    params: LockHolderParams,
) -> Outcome<LockHolderResult> {
    check_name("session", &params.session)?;
    let holder = state.archive.read(move |reader| reader.lock_holder(&params.session, unix_now())).await?;
    Ok(LockHolderResult { holder })
}
