//! Samples of the methods about stored outputs.

use std::collections::BTreeMap;

use herma_protocol::notification::{OutputExpired, SessionExpired};
use herma_protocol::output::{search, shelf};
use herma_protocol::value::{Content, Size};
use herma_protocol::{Reply, Request, output};

use super::{json, message};

const HANDLE: &str = "out_0123456789abcdef0123";

pub(super) fn admit() -> (Request, Reply) {
    (Request::OutputAdmit(admit_params()), Reply::OutputAdmit(admit_result()))
}

pub(super) fn settle_turn() -> (Request, Reply) {
    (Request::OutputSettleTurn(settle_params()), Reply::OutputSettleTurn(settle_result()))
}

pub(super) fn preview() -> (Request, Reply) {
    (
        Request::OutputPreview(output::PreviewParams { content: "a\nb".into(), max: Some(2), tail: Some(1) }),
        Reply::OutputPreview(output::PreviewResult { text: "a\n".into(), has_more: true, tail: Some("b".into()) }),
    )
}

pub(super) fn read() -> (Request, Reply) {
    (Request::OutputRead(read_params()), Reply::OutputRead(read_result()))
}

fn budgets() -> output::BudgetConfig {
    output::BudgetConfig {
        default_result_size: Some(1000),
        turn_budget: Some(5000),
        preview_size: Some(100),
        preview_tail_size: Some(50),
        tool_overrides: Some(BTreeMap::from([("grep".into(), Size::Chars(7)), ("read".into(), Size::Infinite)])),
    }
}

fn admit_params() -> output::AdmitParams {
    output::AdmitParams {
        session: "s-1".into(),
        tool: "terminal".into(),
        id: "call_1".into(),
        content: Content::Parts(vec![json(r#"{"type":"text", "text":"long"}"#)]),
        threshold: Some(Size::Infinite),
        config: Some(budgets()),
    }
}

fn admit_result() -> output::AdmitResult {
    output::AdmitResult {
        content: Content::Text("<persisted-output>…".into()),
        spilled: true,
        handle: Some(HANDLE.into()),
        path: Some("/h/herma/outputs/s-1/call_1.txt".into()),
        chars: 150_000,
        lines: 1200,
        sha256: "cd".repeat(32),
        failure: Some(output::Failure::StorageFull),
    }
}

fn settle_params() -> output::SettleTurnParams {
    output::SettleTurnParams {
        session: "s-1".into(),
        results: Some(vec![output::TurnResult {
            id: Some("call_1".into()),
            tool: Some("terminal".into()),
            content: Content::Text("long".into()),
        }]),
        messages: Some(vec![message()]),
        config: Some(budgets()),
    }
}

fn settle_result() -> output::SettleTurnResult {
    output::SettleTurnResult {
        replacements: vec![output::Replacement {
            index: 3,
            content: Content::Text("<persisted-output>…".into()),
            handle: Some(HANDLE.into()),
            path: Some("/h/herma/outputs/s-1/call_1.txt".into()),
        }],
        total: 199_000,
    }
}

fn read_params() -> output::ReadParams {
    output::ReadParams {
        handle: Some(HANDLE.into()),
        path: Some("/h/herma/outputs/s-1/call_1.txt".into()),
        line: Some(1),
        lines: Some(200),
        offset: Some(0),
        limit: Some(20_000),
        tail: Some(10),
        view: Some(output::View::Json),
    }
}

fn read_result() -> output::ReadResult {
    output::ReadResult {
        text: "page".into(),
        next: Some(output::Next::Offset(20_000)),
        total_lines: 1200,
        total_chars: 150_000,
    }
}

pub(super) fn search() -> (Request, Reply) {
    let params = search::SearchParams {
        query: "error\\[E[0-9]+\\]".into(),
        regex: Some(true),
        handle: Some(HANDLE.into()),
        session: Some("s-1".into()),
        context: Some(1),
        limit: Some(300),
    };
    let found = search::Match {
        handle: HANDLE.into(),
        line: 400,
        text: "é: error[E0308] in main".into(),
        before: vec!["Compiling".into()],
        after: vec!["note: 日本".into()],
        offset: 70_003,
        start: 3,
        end: 15,
        cut: true,
    };
    (Request::OutputSearch(params), Reply::OutputSearch(search::SearchResult { matches: vec![found], more: true }))
}

pub(super) fn list() -> (Request, Reply) {
    let row = shelf::Row {
        handle: HANDLE.into(),
        session: "s-1".into(),
        tool: "terminal".into(),
        id: "call_1".into(),
        path: "/h/herma/outputs/s-1/call_1.txt".into(),
        chars: 150_000,
        bytes: 150_300,
        sha256: "cd".repeat(32),
        created_at: 1_790_000_000.25,
        state: shelf::State::Expired,
        expired_at: Some(1_790_604_800.5),
        reason: Some(shelf::Reason::Quota),
    };
    (
        Request::OutputList(shelf::ListParams {
            session: Some("s-1".into()),
            limit: Some(100),
            prefix: Some("out_1f".into()),
        }),
        Reply::OutputList(shelf::ListResult { outputs: vec![row] }),
    )
}

pub(super) fn remove() -> (Request, Reply) {
    (
        Request::OutputRemove(shelf::RemoveParams { handle: HANDLE.into() }),
        Reply::OutputRemove(shelf::RemoveResult { bytes: 150_300 }),
    )
}

pub(super) fn gc() -> (Request, Reply) {
    let expired = shelf::Expired {
        handle: HANDLE.into(),
        session: "s-1".into(),
        tool: "terminal".into(),
        id: "call_1".into(),
        bytes: 150_300,
        reason: shelf::Reason::Ttl,
    };
    (
        Request::OutputGc(shelf::GcParams { dry_run: Some(true) }),
        Reply::OutputGc(shelf::GcResult { expired: vec![expired], freed: 150_300, files: 2, bytes: 300_000 }),
    )
}

/// The notification of a removed session.
pub(in super::super) fn gone_session() -> SessionExpired {
    SessionExpired { session: "s-1".into(), messages: 420, bytes: 812_000, reason: shelf::Reason::Quota }
}

/// The notification of a removed output.
pub(in super::super) fn gone() -> OutputExpired {
    OutputExpired {
        handle: HANDLE.into(),
        session: "s-1".into(),
        tool: "terminal".into(),
        id: "call_1".into(),
        bytes: 150_300,
        sha256: "cd".repeat(32),
        reason: shelf::Reason::Removed,
    }
}
