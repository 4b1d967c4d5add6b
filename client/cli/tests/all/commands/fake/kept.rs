//! The fake daemon's constant answers about sessions, outputs, usage and recall.

use herma_client::protocol::context::Archived;
use herma_client::protocol::context::cache_control::CacheControlResult;
use herma_client::protocol::context::check::{CheckReason, CheckResult};
use herma_client::protocol::context::discard::DiscardResult;
use herma_client::protocol::context::opened::{FoldResult, OpenResult};
use herma_client::protocol::context::pins::{Pin, PinsResult, UnpinResult};
use herma_client::protocol::context::provider_error::{ClassifyErrorResult, ErrorClass};
use herma_client::protocol::context::schema::SchemaResult;
use herma_client::protocol::context::tools::{ToolState, ToolUse, ToolsParams, ToolsResult};
use herma_client::protocol::context::undo::{UndoParams, UndoResult};
use herma_client::protocol::memory::{QueuedResult, Target};
use herma_client::protocol::output::search::{Match, SearchResult as Found};
use herma_client::protocol::output::shelf::{self, Expired, GcResult, Reason, Row, State};
use herma_client::protocol::output::{ReadParams, ReadResult};
use herma_client::protocol::recall::{self, Hit, Item, Kind};
use herma_client::protocol::session::chain::{self, NextTitleResult, SessionId};
use herma_client::protocol::session::import::ImportResult;
use herma_client::protocol::session::lock::{LockHolderResult, LockResult};
use herma_client::protocol::session::transcript::{AppendResult, RemoveResult};
use herma_client::protocol::session::usage::{Totals, UsageResult, UsageRow};
use herma_client::protocol::shared::{
    InitResult, JoinResult, JoinedStore, LeaveResult, LeftOut, Messages as SharedMessages, State as SharedState,
    StatusResult,
};
use herma_client::protocol::{ErrorKind, Json, Method, Reply, Request, RpcError, jsonrpc};
use serde_json::json;

pub(super) fn answer(request: Request) -> Result<Reply, RpcError> {
    Ok(match request {
        Request::SharedStatus(_) => Reply::SharedStatus(shared()),
        Request::SharedInit(_) => Reply::SharedInit(InitResult { found: Some(0), version: 1, ..InitResult::default() }),
        Request::SharedJoin(_) => Reply::SharedJoin(JoinResult { profile: "default".into(), stores: vec![joined()] }),
        Request::SharedLeave(_) => Reply::SharedLeave(LeaveResult { profile: "default".into(), pending: 1 }),
        Request::MemoryQueued(_) => Reply::MemoryQueued(QueuedResult { queued: Vec::new() }),
        Request::OutputList(_) => Reply::OutputList(shelf::ListResult { outputs: outputs() }),
        Request::OutputSearch(params) => Reply::OutputSearch(found(&params.query)),
        Request::OutputRemove(params) if params.handle == "out_none" => return Err(nothing()),
        Request::OutputRemove(_) => Reply::OutputRemove(shelf::RemoveResult { bytes: 1536 }),
        Request::OutputGc(_) => Reply::OutputGc(GcResult { expired: vec![old()], freed: 7, files: 1, bytes: 1536 }),
        Request::OutputRead(params) => Reply::OutputRead(read(&params)?),
        Request::ContextClassifyError(params) => Reply::ContextClassifyError(classified(&params.text)),
        Request::ContextCacheControl(params) => {
            Reply::ContextCacheControl(CacheControlResult { messages: params.messages })
        }
        Request::ContextCheck(params) => Reply::ContextCheck(checked(params.tokens.unwrap_or(90_000))),
        Request::ContextTools(params) => Reply::ContextTools(chosen(params)),
        Request::ContextPin(params) => Reply::ContextPin(Pin { until: params.until, ..pinned() }),
        Request::ContextPins(_) => Reply::ContextPins(PinsResult { pins: vec![pinned()], most_tokens: Some(20_000) }),
        Request::ContextUnpin(_) => Reply::ContextUnpin(UnpinResult {}),
        Request::ContextSchema(_) => Reply::ContextSchema(SchemaResult { tools: Vec::new() }),
        Request::ContextDiscard(_) => Reply::ContextDiscard(DiscardResult { outputs: 2, tokens: 31_000 }),
        Request::ContextOpen(params) => Reply::ContextOpen(OpenResult {
            at: 1,
            messages: params.messages.unwrap_or_default(),
            node: params.node,
            ..OpenResult::default()
        }),
        Request::ContextFold(params) => Reply::ContextFold(FoldResult {
            folded: params.node.into_iter().collect(),
            remove: vec![(0, 1)],
            ..FoldResult::default()
        }),
        Request::ContextUndo(params) => Reply::ContextUndo(undone(params)),
        Request::SessionUsage(_) => Reply::SessionUsage(used()),
        Request::SessionList(params) => {
            let sessions = vec![session(); usize::try_from(params.limit.unwrap().min(2)).unwrap()];
            Reply::SessionList(chain::ListResult { sessions })
        }
        Request::SessionShow(_) => Reply::SessionShow(session()),
        Request::SessionTip(params) => Reply::SessionTip(SessionId { session: format!("{}-tip", params.session) }),
        Request::SessionResumeTarget(params) => Reply::SessionResumeTarget(SessionId { session: params.session }),
        Request::SessionUpdate(_) => Reply::SessionUpdate(herma_client::protocol::session::UpdateResult {}),
        Request::SessionNextTitle(params) => {
            Reply::SessionNextTitle(NextTitleResult { title: format!("{} #2", params.title) })
        }
        Request::SessionAppend(params) if params.generation > 0 => {
            let data = json!({ "generation": 0, "position": 2 });
            return Err(RpcError::new(ErrorKind::Conflict, "it is at generation 0").with_details(&data));
        }
        Request::SessionAppend(params) => {
            let count = u64::try_from(params.messages.len()).unwrap();
            Reply::SessionAppend(AppendResult { position: params.position + count, ..Default::default() })
        }
        Request::SessionImport(params) => {
            let count = u64::try_from(params.messages.len()).unwrap();
            Reply::SessionImport(ImportResult { position: params.position + count, ..Default::default() })
        }
        Request::SessionLock(params) => Reply::SessionLock(LockResult { ok: params.holder == "me" }),
        Request::SessionUnlock(params) => Reply::SessionUnlock(LockResult { ok: params.holder == "me" }),
        Request::SessionLockHolder(params) if params.session == "t" => {
            Reply::SessionLockHolder(LockHolderResult { holder: None })
        }
        Request::SessionRemove(params) if params.session == "none" => return Err(nothing()),
        Request::SessionRemove(_) => Reply::SessionRemove(RemoveResult { messages: 1200, outputs: 1, bytes: 1536 }),
        Request::RecallSearch(params) => Reply::RecallSearch(recalled(&params.query)),
        Request::RecallExpand(params) => Reply::RecallExpand(recall::ExpandResult {
            items: vec![Item {
                handle: params.handle,
                role: Some("user".into()),
                text: "the heron".into(),
                ..Item::default()
            }],
            next: Some("msg_9".into()),
            recalled: true,
        }),
        Request::RecallSchema(_) => {
            let tools = vec![Json::parse("{\"name\":\"recall_search\"}".into()).unwrap()];
            Reply::RecallSchema(recall::SchemaResult { tools })
        }
        other => sample(other.method()),
    })
}

/// Returns the reply of a method's golden file.
fn sample(method: Method) -> Reply {
    let file = format!("{}/tests/golden/v2/{}.json", env!("CARGO_MANIFEST_DIR"), method.name());
    let text = std::fs::read_to_string(file).unwrap();
    let (_, reply) = jsonrpc::read_reply(text.lines().nth(1).unwrap().as_bytes(), method).unwrap();
    reply.unwrap()
}

fn nothing() -> RpcError {
    RpcError::new(ErrorKind::NotFound, "there is no such thing")
}

fn read(params: &ReadParams) -> Result<ReadResult, RpcError> {
    match params.handle.as_deref() {
        Some("out_1:120") => {
            Ok(ReadResult { text: "line 120\n".into(), next: None, total_lines: 120, total_chars: 1500 })
        }
        _ => {
            let data = json!({ "expired_at": 60.0, "bytes": 7, "sha256": "ab", "reason": "ttl" });
            Err(RpcError::new(ErrorKind::NotFound, "it expired").with_details(&data))
        }
    }
}

/// Returns a kept output and a removed one.
fn outputs() -> Vec<Row> {
    let kept = Row {
        handle: "out_1".into(),
        session: "s".into(),
        tool: "terminal".into(),
        id: "call_1".into(),
        path: "/h/s/call_1.txt".into(),
        chars: 1500,
        bytes: 1536,
        sha256: "ab".into(),
        created_at: 0.0,
        state: State::Kept,
        expired_at: None,
        reason: None,
    };
    let gone = Row {
        handle: "out_0".into(),
        state: State::Expired,
        expired_at: Some(60.0),
        reason: Some(Reason::Ttl),
        ..kept.clone()
    };
    vec![kept, gone]
}

fn old() -> Expired {
    Expired {
        handle: "out_0".into(),
        session: "s".into(),
        tool: "terminal".into(),
        id: "call_0".into(),
        bytes: 7,
        reason: Reason::Quota,
    }
}

fn found(query: &str) -> Found {
    let matched = Match {
        handle: "out_1".into(),
        line: 7,
        text: "it failed here".into(),
        before: vec!["before".into()],
        start: 3,
        end: 9,
        ..Match::default()
    };
    if query == "nowhere" { Found::default() } else { Found { matches: vec![matched], more: true } }
}

fn used() -> UsageResult {
    let row = UsageRow { key: "m".into(), calls: 2, prompt: 5000, output: 70, total: 5070, ..UsageRow::default() };
    let total = Totals { calls: 2, prompt: 5000, output: 70, total: 5070, ..Totals::default() };
    UsageResult { rows: vec![row], total }
}

fn session() -> chain::Row {
    chain::Row {
        session: "s".into(),
        title: Some("Herma".into()),
        profile: "default".into(),
        started_at: 1_790_000_000.25,
        lineage_root: "s".into(),
        ..chain::Row::default()
    }
}

/// Keeps the first tool.
fn chosen(params: ToolsParams) -> ToolsResult {
    let state = |at| if at == 0 { ToolState::Kept } else { ToolState::Stub };
    let row = |at| ToolUse { name: Some(format!("tool_{at}")), tokens: 1200, calls: 3, state: state(at) };
    ToolsResult {
        tools: (0..params.tools.len()).map(row).collect(),
        list: params.tools,
        tokens_before: 2400,
        tokens_after: 1300,
        opener: Some("open_tools".into()),
    }
}

fn pinned() -> Pin {
    Pin {
        id: "pin_0123456789abcdef".into(),
        role: "tool".into(),
        text: "the plan".into(),
        tokens: 1_200,
        ..Pin::default()
    }
}

fn undone(params: UndoParams) -> UndoResult {
    let is_look = params.dry_run == Some(true);
    let said = |text: &str| Json::parse(format!("{{ \"role\": \"user\", \"content\": \"{text}\" }}")).unwrap();
    UndoResult {
        session: params.session,
        generation: if is_look { 3 } else { 4 },
        restored: params.generation.unwrap_or(2),
        undone: vec!["cmp_1_3".into()],
        archived: (!is_look).then(|| Archived { handle: "cmp_1_4".into(), messages: 1 }),
        messages: params.messages.unwrap_or_else(|| vec![said("one"), said("two")]),
        since: 1,
        chars: 80,
        tokens: 20,
        threshold: Some(50_000),
        context_length: Some(100_000),
        over_threshold: false,
    }
}

fn recalled(query: &str) -> recall::SearchResult {
    let hit = Hit {
        handle: "msg_1".into(),
        kind: Kind::Message,
        session: Some("s".into()),
        agent: None,
        source: None,
        cwd: None,
        role: Some("user".into()),
        time: 0.0,
        snippet: "the heron nests".into(),
        start: 4,
        end: 9,
        score: 1.5,
        node: None,
        host: (query == "elsewhere").then(|| "cellar".into()),
        before: Vec::new(),
        after: Vec::new(),
    };
    let hits = if query == "nowhere" { vec![] } else { vec![hit] };
    recall::SearchResult { more: !hits.is_empty(), hits, notice: None, recalled: true }
}

fn shared() -> StatusResult {
    StatusResult {
        configured: true,
        host: Some("attic".into()),
        space: Some("team".into()),
        database: Some("agents@db:5432/herma".into()),
        open: Some(false),
        state: SharedState::Down,
        since: Some(0.0),
        error: Some("the shared database can't be reached".into()),
        offline: "queue".into(),
        stores: Vec::new(),
        outputs: None,
        sessions: None,
        left_out: Vec::new(),
        messages: Some(SharedMessages { waiting: 1_234, error: Some("a refusal".into()) }),
    }
}

fn joined() -> JoinedStore {
    let left_out = LeftOut { entry: "likes milk".into(), why: "no room".into(), pending_id: Some("0a1b2c3d".into()) };
    let brought = vec!["likes tea".into()];
    JoinedStore { target: Target::User, revision: 3, found: 2, brought, left_out: vec![left_out] }
}

fn classified(text: &str) -> ClassifyErrorResult {
    let (kind, limit, left) = match text {
        "too long" => (ErrorClass::InputTooLong, Some(32_768), None),
        "answer" => (ErrorClass::OutputCap, None, Some(1_200)),
        _ => (ErrorClass::Other, None, None),
    };
    ClassifyErrorResult {
        kind,
        context_limit: limit,
        lower_limit: limit,
        available_output: left,
        next_tier: limit.map(|_| 64_000),
    }
}

fn checked(tokens: u64) -> CheckResult {
    let (compress, reason, wait_s) = match tokens {
        ..1_000 => (false, CheckReason::BelowThreshold, 0.0),
        1_000..2_000 => (false, CheckReason::Cooldown, 29.2),
        _ => (true, CheckReason::OverThreshold, 0.0),
    };
    CheckResult { compress, reason, defer: false, tokens, threshold: 64_000, pressure: 0.755, wait_s }
}
