//! `session.list`, `session.show`, `session.tip`, `session.resume_target`,
//! `session.next_title`.

use herma_archive::list::{List, SessionOverview};
use herma_protocol::session::chain::{
    ListParams, ListResult, NextTitleParams, NextTitleResult, ResumeTargetParams, Row, SessionId, ShowParams, TipParams,
};

use super::usage;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::to_usize;
use crate::service::caller::Caller;
use crate::service::settings::SessionSettings;
use crate::wire::services::Services;

/// The default number of rows.
const DEFAULT_ROWS: u64 = 50;

/// The largest number of rows in one call.
const ROWS: u64 = 1000;

pub(in crate::wire::handler) async fn list(
    services: &Services,
    caller: &Caller,
    params: ListParams,
) -> Outcome<ListResult> {
    let limit = params.limit.unwrap_or(DEFAULT_ROWS);
    if !(1..=ROWS).contains(&limit) {
        return Err(Error::param("limit", format!("must be from 1 to {ROWS}")));
    }
    let ListParams { before, raw, agent, folder, branch, since, text, prefix, .. } = params;
    let folder = folder.map(|folder| folder.trim_end_matches('/').to_owned());
    let (limit, raw) = (to_usize(limit), raw.unwrap_or(false));
    let list = List { profile: None, agent, folder, branch, since, text, prefix, limit, before, raw };
    let shown = services.sessions.list(caller, list).await?;
    Ok(ListResult { sessions: shown.into_iter().map(row).collect() })
}

pub(in crate::wire::handler) async fn show(services: &Services, caller: &Caller, params: ShowParams) -> Outcome<Row> {
    services.sessions.show(caller, &params.session).await.map(row)
}

pub(in crate::wire::handler) async fn tip(services: &Services, params: TipParams) -> Outcome<SessionId> {
    Ok(SessionId { session: services.sessions.tip(params.session).await? })
}

pub(in crate::wire::handler) async fn resume_target(
    services: &Services,
    params: ResumeTargetParams,
) -> Outcome<SessionId> {
    Ok(SessionId { session: services.sessions.resume_target(params.session).await? })
}

pub(in crate::wire::handler) async fn next_title(
    services: &Services,
    params: NextTitleParams,
) -> Outcome<NextTitleResult> {
    Ok(NextTitleResult { title: services.sessions.next_title(params.title).await? })
}

fn row(shown: SessionOverview) -> Row {
    let SessionOverview { row, messages, tool_calls, usage, last_prompt, preview, last_active, lineage_root } = shown;
    let settings = row.settings.as_deref().map(SessionSettings::read).unwrap_or_default();
    Row {
        session: row.id,
        parent: row.parent,
        title: row.title,
        agent: row.agent,
        model: settings.model,
        profile: row.profile,
        generation: row.generation,
        started_at: row.started_at,
        ended_at: row.ended_at,
        end_reason: row.end_reason,
        messages,
        tool_calls,
        usage: usage::totals(&usage),
        lineage_root,
        preview,
        last_active,
        cwd: row.cwd,
        source: row.source,
        branch: row.branch,
        context_length: settings.context_length,
        last_prompt,
    }
}
