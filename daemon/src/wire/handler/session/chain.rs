//! `session.list`, `session.show`, `session.tip`, `session.resume_target`,
//! `session.next_title`.

use herma_archive::list::{List, Shown};
use herma_protocol::context::Settings;
use herma_protocol::session::chain::{
    ListParams, ListResult, NextTitleParams, NextTitleResult, ResumeTargetParams, Row, SessionId, ShowParams, TipParams,
};

use super::{check_row_profile, no_session, usage};
use crate::data::error::{Error, Outcome};
use crate::wire::caller::Caller;
use crate::wire::handler::{check_name, narrow};
use crate::wire::state::State;

/// Rows when the caller doesn't say.
const DEFAULT_ROWS: u64 = 50;

/// Rows that one call may ask for.
const ROWS: u64 = 1000;

pub(in crate::wire::handler) async fn list(state: &State, caller: &Caller, params: ListParams) -> Outcome<ListResult> {
    let limit = params.limit.unwrap_or(DEFAULT_ROWS);
    if !(1..=ROWS).contains(&limit) {
        return Err(Error::param("limit", format!("must be from 1 to {ROWS}")));
    }
    let profile = caller.profile.clone();
    let shown = state
        .archive
        .read(move |reader| {
            reader.list(&List {
                profile: profile.as_deref(),
                limit: narrow(limit),
                before: params.before,
                raw: params.raw.unwrap_or(false),
            })
        })
        .await?;
    Ok(ListResult { sessions: shown.into_iter().map(row).collect() })
}

pub(in crate::wire::handler) async fn show(state: &State, caller: &Caller, params: ShowParams) -> Outcome<Row> {
    check_name("session", &params.session)?;
    let id = params.session.clone();
    match state.archive.read(move |reader| reader.show(&id)).await? {
        Some(shown) => {
            check_row_profile(&shown.row.id, &shown.row.profile, caller.profile.as_deref())?;
            Ok(row(shown))
        }
        None => Err(no_session(&params.session)),
    }
}

pub(in crate::wire::handler) async fn tip(state: &State, params: TipParams) -> Outcome<SessionId> {
    check_name("session", &params.session)?;
    let session = state.archive.read(move |reader| reader.tip(&params.session)).await?;
    Ok(SessionId { session })
}

pub(in crate::wire::handler) async fn resume_target(state: &State, params: ResumeTargetParams) -> Outcome<SessionId> {
    check_name("session", &params.session)?;
    let session = state.archive.read(move |reader| reader.resume_target(&params.session)).await?;
    Ok(SessionId { session })
}

pub(in crate::wire::handler) async fn next_title(state: &State, params: NextTitleParams) -> Outcome<NextTitleResult> {
    check_name("title", &params.title)?;
    let title = state.archive.read(move |reader| reader.next_title(&params.title)).await?;
    Ok(NextTitleResult { title })
}

fn row(shown: Shown) -> Row {
    let Shown { row, messages, tool_calls, usage, preview, last_active, lineage_root } = shown;
    let settings: Settings =
        row.settings.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
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
        cwd: None,
    }
}
