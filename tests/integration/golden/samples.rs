//! One request and one reply of every method, with every field set. A new field doesn't compile until it is here.

pub(crate) mod contexts;
mod daemons;
mod engines;
mod files;
mod ledger;
pub(crate) mod notifications;
pub(crate) mod outputs;
mod recall;
mod sessions;
mod shared;
mod stores;
mod trajectories;
mod usage;

use herma_protocol::value::Content;
use herma_protocol::{Json, Method, Reply, Request, guard, memory, output, profile};

use stores::{
    add, approve, approve_result, batch, finding, log, log_result, pending_result, remove, replace, restore, revert,
    store_view, tool, undo, write_result,
};

/// A request and a reply whose texts and lists are so large that they become attachments.
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
        Method::Hello => daemons::hello(),
        Method::Ping => daemons::ping(),
        Method::Status => daemons::status(),
        Method::Shutdown => daemons::shutdown(),
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
        Method::SessionOpen => sessions::open(),
        Method::SessionSnapshot => sessions::snapshot(),
        Method::SessionClose => sessions::close(),
        Method::OutputAdmit => outputs::admit(),
        Method::OutputSettleTurn => outputs::settle_turn(),
        Method::OutputPreview => outputs::preview(),
        Method::OutputRead => outputs::read(),
        Method::ContextConfigure => engines::configure(),
        Method::ContextStatus => engines::status(),
        Method::ContextConstants => engines::constants(),
        Method::ContextEstimate => engines::estimate(),
        Method::ContextPlan => engines::plan(),
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
                captured: None,
            }),
            Reply::GuardRedact(guard::RedactResult { text: Some("***".into()), count: 1 }),
        ),
        Method::GuardScrub => (
            Request::GuardScrub(guard::scrub::ScrubParams { cursor: Some("messages:7".into()), dry_run: Some(true) }),
            Reply::GuardScrub(guard::scrub::ScrubResult {
                cursor: Some("outputs:".into()),
                stage: "messages".into(),
                done: 302,
                of: 302,
                changed: 2,
                secrets: vec![guard::SecretCount { kind: "key".into(), count: 3 }],
                left: vec![guard::scrub::Left { place: "session s-1".into(), why: "it is open".into() }],
            }),
        ),
        Method::Subscribe => daemons::subscribe(),
        Method::MemoryLog => (Request::MemoryLog(log()), Reply::MemoryLog(log_result())),
        Method::MemoryUndo => (Request::MemoryUndo(undo()), Reply::MemoryUndo(write_result())),
        Method::MemoryRevert => (Request::MemoryRevert(revert()), Reply::MemoryRevert(write_result())),
        Method::MemoryRestore => (Request::MemoryRestore(restore()), Reply::MemoryRestore(write_result())),
        Method::MemoryPending => {
            (Request::MemoryPending(memory::PendingParams {}), Reply::MemoryPending(pending_result()))
        }
        Method::MemoryApprove => (Request::MemoryApprove(approve()), Reply::MemoryApprove(approve_result())),
        Method::MemoryReject => (
            Request::MemoryReject(memory::RejectParams {
                ids: Some(vec!["0a1b2c3d".into()]),
                all: Some(false),
                ..memory::RejectParams::default()
            }),
            Reply::MemoryReject(memory::RejectResult { rejected: vec!["0a1b2c3d".into()] }),
        ),
        Method::SessionRefresh => sessions::refresh(),
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
        Method::LedgerRecord => ledger::record(),
        Method::LedgerRead => ledger::read(),
        Method::SessionAppend => sessions::append(),
        Method::SessionImport => sessions::import(),
        Method::SessionList => sessions::list(),
        Method::SessionMessages => sessions::messages(),
        Method::SessionShow => sessions::show(),
        Method::SessionTip => sessions::tip(),
        Method::SessionResumeTarget => sessions::resume_target(),
        Method::SessionNextTitle => sessions::next_title(),
        Method::SessionLock => sessions::lock(),
        Method::SessionUnlock => sessions::unlock(),
        Method::SessionUpdate => sessions::update(),
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

/// JSON that must be returned byte for byte.
fn json(text: &str) -> Json {
    Json::parse(text.to_owned()).unwrap()
}

fn message() -> Json {
    json(r#"{"content": "A\u00fc \"quoted\"","role":"user", "cost": 1.0}"#)
}
