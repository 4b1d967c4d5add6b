//! Samples of the session methods: chains, transcripts, locks, usage.

use herma_protocol::session::{chain, import, lock, messages, transcript, usage};
use herma_protocol::{Reply, Request, session};

use super::message;

pub(super) fn open() -> (Request, Reply) {
    (Request::SessionOpen(open_params()), Reply::SessionOpen(open_result()))
}

pub(super) fn snapshot() -> (Request, Reply) {
    (Request::SessionSnapshot(session::SnapshotParams { session: "s-1".into() }), Reply::SessionSnapshot(frozen()))
}

pub(super) fn close() -> (Request, Reply) {
    (
        Request::SessionClose(session::CloseParams { session: "s-1".into(), reason: Some("done".into()) }),
        Reply::SessionClose(session::CloseResult {}),
    )
}

pub(super) fn refresh() -> (Request, Reply) {
    (Request::SessionRefresh(session::RefreshParams { session: "s-1".into() }), Reply::SessionRefresh(frozen()))
}

fn open_params() -> session::OpenParams {
    session::OpenParams {
        session: "s-1".into(),
        agent: Some("hermes".into()),
        parent: Some("s-0".into()),
        title: Some("Herma".into()),
        model: Some("m-large".into()),
        context_length: Some(200_000),
        host_bound: Some(true),
        ..session::OpenParams::default()
    }
}

fn frozen() -> session::Snapshot {
    session::Snapshot {
        memory: Some("═══\nMEMORY\n═══\none".into()),
        user: Some("═══\nUSER\n═══\ntwo".into()),
        sha256: "ab".repeat(32),
        revision: session::Revisions { memory: 3, user: 4 },
    }
}

fn open_result() -> session::OpenResult {
    session::OpenResult {
        session: "s-1".into(),
        generation: 2,
        resumed: true,
        snapshot: frozen(),
        moved_from: Some("attic".into()),
    }
}

/// The totals of all sample calls.
fn totals() -> usage::Totals {
    usage::Totals {
        calls: 3,
        input: 1000,
        output: 500,
        cache_read: 70_000,
        cache_write: 400,
        reasoning: 250,
        prompt: 71_400,
        total: 71_900,
    }
}

fn row() -> chain::Row {
    chain::Row {
        session: "s-1".into(),
        parent: Some("s-0".into()),
        title: Some("Herma #2".into()),
        agent: Some("hermes".into()),
        model: Some("m-large".into()),
        profile: "work".into(),
        generation: 2,
        started_at: 1_790_000_000.25,
        ended_at: Some(1_790_000_900.5),
        end_reason: Some("compression".into()),
        messages: 300,
        tool_calls: 120,
        usage: totals(),
        lineage_root: "s-0".into(),
        preview: "Please mend the søcket".into(),
        last_active: 1_790_000_899.75,
        cwd: Some("/home/me/herma".into()),
        source: Some("/home/me/.claude/projects/herma/1.jsonl".into()),
        ..chain::Row::default()
    }
}

pub(super) fn append() -> (Request, Reply) {
    let params = transcript::AppendParams {
        session: "s-1".into(),
        generation: 2,
        position: 300,
        messages: vec![message(), message()],
    };
    (
        Request::SessionAppend(params),
        Reply::SessionAppend(transcript::AppendResult { position: 302, ..Default::default() }),
    )
}

pub(super) fn import() -> (Request, Reply) {
    let params = import::ImportParams {
        session: "claude-code:1".into(),
        agent: Some("claude-code".into()),
        source: Some("/home/me/.claude/projects/herma/1.jsonl".into()),
        cwd: Some("/home/me/herma".into()),
        parent: Some("claude-code:0".into()),
        title: Some("Mend the søcket".into()),
        model: Some("m".into()),
        position: 300,
        messages: vec![message(), message()],
        times: Some(vec![Some(1_790_000_000.25), Some(1_790_000_001.5)]),
        redact: Some(true),
        ..Default::default()
    };
    (
        Request::SessionImport(params),
        Reply::SessionImport(import::ImportResult { position: 302, masked: 4, ..Default::default() }),
    )
}

pub(super) fn list() -> (Request, Reply) {
    let params = chain::ListParams {
        limit: Some(50),
        before: Some(1_790_000_000.5),
        raw: Some(true),
        agent: Some("claude-code".into()),
        folder: Some("/work/shop".into()),
        branch: Some("main".into()),
        since: Some(1_780_000_000.5),
        text: Some("sync".into()),
        prefix: Some("5f2a".into()),
    };
    (Request::SessionList(params), Reply::SessionList(chain::ListResult { sessions: vec![row()] }))
}

pub(super) fn show() -> (Request, Reply) {
    (Request::SessionShow(chain::ShowParams { session: "s-1".into() }), Reply::SessionShow(row()))
}

pub(super) fn messages() -> (Request, Reply) {
    let params = messages::MessagesParams {
        session: "s-1".into(),
        first: Some(-50),
        limit: Some(50),
        roles: Some(vec!["user".into(), "assistant".into()]),
        whole: Some(true),
    };
    let kept = messages::Kept {
        handle: "msg_7".into(),
        role: Some("user".into()),
        time: 1_790_000_000.5,
        text: "Where does the walrus live?".into(),
        chars: Some(2_400),
        left_by: Some("cmp_1_3".into()),
        message: Some(message()),
    };
    let result = messages::MessagesResult { messages: vec![kept], first: 150, total: 200 };
    (Request::SessionMessages(params), Reply::SessionMessages(result))
}

pub(super) fn tip() -> (Request, Reply) {
    let tip = chain::SessionId { session: "s-2".into() };
    (Request::SessionTip(chain::TipParams { session: "s-0".into() }), Reply::SessionTip(tip))
}

pub(super) fn resume_target() -> (Request, Reply) {
    let params = chain::ResumeTargetParams { session: "s-0".into() };
    let target = chain::SessionId { session: "s-1".into() };
    (Request::SessionResumeTarget(params), Reply::SessionResumeTarget(target))
}

pub(super) fn next_title() -> (Request, Reply) {
    let params = chain::NextTitleParams { title: "Herma".into() };
    let next = chain::NextTitleResult { title: "Herma #2".into() };
    (Request::SessionNextTitle(params), Reply::SessionNextTitle(next))
}

pub(super) fn lock() -> (Request, Reply) {
    let params = lock::LockParams { session: "s-1".into(), holder: "agent-7".into(), ttl_s: Some(0.5) };
    (Request::SessionLock(params), Reply::SessionLock(lock::LockResult { ok: true }))
}

pub(super) fn unlock() -> (Request, Reply) {
    let params = lock::UnlockParams { session: "s-1".into(), holder: "agent-7".into() };
    (Request::SessionUnlock(params), Reply::SessionUnlock(lock::LockResult { ok: true }))
}

pub(super) fn update() -> (Request, Reply) {
    let params = session::UpdateParams {
        session: "s-1".into(),
        title: Some("Mend the søcket".into()),
        model: Some("m-large".into()),
        context_length: Some(200_000),
        cwd: Some("/home/me/herma".into()),
        branch: Some("main".into()),
    };
    (Request::SessionUpdate(params), Reply::SessionUpdate(session::UpdateResult {}))
}

pub(super) fn lock_holder() -> (Request, Reply) {
    let params = lock::LockHolderParams { session: "s-1".into() };
    let result = lock::LockHolderResult { holder: Some("agent-7".into()) };
    (Request::SessionLockHolder(params), Reply::SessionLockHolder(result))
}

pub(super) fn remove() -> (Request, Reply) {
    let result = transcript::RemoveResult { messages: 300, outputs: 2, bytes: 1_500_000 };
    let params = transcript::RemoveParams { session: "s-1".into() };
    (Request::SessionRemove(params), Reply::SessionRemove(result))
}

pub(super) fn usage() -> (Request, Reply) {
    let params =
        usage::UsageParams { session: Some("s-1".into()), since: Some(1_790_000_000.25), by: Some(usage::By::Day) };
    let row = usage::UsageRow {
        key: "2026-11-20".into(),
        calls: 3,
        input: 1000,
        output: 500,
        cache_read: 70_000,
        cache_write: 400,
        reasoning: 250,
        prompt: 71_400,
        total: 71_900,
    };
    (Request::SessionUsage(params), Reply::SessionUsage(usage::UsageResult { rows: vec![row], total: totals() }))
}
