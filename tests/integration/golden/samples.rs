//! One request and one reply of every method, with every field set. The literals
//! name all fields, so that a new one doesn't compile before it is here.

pub(crate) mod contexts;
mod files;
pub(crate) mod outputs;
mod recall;
mod sessions;
mod shared;
mod stores;
mod trajectories;
mod usage;

use std::collections::BTreeMap;

use herma_protocol::value::{Content, Size, TextOrOff};
use herma_protocol::{Json, Method, Reply, Request, context, daemon, guard, memory, output, profile, session};

use stores::{
    add, approve, approve_result, batch, finding, log, log_result, pending_result, remove, replace, restore,
    store_view, tool, undo, write_result,
};

/// A request and a reply with texts and lists that are too large for their JSON.
pub(crate) fn attached() -> (Request, Reply) {
    let long = |line: &str| line.repeat(5000 / line.len());
    let result = |content| output::TurnResult { id: Some("call_1".into()), tool: Some("terminal".into()), content };
    let request = Request::OutputSettleTurn(output::SettleTurnParams {
        session: "s-1".into(),
        results: Some(vec![
            result(Content::Text(long("a \"line\"\n"))),
            result(Content::Text("short".into())),
            result(Content::Parts(vec![json(&format!(r#"{{"text": "{}"}}"#, long("é")))])),
        ]),
        messages: Some(vec![message(), json(&format!(r#"{{"role":"tool", "content":"{}"}}"#, long("日本")))]),
        config: None,
    });
    let content = Content::Text(long("§\n"));
    let replacement = output::Replacement { index: 0, content, handle: None, path: None };
    (request, Reply::OutputSettleTurn(output::SettleTurnResult { replacements: vec![replacement], total: 5000 }))
}

/// The sample of a method.
pub(crate) fn of(method: Method) -> (Request, Reply) {
    match method {
        Method::Hello => (Request::Hello(hello()), Reply::Hello(hello_result())),
        Method::Ping => (Request::Ping(daemon::PingParams {}), Reply::Ping(daemon::PingResult {})),
        Method::Status => (Request::Status(daemon::StatusParams {}), Reply::Status(status_result())),
        Method::Shutdown => (
            Request::Shutdown(daemon::ShutdownParams { drain_ms: Some(1500) }),
            Reply::Shutdown(daemon::ShutdownResult {}),
        ),
        Method::MemoryAdd => (Request::MemoryAdd(add()), Reply::MemoryAdd(write_result())),
        Method::MemoryReplace => (Request::MemoryReplace(replace()), Reply::MemoryReplace(write_result())),
        Method::MemoryRemove => (Request::MemoryRemove(remove()), Reply::MemoryRemove(write_result())),
        Method::MemoryBatch => (Request::MemoryBatch(batch()), Reply::MemoryBatch(write_result())),
        Method::MemoryList => (
            Request::MemoryList(memory::ListParams { target: Some(memory::Target::User), raw: Some(true) }),
            Reply::MemoryList(memory::ListResult {
                memory: Some(store_view()),
                user: Some(store_view()),
                pending_count: Some(3),
            }),
        ),
        Method::MemoryTool => (Request::MemoryTool(tool()), Reply::MemoryTool(write_result())),
        Method::MemorySchema => (
            Request::MemorySchema(memory::SchemaParams {}),
            Reply::MemorySchema(memory::SchemaResult {
                tool: json(r#"{"name":"memory","parameters":{"type":"object"}}"#),
                guidance: "You have a memory.".into(),
            }),
        ),
        Method::SessionOpen => (Request::SessionOpen(open()), Reply::SessionOpen(open_result())),
        Method::SessionSnapshot => (
            Request::SessionSnapshot(session::SnapshotParams { session: "s-1".into() }),
            Reply::SessionSnapshot(snapshot()),
        ),
        Method::SessionClose => (
            Request::SessionClose(session::CloseParams { session: "s-1".into(), reason: Some("done".into()) }),
            Reply::SessionClose(session::CloseResult {}),
        ),
        Method::OutputAdmit => (Request::OutputAdmit(admit()), Reply::OutputAdmit(admit_result())),
        Method::OutputSettleTurn => (Request::OutputSettleTurn(settle()), Reply::OutputSettleTurn(settle_result())),
        Method::OutputPreview => (
            Request::OutputPreview(output::PreviewParams { content: "a\nb".into(), max: Some(2), tail: Some(1) }),
            Reply::OutputPreview(output::PreviewResult { text: "a\n".into(), has_more: true, tail: Some("b".into()) }),
        ),
        Method::OutputRead => (Request::OutputRead(read()), Reply::OutputRead(read_result())),
        Method::ContextConfigure => (Request::ContextConfigure(configure()), Reply::ContextConfigure(status())),
        Method::ContextStatus => {
            (Request::ContextStatus(context::StatusParams { session: "s-1".into() }), Reply::ContextStatus(status()))
        }
        Method::ContextConstants => {
            (Request::ContextConstants(context::ConstantsParams {}), Reply::ContextConstants(constants_result()))
        }
        Method::ContextEstimate => (
            Request::ContextEstimate(context::EstimateParams {
                text: Some("日本".into()),
                messages: Some(vec![message()]),
                system_prompt: Some("be brief".into()),
                tools: Some(vec![json(r#"{"name":"grep"}"#)]),
            }),
            Reply::ContextEstimate(context::EstimateResult { tokens: 1, own: 300, budget_chars: 70_000 }),
        ),
        Method::ContextPlan => (Request::ContextPlan(plan()), Reply::ContextPlan(plan_result())),
        Method::ContextCompress => contexts::compress(),
        Method::GuardScan => (
            Request::GuardScan(guard::ScanParams { text: Some("text".into()), scope: Some(guard::Scope::Strict) }),
            Reply::GuardScan(guard::ScanResult { findings: vec![finding()], message: Some("Blocked: it".into()) }),
        ),
        Method::GuardRedact => (
            Request::GuardRedact(guard::RedactParams {
                text: Some("token".into()),
                force: Some(true),
                code: Some(false),
                enabled: Some(true),
            }),
            Reply::GuardRedact(guard::RedactResult { text: Some("***".into()), count: 1 }),
        ),
        Method::Subscribe => (
            Request::Subscribe(daemon::SubscribeParams { topics: vec!["memory.changed".into()] }),
            Reply::Subscribe(daemon::SubscribeResult { topics: vec!["memory.changed".into()] }),
        ),
        Method::MemoryLog => (Request::MemoryLog(log()), Reply::MemoryLog(log_result())),
        Method::MemoryUndo => (Request::MemoryUndo(undo()), Reply::MemoryUndo(write_result())),
        Method::MemoryRestore => (Request::MemoryRestore(restore()), Reply::MemoryRestore(write_result())),
        Method::MemoryPending => {
            (Request::MemoryPending(memory::PendingParams {}), Reply::MemoryPending(pending_result()))
        }
        Method::MemoryApprove => (Request::MemoryApprove(approve()), Reply::MemoryApprove(approve_result())),
        Method::MemoryReject => (
            Request::MemoryReject(memory::RejectParams { ids: Some(vec!["0a1b2c3d".into()]), all: Some(false) }),
            Reply::MemoryReject(memory::RejectResult { rejected: vec!["0a1b2c3d".into()] }),
        ),
        Method::SessionRefresh => (
            Request::SessionRefresh(session::RefreshParams { session: "s-1".into() }),
            Reply::SessionRefresh(snapshot()),
        ),
        Method::ProfileCreate => (
            Request::ProfileCreate(profile::CreateParams { name: "work".into() }),
            Reply::ProfileCreate(profile::CreateResult { created: true }),
        ),
        Method::ProfileList => (
            Request::ProfileList(profile::ListParams {}),
            Reply::ProfileList(profile::ListResult {
                profiles: vec![profile::Profile { name: "work".into(), memory_limit: 2200, user_limit: 1375 }],
            }),
        ),
        Method::SharedStatus => shared::status(),
        Method::SharedInit => shared::init(),
        Method::SharedJoin => shared::join(),
        Method::SharedLeave => shared::leave(),
        Method::MemoryQueued => shared::queued(),
        Method::FilesList => files::list(),
        Method::FilesRead => files::read(),
        Method::FilesWrite => files::write(),
        Method::FilesDelete => files::delete(),
        Method::FilesRename => files::rename(),
        Method::FilesTool => files::tool(),
        Method::FilesLog => files::log(),
        Method::FilesUndo => files::undo(),
        Method::FilesRestore => files::restore(),
        Method::SessionAppend => sessions::append(),
        Method::SessionImport => sessions::import(),
        Method::SessionList => sessions::list(),
        Method::SessionShow => sessions::show(),
        Method::SessionTip => sessions::tip(),
        Method::SessionResumeTarget => sessions::resume_target(),
        Method::SessionNextTitle => sessions::next_title(),
        Method::SessionLock => sessions::lock(),
        Method::SessionUnlock => sessions::unlock(),
        Method::SessionLockHolder => sessions::lock_holder(),
        Method::SessionRemove => sessions::remove(),
        Method::SessionUsage => sessions::usage(),
        Method::OutputSearch => outputs::search(),
        Method::OutputList => outputs::list(),
        Method::OutputRemove => outputs::remove(),
        Method::OutputGc => outputs::gc(),
        Method::ContextRecordUsage => usage::record(),
        Method::RecallSearch => recall::search(),
        Method::RecallExpand => recall::expand(),
        Method::RecallDescribe => recall::describe(),
        Method::RecallState => recall::state(),
        Method::RecallAsk => recall::ask(),
        Method::RecallSchema => recall::schema(),
        Method::ContextTools => contexts::tools(),
        Method::ContextUndo => contexts::undo(),
        Method::ContextPin => contexts::pin(),
        Method::ContextPins => contexts::pins(),
        Method::ContextUnpin => contexts::unpin(),
        Method::ContextDiscard => contexts::discard(),
        Method::ContextEpisode => contexts::episode(),
        Method::ContextSchema => contexts::schema(),
        Method::ContextOpen => contexts::open(),
        Method::ContextFold => contexts::fold(),
        Method::ContextCheck => contexts::check(),
        Method::ContextReset => contexts::reset(),
        Method::ContextResume => contexts::resume(),
        Method::ContextCompactAhead => contexts::compact_ahead(),
        Method::ContextClassifyError => contexts::classify_error(),
        Method::ContextCacheControl => contexts::cache_control(),
        Method::ContextManual => contexts::manual(),
        Method::ConstraintAdd => contexts::constraint_add(),
        Method::ConstraintList => contexts::constraint_list(),
        Method::ConstraintRemove => contexts::constraint_remove(),
        Method::TrajectoryCompress => trajectories::compress(),
    }
}

/// JSON that must come back byte for byte.
fn json(text: &str) -> Json {
    Json::parse(text.to_owned()).unwrap()
}

fn message() -> Json {
    json(r#"{"content": "A\u00fc \"quoted\"","role":"user", "cost": 1.0}"#)
}

fn hello() -> daemon::HelloParams {
    daemon::HelloParams { client: Some("agent 1.2".into()), protocol: Some(1) }
}

fn hello_result() -> daemon::HelloResult {
    daemon::HelloResult {
        server: "hermad 0.1.0".into(),
        protocol: 1,
        pid: 70_000,
        home: "/home/me/.hermes".into(),
        methods: vec!["hello".into(), "ping".into()],
        limits: daemon::WireLimits { frame: 67_108_864, in_flight: 536_870_912, connections: 1024, requests: 64 },
    }
}

fn status_result() -> daemon::StatusResult {
    let counts = daemon::MethodCounts { count: 3, p50_us: 11.5, p99_us: 250.0 };
    daemon::StatusResult {
        uptime_s: 12.5,
        rss_bytes: 9_000_000,
        connections: 2,
        requests: daemon::RequestCounts { total: 4, errors: 1, by_method: BTreeMap::from([("ping".into(), counts)]) },
        sessions: daemon::SessionCounts { open: 1, total: 300 },
        stores: vec![daemon::StoreStatus {
            profile: "work".into(),
            target: memory::Target::User,
            entries: 2,
            chars: 1400,
            limit: 1375,
            revision: 17,
            state: daemon::StoreState::OverLimit,
            journal: daemon::JournalState::Damaged,
        }],
        outputs: daemon::OutputCounts { files: 1, bytes: 150_000, quota: 2_147_483_648 },
        archive: daemon::ArchiveStatus { state: "ok".into(), bytes: 45_056 },
        summarizer: daemon::SummarizerStatus { kind: "extractive".into(), state: "ok".into() },
    }
}

fn open() -> session::OpenParams {
    session::OpenParams {
        session: "s-1".into(),
        agent: Some("hermes".into()),
        parent: Some("s-0".into()),
        title: Some("Herma".into()),
        model: Some("m-large".into()),
        context_length: Some(200_000),
        host_bound: Some(true),
    }
}

fn snapshot() -> session::Snapshot {
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
        snapshot: snapshot(),
        moved_from: Some("attic".into()),
    }
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

fn admit() -> output::AdmitParams {
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
        handle: Some("out_0123456789abcdef0123".into()),
        path: Some("/h/herma/outputs/s-1/call_1.txt".into()),
        chars: 150_000,
        lines: 1200,
        sha256: "cd".repeat(32),
        failure: Some(output::Failure::StorageFull),
    }
}

fn settle() -> output::SettleTurnParams {
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
            handle: Some("out_0123456789abcdef0123".into()),
            path: Some("/h/herma/outputs/s-1/call_1.txt".into()),
        }],
        total: 199_000,
    }
}

fn read() -> output::ReadParams {
    output::ReadParams {
        handle: Some("out_0123456789abcdef0123".into()),
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

fn settings() -> context::Settings {
    context::Settings {
        model: Some("m-large".into()),
        context_length: Some(200_000),
        threshold: Some(0.5),
        target_ratio: Some(0.25),
        protect_first_n: Some(3),
        protect_last_n: Some(20),
        summary_model: Some("m-small".into()),
        provider: Some("openai".into()),
        base_url: Some("http://127.0.0.1:1/v1".into()),
        api_mode: Some("chat".into()),
        abort_on_summary_failure: Some(false),
        engine: Some("compressor".into()),
        summarizer: Some("extractive".into()),
        redact: Some(true),
    }
}

fn configure() -> context::ConfigureParams {
    let settings = settings();
    context::ConfigureParams {
        session: "s-1".into(),
        model: settings.model,
        context_length: settings.context_length,
        threshold: settings.threshold,
        target_ratio: settings.target_ratio,
        protect_first_n: settings.protect_first_n,
        protect_last_n: settings.protect_last_n,
        summary_model: settings.summary_model,
        provider: settings.provider,
        base_url: settings.base_url,
        api_mode: settings.api_mode,
        abort_on_summary_failure: settings.abort_on_summary_failure,
        engine: settings.engine,
        summarizer: settings.summarizer,
        redact: settings.redact,
    }
}

fn aux_failure() -> context::AuxFailure {
    context::AuxFailure { model: "m-small".into(), error: "429".into() }
}

fn status() -> context::StatusResult {
    context::StatusResult {
        engine: "compressor".into(),
        model: "m-large".into(),
        context_length: 200_000,
        threshold: 0.5,
        threshold_tokens: 100_000,
        target_ratio: 0.2,
        tail_token_budget: 20_000,
        max_summary_tokens: 10_000,
        protect_first_n: 3,
        protect_last_n: 20,
        last_prompt_tokens: -1,
        last_completion_tokens: 12,
        last_total_tokens: 70_000,
        last_real_prompt_tokens: 69_988,
        usage_percent: 35.5,
        compression_count: 2,
        last_compression_rough_tokens: 40_000,
        last_rough_tokens_when_real_prompt_fit: 39_000,
        awaiting_real_usage: true,
        generation: 2,
        previous_summary: Some("## Goal".into()),
        summary_model: Some("m-small".into()),
        last_error: Some("timeout".into()),
        dropped: 168,
        fallback: true,
        aborted: false,
        aux_failure: Some(aux_failure()),
        savings_pct: 61.25,
        ineffective_count: 1,
        cooldown_s: 30.5,
        breaker: context::Breaker::HalfOpen,
        wait_s: 1.5,
    }
}

fn constants_result() -> context::ConstantsResult {
    context::ConstantsResult {
        prefix: "[CONTEXT COMPACTION — REFERENCE ONLY]".into(),
        end_marker: "--- END OF CONTEXT SUMMARY ---".into(),
        metadata_key: "_compressed_summary".into(),
        headings: context::Headings {
            task: "## Historical Task Snapshot".into(),
            in_progress: "## Historical In-Progress State".into(),
            pending: "## Historical Pending User Asks".into(),
            remaining: "## Historical Remaining Work".into(),
        },
        image_tokens: 1500,
        image_chars: 6400,
        min_context: 64_000,
        probe_tiers: vec![256_000, 128_000],
    }
}

fn plan() -> context::PlanParams {
    context::PlanParams {
        messages: vec![message()],
        session: Some("s-1".into()),
        config: Some(settings()),
        focus: Some(TextOrOff::Text("the socket".into())),
        previous_summary: Some("## Goal".into()),
        today: Some(TextOrOff::Off),
        preview: None,
        detail: None,
        range: None,
    }
}

fn plan_result() -> context::PlanResult {
    context::PlanResult {
        head_size: 4,
        start: 5,
        end: 180,
        min_tail: 8,
        pruned: 60,
        messages: vec![message()],
        serialized: "[USER]: hello".into(),
        prompt: Some("Write the record.".into()),
        max_tokens: Some(13_000),
        summary_budget: 10_000,
        focus: Some("the socket".into()),
        previous_summary: Some("## Goal".into()),
        scores: Vec::new(),
        superseded: Vec::new(),
        preview: None,
    }
}
