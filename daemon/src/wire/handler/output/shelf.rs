//! `output.list`, `output.remove`, `output.gc`.

use herma_protocol::output::shelf::{
    Expired, GcParams, GcResult, ListParams, ListResult, Reason, RemoveParams, RemoveResult, Row, State as Kept,
};
use herma_spill::catalog::{Record, State as Fate};

use crate::data::error::{Error, Outcome};
use crate::data::names;
use crate::data::numbers::to_usize;
use crate::service::caller::Caller;
use crate::service::outputs::OutputService;
use crate::wire::services::Services;

/// The default number of rows.
const DEFAULT_ROWS: u64 = 100;

/// The largest number of rows in one call.
const ROWS: u64 = 100_000;

pub(in crate::wire::handler) async fn list(
    services: &Services,
    caller: &Caller,
    params: ListParams,
) -> Outcome<ListResult> {
    names::check_all(&[("session", params.session.as_ref()), ("prefix", params.prefix.as_ref())])?;
    let limit = params.limit.unwrap_or(DEFAULT_ROWS);
    if !(1..=ROWS).contains(&limit) {
        return Err(Error::param("limit", format!("must be from 1 to {ROWS}")));
    }
    let outputs = &services.outputs;
    let records = outputs.list(caller, params.session, params.prefix, to_usize(limit)).await?;
    Ok(ListResult { outputs: records.iter().map(|record| row(outputs, record)).collect() })
}

pub(in crate::wire::handler) async fn remove(
    services: &Services,
    caller: &Caller,
    params: RemoveParams,
) -> Outcome<RemoveResult> {
    let gone = services.outputs.remove(caller, params.handle).await?;
    Ok(RemoveResult { bytes: gone.bytes })
}

pub(in crate::wire::handler) async fn gc(services: &Services, params: GcParams) -> Outcome<GcResult> {
    let collected = services.retention.collect(params.dry_run.unwrap_or(false)).await?;
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

fn row(outputs: &OutputService, record: &Record) -> Row {
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
        sha256: base16ct::lower::encode_string(&record.sha256),
        created_at: record.created_at,
        state,
        expired_at,
        reason: why,
    }
}

pub(in crate::wire) const fn reason(reason: herma_spill::catalog::Reason) -> Reason {
    match reason {
        herma_spill::catalog::Reason::Ttl => Reason::Ttl,
        herma_spill::catalog::Reason::Quota => Reason::Quota,
        herma_spill::catalog::Reason::Removed => Reason::Removed,
    }
}
