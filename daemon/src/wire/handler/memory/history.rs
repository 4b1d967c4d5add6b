//! `memory.log`, `memory.undo`, `memory.restore`, `memory.revert`.

use std::collections::HashMap;
use std::sync::Arc;

use herma_guard::Policy;
use herma_memory::render::shown;
use herma_memory::{Author, Edit, Entry, LogQuery, Row, Target};
use herma_protocol::memory::{
    LogParams, LogResult, LogRow, RestoreParams, RevertParams, Target as WireTarget, UndoParams, WriteResult,
};

use super::written::{strings, written};
use super::{author, domain_target, wire_target};
use crate::data::error::{Error, Outcome};
use crate::owners::blocking::blocking;
use crate::owners::store::Log;
use crate::service::caller::Caller;
use crate::wire::services::Services;

/// The largest number of rows in one call.
const ROWS: u64 = 1000;

/// The default number of rows.
const DEFAULT_ROWS: u64 = 50;

pub(in crate::wire::handler) async fn log(
    services: &Services,
    caller: &Caller,
    params: LogParams,
) -> Outcome<LogResult> {
    let limit = params.limit.unwrap_or(DEFAULT_ROWS);
    if !(1..=ROWS).contains(&limit) {
        return Err(Error::param("limit", format!("must be from 1 to {ROWS}")));
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let query =
        LogQuery { before: params.before, since: params.since, until: params.until, limit, ..LogQuery::default() };
    let mut result = LogResult { rows: Vec::new(), more: false, damaged: 0, pending_count: None };
    let mut rows: Vec<(Target, Row)> = Vec::new();
    for target in Target::ALL {
        if params.target.is_none_or(|wanted| domain_target(wanted) == target) {
            let Log { rows: found, more, damaged } = services.memory.log(caller.profile(), target, query).await?;
            rows = merged(rows, found.into_iter().map(|row| (target, row)).collect());
            result.more |= more;
            result.damaged += damaged;
        }
    }
    result.more |= rows.len() > limit;
    rows.truncate(limit);
    let (policy, raw) = (Arc::clone(services.memory.policy()), params.raw.unwrap_or(false));
    result.rows = blocking("memory.log", move || Ok(Rendered::new(&policy, raw).rows(rows))).await?;
    result.pending_count = services.memory.pending_count(caller.profile());
    Ok(result)
}

pub(in crate::wire::handler) async fn undo(
    services: &Services,
    caller: &Caller,
    params: UndoParams,
) -> Outcome<WriteResult> {
    let UndoParams { target, session, agent, expected_revision } = params;
    edit_history(services, caller, (target, Edit::Undo), expected_revision, author(session, agent)?).await
}

pub(in crate::wire::handler) async fn restore(
    services: &Services,
    caller: &Caller,
    params: RestoreParams,
) -> Outcome<WriteResult> {
    let RestoreParams { target, revision, session, agent, expected_revision } = params;
    edit_history(services, caller, (target, Edit::Restore(revision)), expected_revision, author(session, agent)?).await
}

pub(in crate::wire::handler) async fn revert(
    services: &Services,
    caller: &Caller,
    params: RevertParams,
) -> Outcome<WriteResult> {
    let RevertParams { target, revision, session, agent, expected_revision } = params;
    edit_history(services, caller, (target, Edit::Revert(revision)), expected_revision, author(session, agent)?).await
}

/// Makes an earlier text of a store, or its text without one change, a new revision.
async fn edit_history(
    services: &Services,
    caller: &Caller,
    (target, edit): (WireTarget, Edit),
    expected_revision: Option<u64>,
    author: Author,
) -> Outcome<WriteResult> {
    let report = services.memory.put_back(caller, domain_target(target), edit, expected_revision, author).await?;
    Ok(written(services, report))
}

/// Merges both lists, newest first. Each keeps its own order, because a clock may have been set back.
fn merged(one: Vec<(Target, Row)>, other: Vec<(Target, Row)>) -> Vec<(Target, Row)> {
    let (mut one, mut other) = (one.into_iter().peekable(), other.into_iter().peekable());
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some((_, first)), Some((_, second))) if second.time > first.time => other.next(),
        (Some(_), _) => one.next(),
        (None, _) => other.next(),
    })
    .collect()
}

/// Renders entries, each text only once, because rows share most of their entries.
struct Rendered<'a> {
    policy: &'a Policy,
    raw: bool,
    known: HashMap<(Target, Entry), String>,
}

impl<'a> Rendered<'a> {
    fn new(policy: &'a Policy, raw: bool) -> Self {
        Self { policy, raw, known: HashMap::new() }
    }

    fn rows(&mut self, rows: Vec<(Target, Row)>) -> Vec<LogRow> {
        let row = |(target, row): (Target, Row)| LogRow {
            target: wire_target(target),
            revision: row.revision,
            time: row.time,
            action: row.action.name().to_owned(),
            before: self.entries(target, &row.before),
            after: self.entries(target, &row.after),
            session: row.author.session,
            agent: row.author.agent,
            host: row.author.host,
        };
        rows.into_iter().map(row).collect()
    }

    fn entries(&mut self, target: Target, entries: &[Entry]) -> Vec<String> {
        if self.raw {
            return strings(entries);
        }
        let render = |entry: &Entry| {
            let known = self.known.entry((target, Arc::clone(entry)));
            known.or_insert_with(|| shown(self.policy, target, entry)).clone()
        };
        entries.iter().map(render).collect()
    }
}
