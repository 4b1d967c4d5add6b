//! `session.usage`.

use herma_archive::usage::{GroupBy, Totals};
use herma_protocol::session::usage::{self as wire, UsageParams, UsageResult, UsageRow};

use crate::data::error::Outcome;
use crate::data::names;
use crate::owners::archive::UsageQuery;
use crate::service::caller::Caller;
use crate::service::ledger::ReportedCall;
use crate::wire::services::Services;

/// Returns the grouping of the rows, by session by default.
pub(in crate::wire::handler) fn group_by(by: Option<wire::By>) -> GroupBy {
    match by.unwrap_or(wire::By::Session) {
        wire::By::Session => GroupBy::Session,
        wire::By::Model => GroupBy::Model,
        wire::By::Agent => GroupBy::Agent,
        wire::By::Day => GroupBy::Day,
    }
}

pub(in crate::wire::handler) async fn usage(
    services: &Services,
    caller: &Caller,
    params: UsageParams,
) -> Outcome<UsageResult> {
    names::check_all(&[("session", params.session.as_ref())])?;
    let UsageParams { session, since, by } = params;
    let query = UsageQuery { session, profile: caller.profile.clone(), since, by: group_by(by) };
    let (rows, total) = services.archive.usage(query).await?;
    let rows = rows.into_iter().map(|(key, of)| UsageRow {
        key,
        calls: of.calls,
        input: of.input,
        output: of.output,
        cache_read: of.cache_read,
        cache_write: of.cache_write,
        reasoning: of.reasoning,
        prompt: of.prompt(),
        total: of.total(),
    });
    Ok(UsageResult { rows: rows.collect(), total: totals(&total) })
}

pub(super) fn totals(of: &Totals) -> wire::Totals {
    wire::Totals {
        calls: of.calls,
        input: of.input,
        output: of.output,
        cache_read: of.cache_read,
        cache_write: of.cache_write,
        reasoning: of.reasoning,
        prompt: of.prompt(),
        total: of.total(),
    }
}

/// Converts a call of a model that a client reports.
pub(in crate::wire::handler) fn reported(call: wire::Call) -> ReportedCall {
    ReportedCall {
        usage: serde_json::from_str(call.usage.get()).unwrap_or_default(),
        id: call.id,
        time: call.time,
        model: call.model,
        provider: call.provider,
        api_mode: call.api_mode,
    }
}
