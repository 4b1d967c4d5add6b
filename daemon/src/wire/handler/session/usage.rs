//! `session.usage`.

use herma_archive::usage::{By, Totals, UsageQuery};
use herma_protocol::session::usage::{self as wire, UsageParams, UsageResult, UsageRow};

use crate::data::error::Outcome;
use crate::wire::caller::Caller;
use crate::wire::handler::check_names;
use crate::wire::state::State;

pub(in crate::wire::handler) async fn usage(
    state: &State,
    caller: &Caller,
    params: UsageParams,
) -> Outcome<UsageResult> {
    check_names(&[("session", params.session.as_ref())])?;
    let by = match params.by.unwrap_or(wire::By::Session) {
        wire::By::Session => By::Session,
        wire::By::Model => By::Model,
        wire::By::Agent => By::Agent,
        wire::By::Day => By::Day,
    };
    let profile = caller.profile.clone();
    let (rows, total) = state
        .archive
        .read(move |reader| {
            reader.usage(&UsageQuery {
                session: params.session.as_deref(),
                profile: profile.as_deref(),
                since: params.since,
                until: None,
                by,
            })
        })
        .await?;
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
