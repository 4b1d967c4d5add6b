//! Samples of the methods about outputs that are kept.

use herma_protocol::notification::{OutputExpired, SessionExpired};
use herma_protocol::output::{search, shelf};
use herma_protocol::{Reply, Request};

const HANDLE: &str = "out_0123456789abcdef0123";

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
        Request::OutputList(shelf::ListParams { session: Some("s-1".into()), limit: Some(100) }),
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

/// What a subscriber is told when a session goes.
pub(in super::super) fn gone_session() -> SessionExpired {
    SessionExpired { session: "s-1".into(), messages: 420, bytes: 812_000, reason: shelf::Reason::Quota }
}

/// What a subscriber is told when an output goes.
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
