//! The samples of `ledger.*`.

use herma_protocol::ledger::{Call, Change, ChangeKind, Part, ReadParams, ReadResult, RecordParams, RecordResult, Row};
use herma_protocol::session::usage::By;
use herma_protocol::{Reply, Request};

use super::json;

pub(super) fn record() -> (Request, Reply) {
    let call = Call {
        id: "msg_1".into(),
        time: 1_790_000_000.25,
        model: Some("m-large".into()),
        provider: Some("anthropic".into()),
        api_mode: Some("anthropic_messages".into()),
        usage: json(r#"{"input_tokens": 1000,"output_tokens":500, "cost": 1.0}"#),
    };
    let kinds = [
        ChangeKind::Definitions,
        ChangeKind::Context,
        ChangeKind::Tool,
        ChangeKind::Output,
        ChangeKind::Compaction,
        ChangeKind::Handover,
        ChangeKind::Summary,
    ];
    let changes = kinds.map(|kind| Change { time: 1_790_000_000.5, kind, added: 600, removed: 20_000 });
    let params = RecordParams { session: "s-1".into(), calls: Some(vec![call]), changes: Some(changes.into()) };
    (Request::LedgerRecord(params), Reply::LedgerRecord(RecordResult { calls: 1, changes: 7 }))
}

pub(super) fn read() -> (Request, Reply) {
    let params = ReadParams {
        session: Some("s-1".into()),
        since: Some(1_790_000_000.25),
        by: Some(By::Model),
        agents: Some(true),
    };
    let row = |key: &str| Row {
        key: key.into(),
        agent: Some("codex".into()),
        messages: 7_216,
        found: 12,
        spilled: 33,
        compressed: 4,
        calls: 40,
        cost: 845_595,
        without_herma: 878_260,
        difference: -32_665,
        definitions: Part { count: 1, added: 300, removed: 0, cost: 1_500 },
        context: Part { count: 1, added: 400, removed: 0, cost: 2_000 },
        tools: Part { count: 2, added: 900, removed: 0, cost: 3_000 },
        outputs: Part { count: 3, added: 1_500, removed: 90_000, cost: -150_000 },
        compactions: Part { count: 3, added: 24_000, removed: 6_000, cost: 90_000 },
        summaries: Part { count: 3, added: 0, removed: 0, cost: -57_000 },
    };
    let result = ReadResult { rows: vec![row("m-large")], total: row("") };
    (Request::LedgerRead(params), Reply::LedgerRead(result))
}
