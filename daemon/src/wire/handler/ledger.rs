//! `ledger.*`.

use herma_context::ledger::{Change, Kind};
use herma_protocol::ledger::{self as wire, ChangeKind, ReadParams, ReadResult, RecordParams, RecordResult, Row};

use crate::data::error::Outcome;
use crate::service::caller::Caller;
use crate::service::ledger::{LedgerQuery, Part, RowKey, Sums};
use crate::wire::handler::session::{group_by, reported};
use crate::wire::services::Services;

pub(super) async fn record(services: &Services, caller: &Caller, params: RecordParams) -> Outcome<RecordResult> {
    let RecordParams { session, calls, changes } = params;
    let calls = calls.unwrap_or_default().into_iter().map(reported);
    let changes = changes.unwrap_or_default().into_iter().map(change);
    let (calls, changes) = services.ledger.record(caller, &session, calls.collect(), changes.collect()).await?;
    Ok(RecordResult { calls, changes })
}

pub(super) async fn read(services: &Services, caller: &Caller, params: ReadParams) -> Outcome<ReadResult> {
    let ReadParams { session, since, by, agents } = params;
    let query = LedgerQuery { session, since, by: group_by(by), with_agents: agents.unwrap_or(false) };
    let (rows, total) = services.ledger.read(caller, query).await?;
    Ok(ReadResult {
        rows: rows.into_iter().map(|(key, sums)| row(key, &sums)).collect(),
        total: row(RowKey::default(), &total),
    })
}

fn change(change: wire::Change) -> Change {
    let wire::Change { time, kind, added, removed } = change;
    let kind = match kind {
        ChangeKind::Definitions => Kind::Definitions,
        ChangeKind::Context => Kind::Context,
        ChangeKind::Tool => Kind::Tool,
        ChangeKind::Output => Kind::Output,
        ChangeKind::Compaction => Kind::Compaction,
        ChangeKind::Handover => Kind::Handover,
        ChangeKind::Summary => Kind::Summary,
    };
    Change { time, kind, added, removed }
}

/// Returns a change as the client recorded it.
pub(crate) fn wire_change(change: &Change) -> wire::Change {
    let Change { time, kind, added, removed } = *change;
    let kind = match kind {
        Kind::Definitions => ChangeKind::Definitions,
        Kind::Context => ChangeKind::Context,
        Kind::Tool => ChangeKind::Tool,
        Kind::Output => ChangeKind::Output,
        Kind::Compaction => ChangeKind::Compaction,
        Kind::Handover => ChangeKind::Handover,
        Kind::Summary => ChangeKind::Summary,
    };
    wire::Change { time, kind, added, removed }
}

fn row(RowKey { key, agent }: RowKey, sums: &Sums) -> Row {
    let of = |kind: Kind| sums.parts[kind as usize];
    let difference = sums.difference();
    Row {
        key,
        agent,
        messages: sums.messages,
        found: sums.found,
        spilled: sums.spilled,
        compressed: sums.compressed,
        calls: sums.calls,
        cost: tokens(sums.cost).unsigned_abs(),
        without_herma: tokens((sums.cost - difference).max(0.0)).unsigned_abs(),
        difference: tokens(difference),
        definitions: part(&of(Kind::Definitions)),
        context: part(&of(Kind::Context)),
        tools: part(&of(Kind::Tool)),
        outputs: part(&of(Kind::Output)),
        compactions: part(&of(Kind::Compaction).plus(&of(Kind::Handover))),
        summaries: part(&of(Kind::Summary)),
    }
}

fn part(part: &Part) -> wire::Part {
    let Part { count, added, removed, cost } = *part;
    wire::Part { count, added, removed, cost: tokens(cost) }
}

/// Rounds to whole tokens.
#[expect(clippy::cast_possible_truncation, reason = "the cast stops at the largest")]
fn tokens(cost: f64) -> i64 {
    cost.round() as i64
}
