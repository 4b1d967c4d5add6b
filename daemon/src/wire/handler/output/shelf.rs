//! `output.list`, `output.remove`, `output.gc`.

use std::sync::Arc;

use herma_protocol::output::shelf::{
    Expired, GcParams, GcResult, ListParams, ListResult, Reason, RemoveParams, RemoveResult, Row, State as Kept,
};
use herma_spill::Outputs;
use herma_spill::catalog::{Record, State as Fate};
use herma_spill::facts::hex;

use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::service::retention;
use crate::wire::caller::Caller;
use crate::wire::handler::{blocking, check_name, check_names, narrow};
use crate::wire::state::State;

/// Rows when the caller doesn't say.
const DEFAULT_ROWS: u64 = 100;

/// Rows that one call may ask for.
const ROWS: u64 = 100_000;

pub(in crate::wire::handler) async fn list(
    state: &Arc<State>,
    caller: &Caller,
    params: ListParams,
) -> Outcome<ListResult> {
    check_names(&[("session", params.session.as_ref())])?;
    let limit = params.limit.unwrap_or(DEFAULT_ROWS);
    if !(1..=ROWS).contains(&limit) {
        return Err(Error::param("limit", format!("must be from 1 to {ROWS}")));
    }
    let (state, profile) = (Arc::clone(state), caller.profile.clone());
    blocking("output.list", move || {
        let (session, limit) = (params.session.as_deref(), narrow(limit));
        let records = match profile.as_deref() {
            None => state.outputs.list(session, limit),
            Some(profile) => state.outputs.list_where(limit, |record| {
                *record.profile == *profile && session.is_none_or(|session| *record.session == *session)
            }),
        };
        Ok(ListResult { outputs: records.iter().map(|record| row(&state.outputs, record)).collect() })
    })
    .await
}

pub(in crate::wire::handler) async fn remove(
    state: &Arc<State>,
    caller: &Caller,
    params: RemoveParams,
) -> Outcome<RemoveResult> {
    check_name("handle", &params.handle)?;
    super::check_profile(state, caller, &params.handle)?;
    let (shared, handle) = (Arc::clone(state), params.handle.clone());
    let gone =
        blocking("output.remove", move || shared.outputs.remove(&handle, unix_now()).map_err(Error::from)).await?;
    retention::tell_expired(state, &gone.expired);
    state.archive.note(move |archive| archive.forget_outputs(&[params.handle])).await?;
    Ok(RemoveResult { bytes: gone.bytes })
}

pub(in crate::wire::handler) async fn gc(state: &Arc<State>, params: GcParams) -> Outcome<GcResult> {
    let collected = retention::collect(state, params.dry_run.unwrap_or(false)).await?;
    let expired = collected.expired.into_iter().map(|gone| Expired {
        handle: gone.handle.to_string(),
        session: gone.session,
        tool: gone.tool,
        id: gone.id,
        bytes: gone.bytes,
        reason: reason(gone.reason),
    });
    Ok(GcResult {
        expired: expired.collect(),
        freed: collected.freed_bytes,
        files: collected.files_left,
        bytes: collected.bytes_left,
    })
}

fn row(outputs: &Outputs, record: &Record) -> Row {
    let (state, expired_at, why) = match record.state {
        Fate::Kept => (Kept::Kept, None, None),
        Fate::Expired { at, reason: why } => (Kept::Expired, Some(at), Some(reason(why))),
    };
    Row {
        handle: record.handle.to_string(),
        session: record.session.to_string(),
        tool: record.tool.to_string(),
        id: record.id.to_string(),
        path: outputs.path(record).display().to_string(),
        chars: record.chars,
        bytes: record.bytes,
        sha256: hex(&record.sha256),
        created_at: record.created_at,
        state,
        expired_at,
        reason: why,
    }
}

pub(crate) const fn reason(reason: herma_spill::catalog::Reason) -> Reason {
    match reason {
        herma_spill::catalog::Reason::Ttl => Reason::Ttl,
        herma_spill::catalog::Reason::Quota => Reason::Quota,
        herma_spill::catalog::Reason::Removed => Reason::Removed,
    }
}
