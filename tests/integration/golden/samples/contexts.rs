//! Samples of compressions, constraints and related methods.

use herma_protocol::context::cache_control::{CacheControlParams, CacheControlResult, Ttl};
use herma_protocol::context::check::{CheckParams, CheckReason, CheckResult, ResetParams};
use herma_protocol::context::manual::{ManualParams, ManualResult};
use herma_protocol::context::provider_error::{ClassifyErrorParams, ClassifyErrorResult, ErrorClass};
use herma_protocol::notification::{CompressionDone, CompressionProgress, Phase};
use herma_protocol::value::TextOrOff;
use herma_protocol::{Notification, Reply, Request, constraint, context};

use super::engines::{aux_failure, status_result};
use super::{json, message};

pub(super) fn compress() -> (Request, Reply) {
    let result = context::CompressResult::Done(Box::new(compressed()));
    (Request::ContextCompress(compress_params()), Reply::ContextCompress(result))
}

fn compress_params() -> context::CompressParams {
    context::CompressParams {
        session: "s-1".into(),
        messages: Some(vec![message()]),
        current_tokens: Some(-1),
        focus: Some(TextOrOff::Off),
        today: Some(TextOrOff::Text("2026-11-20".into())),
        force: Some(true),
        overflow: Some(true),
        memory_context: Some("The user prefers short answers.".into()),
        summarizer: Some("extractive".into()),
        reply: Some(context::ReplyForm::Edits),
        mode: Some(context::Mode::Continue),
        detail: None,
        range: None,
        place: None,
        target: None,
        host: None,
    }
}

fn compressed() -> context::Compressed {
    context::Compressed {
        messages: Some(vec![message()]),
        edits: Some(context::Edits {
            keep: vec![(0, 4), (180, 201)],
            replace: vec![context::Replace { index: 181, message: message() }],
            insert: vec![context::Insert { at: 180, message: message() }],
        }),
        report: report(),
    }
}

fn over() -> context::Over {
    let parts = [(context::Part::System, 40_000), (context::Part::Head, 900), (context::Part::LastExchange, 64_000)];
    let parts = parts.map(|(part, tokens)| context::OverPart { part, tokens });
    context::Over { threshold: 100_000, tokens: 104_900, parts: parts.to_vec() }
}

fn report() -> context::Report {
    context::Report {
        compressed: true,
        reason: Some("nothing".into()),
        generation: 3,
        session: "s-1".into(),
        messages_before: 201,
        messages_after: 26,
        chars_before: 900_000,
        chars_after: 80_000,
        tokens_before: 225_000,
        tokens_after: 20_000,
        head: 4,
        tail: 21,
        pruned: 60,
        archived: Some(context::Archived { handle: "cmp_0123456789ab_3".into(), messages: 176 }),
        summarizer: "extractive".into(),
        fallback: true,
        aborted: false,
        dropped: 176,
        aux_failure: Some(aux_failure()),
        error: Some("timeout".into()),
        savings_pct: 91.5,
        ineffective_count: 1,
        compression_count: 3,
        cooldown_s: 0.5,
        constraints: 2,
        anchors: 40,
        unverified: vec!["never said".into()],
        warnings: vec!["compressed 3 times".into()],
        elapsed_ms: 12.75,
        over: Some(over()),
        verbatim: Vec::new(),
        shortened: Vec::new(),
        invalidated_tokens: 0,
        pays_after_calls: None,
        pinned: 0,
        discarded: 0,
        episodes: 0,
        folded: Vec::new(),
    }
}

pub(super) fn resume() -> (Request, Reply) {
    let params = context::ResumeParams {
        ticket: "sum_0a1b".into(),
        summary: Some("## Goal".into()),
        error: Some(context::ResumeError {
            text: "no such model".into(),
            status: Some(404),
            kind: Some(context::FailureKind::NoProvider),
        }),
    };
    let request = context::SummaryRequest {
        task: "compression".into(),
        model: Some("m-small".into()),
        messages: vec![message()],
        max_tokens: 13_000,
        place: None,
    };
    let result = context::NeedsSummary { ticket: "sum_1c2d".into(), request };
    (Request::ContextResume(params), Reply::ContextResume(context::CompressResult::NeedsSummary(result)))
}

pub(super) fn compact_ahead() -> (Request, Reply) {
    let params =
        context::CompactAheadParams { session: "s-1".into(), focus: Some(TextOrOff::Text("the socket".into())) };
    let result = context::CompactAheadResult { job: "job_1".into(), state: context::JobState::Ready };
    (Request::ContextCompactAhead(params), Reply::ContextCompactAhead(result))
}

pub(super) fn tools() -> (Request, Reply) {
    let tool =
        || json(r#"{"type":"function","function":{"name":"grep","description":"Finds lines.","parameters":{}}}"#);
    let params = context::tools::ToolsParams {
        session: "s-1".into(),
        tools: vec![tool(), tool()],
        budget: Some(4_000),
        open: Some(vec!["grep".into()]),
    };
    let tool_use = |state| context::tools::ToolUse { name: Some("grep".into()), tokens: 60, calls: 7, state };
    let result = context::tools::ToolsResult {
        list: vec![tool()],
        tools: vec![
            tool_use(context::tools::ToolState::Kept),
            tool_use(context::tools::ToolState::Opened),
            tool_use(context::tools::ToolState::Stub),
        ],
        tokens_before: 9_000,
        tokens_after: 3_900,
        opener: Some("open_tools".into()),
    };
    (Request::ContextTools(params), Reply::ContextTools(result))
}

pub(super) fn undo() -> (Request, Reply) {
    let params = context::undo::UndoParams {
        session: "s-1".into(),
        generation: Some(2),
        messages: Some(vec![message()]),
        dry_run: Some(false),
    };
    let result = context::undo::UndoResult {
        session: "s-1".into(),
        generation: 4,
        restored: 2,
        undone: vec!["cmp_0123456789ab_3".into()],
        archived: Some(context::Archived { handle: "cmp_0123456789ab_4".into(), messages: 1 }),
        messages: vec![message(), message()],
        since: 1,
        chars: 400_000,
        tokens: 100_000,
        threshold: Some(96_000),
        context_length: Some(128_000),
        over_threshold: true,
    };
    (Request::ContextUndo(params), Reply::ContextUndo(result))
}

pub(super) fn pin() -> (Request, Reply) {
    let params = context::pins::PinParams {
        session: "s-1".into(),
        position: Some(12),
        handle: Some("out_20261121_5f2a".into()),
        message: Some(message()),
        until: Some(1_764_000_000.5),
    };
    (Request::ContextPin(params), Reply::ContextPin(pinned()))
}

pub(super) fn pins() -> (Request, Reply) {
    let params = context::pins::PinsParams { session: "s-1".into() };
    let result = context::pins::PinsResult { pins: vec![pinned()], most_tokens: Some(20_000) };
    (Request::ContextPins(params), Reply::ContextPins(result))
}

pub(super) fn unpin() -> (Request, Reply) {
    let params = context::pins::UnpinParams { session: "s-1".into(), id: "pin_0123456789abcdef".into() };
    (Request::ContextUnpin(params), Reply::ContextUnpin(context::pins::UnpinResult {}))
}

pub(super) fn open() -> (Request, Reply) {
    let params = context::opened::OpenParams {
        session: "s-1".into(),
        node: "nod_9a3c41f0b2de_7".into(),
        messages: Some(vec![message()]),
    };
    let result = context::opened::OpenResult {
        node: "nod_9a3c41f0b2de_7".into(),
        at: 4,
        messages: vec![message()],
        tokens: 18_204,
        list_tokens: 61_300,
        threshold: Some(100_000),
        open: vec!["nod_9a3c41f0b2de_7".into()],
    };
    (Request::ContextOpen(params), Reply::ContextOpen(result))
}

pub(super) fn fold() -> (Request, Reply) {
    let params = context::opened::FoldParams {
        session: "s-1".into(),
        node: Some("nod_9a3c41f0b2de_7".into()),
        messages: Some(vec![message()]),
    };
    let result = context::opened::FoldResult {
        folded: vec!["nod_9a3c41f0b2de_7".into()],
        remove: vec![(4, 30)],
        list_tokens: 43_096,
        open: vec!["nod_9a3c41f0b2de_9".into()],
    };
    (Request::ContextFold(params), Reply::ContextFold(result))
}

pub(super) fn discard() -> (Request, Reply) {
    let params = context::discard::DiscardParams {
        session: "s-1".into(),
        positions: Some(vec![14, 18]),
        handles: Some(vec!["out_20261121_5f2a".into()]),
        calls: None,
        messages: Some(vec![message()]),
        reason: Some("the logs are read ☕".into()),
    };
    let result = context::discard::DiscardResult { outputs: 4, tokens: 31_000 };
    (Request::ContextDiscard(params), Reply::ContextDiscard(result))
}

pub(super) fn episode() -> (Request, Reply) {
    let params = context::episode::EpisodeParams {
        session: "s-1".into(),
        action: context::episode::EpisodeAction::Close,
        title: "find the leak ☕".into(),
        outcome: Some("the pool kept its connections".into()),
        messages: Some(vec![message()]),
    };
    let result = context::episode::EpisodeResult {
        title: "find the leak ☕".into(),
        messages: 41,
        tokens: 31_000,
        open: vec!["the release".into()],
    };
    (Request::ContextEpisode(params), Reply::ContextEpisode(result))
}

pub(super) fn schema() -> (Request, Reply) {
    let result = context::schema::SchemaResult { tools: vec![message()] };
    (Request::ContextSchema(context::schema::SchemaParams {}), Reply::ContextSchema(result))
}

fn pinned() -> context::pins::Pin {
    context::pins::Pin {
        id: "pin_0123456789abcdef".into(),
        role: "tool".into(),
        text: "the plan ☕".into(),
        tokens: 1_200,
        at: 1_763_700_000.25,
        until: Some(1_764_000_000.5),
    }
}

pub(super) fn check() -> (Request, Reply) {
    let params = CheckParams {
        session: "s-1".into(),
        tokens: Some(70_000),
        messages: Some(vec![message()]),
        system_prompt: Some("be brief".into()),
        tools: Some(vec![json(r#"{"name":"grep"}"#)]),
    };
    let result = CheckResult {
        compress: true,
        reason: CheckReason::RateLimited,
        defer: true,
        tokens: 70_000,
        threshold: 64_000,
        pressure: 0.75,
        wait_s: 12.5,
    };
    (Request::ContextCheck(params), Reply::ContextCheck(result))
}

pub(super) fn reset() -> (Request, Reply) {
    (Request::ContextReset(ResetParams { session: "s-1".into() }), Reply::ContextReset(status_result()))
}

pub(super) fn classify_error() -> (Request, Reply) {
    let params = ClassifyErrorParams {
        text: "maximum context length is 32768 tokens".into(),
        status: Some(400),
        current: Some(128_000),
        session: Some("s-1".into()),
    };
    let result = ClassifyErrorResult {
        kind: ErrorClass::InputTooLong,
        context_limit: Some(32_768),
        lower_limit: Some(32_768),
        available_output: Some(300),
        next_tier: Some(64_000),
    };
    (Request::ContextClassifyError(params), Reply::ContextClassifyError(result))
}

pub(super) fn cache_control() -> (Request, Reply) {
    let params = CacheControlParams { messages: vec![message()], ttl: Some(Ttl::OneHour), native: Some(true) };
    (Request::ContextCacheControl(params), Reply::ContextCacheControl(CacheControlResult { messages: vec![message()] }))
}

pub(super) fn manual() -> (Request, Reply) {
    let params = ManualParams {
        text: Some("here 3".into()),
        history: Some(vec![message()]),
        keep: Some(3),
        head: Some(vec![message()]),
        tail: Some(vec![message()]),
        before: Some(vec![message()]),
        after: Some(vec![message()]),
        tokens_before: Some(70_000),
        tokens_after: Some(300),
    };
    let result = ManualResult::Feedback {
        noop: true,
        headline: "No changes".into(),
        token_line: "~300 tokens".into(),
        note: Some("denser".into()),
    };
    (Request::ContextManual(params), Reply::ContextManual(result))
}

pub(super) fn constraint_add() -> (Request, Reply) {
    let params = constraint::AddParams {
        session: "s-1".into(),
        text: "never push".into(),
        scope: Some(constraint::Scope::Once),
    };
    let result = constraint::AddResult { id: "c_0123456789ab".into() };
    (Request::ConstraintAdd(params), Reply::ConstraintAdd(result))
}

pub(super) fn constraint_list() -> (Request, Reply) {
    let constraint = constraint::Constraint {
        id: "c_0123456789ab".into(),
        text: "never push".into(),
        scope: constraint::Scope::Standing,
        source: constraint::Source::Found,
        at: 1_700_000_000.5,
    };
    let result = constraint::ListResult { constraints: vec![constraint] };
    (Request::ConstraintList(constraint::ListParams { session: "s-1".into() }), Reply::ConstraintList(result))
}

pub(super) fn constraint_remove() -> (Request, Reply) {
    let params = constraint::RemoveParams { session: "s-1".into(), id: "c_0123456789ab".into() };
    (Request::ConstraintRemove(params), Reply::ConstraintRemove(constraint::RemoveResult {}))
}

/// A progress notification of a compression.
pub(in super::super) fn progress() -> Notification {
    let phase = Phase::Summarise;
    Notification::CompressionProgress(CompressionProgress { session: "s-1".into(), phase, done: 0.25 })
}

/// The notification of a finished compression.
pub(crate) fn done() -> Notification {
    Notification::CompressionDone(Box::new(CompressionDone { session: "s-1".into(), report: report() }))
}
