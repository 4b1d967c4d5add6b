//! Samples of an engine's settings, constants, estimates, plans and status.

use herma_protocol::value::TextOrOff;
use herma_protocol::{Reply, Request, context};

use super::{json, message};

pub(super) fn configure() -> (Request, Reply) {
    (Request::ContextConfigure(configure_params()), Reply::ContextConfigure(status_result()))
}

pub(super) fn status() -> (Request, Reply) {
    (Request::ContextStatus(context::StatusParams { session: "s-1".into() }), Reply::ContextStatus(status_result()))
}

pub(super) fn constants() -> (Request, Reply) {
    (Request::ContextConstants(context::ConstantsParams {}), Reply::ContextConstants(constants_result()))
}

pub(super) fn estimate() -> (Request, Reply) {
    (
        Request::ContextEstimate(context::EstimateParams {
            text: Some("日本".into()),
            messages: Some(vec![message()]),
            system_prompt: Some("be brief".into()),
            tools: Some(vec![json(r#"{"name":"grep"}"#)]),
        }),
        Reply::ContextEstimate(context::EstimateResult { tokens: 1, own: 300, budget_chars: 70_000 }),
    )
}

pub(super) fn plan() -> (Request, Reply) {
    (Request::ContextPlan(plan_params()), Reply::ContextPlan(plan_result()))
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

fn configure_params() -> context::ConfigureParams {
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

pub(super) fn aux_failure() -> context::AuxFailure {
    context::AuxFailure { model: "m-small".into(), error: "429".into() }
}

pub(super) fn status_result() -> context::StatusResult {
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

fn plan_params() -> context::PlanParams {
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
