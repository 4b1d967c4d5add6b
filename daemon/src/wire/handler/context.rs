//! `context.*`: settings, estimates and the dry run. The rest has files of its own.

mod ahead;
mod answer;
mod cache_control;
mod check;
mod compress;
mod manual;
mod provider_error;
mod report;
mod usage;

use std::sync::Arc;

use herma_context::breaker::State as BreakerState;
use herma_context::{CompressRequest, Focus, Gain, Message, Plan, PlanRequest, RawSettings, Settings, Today, tokens};
use herma_protocol::Json;
use herma_protocol::context::{
    AuxFailure, Breaker, ConfigureParams, ConstantsResult, EstimateParams, EstimateResult, Headings, PlanParams,
    PlanResult, Settings as WireSettings, StatusParams, StatusResult,
};
use herma_protocol::value::TextOrOff;

pub(super) use ahead::compact_ahead;
pub(super) use cache_control::cache_control;
pub(super) use check::{check, check_in_memory, reset};
pub(super) use compress::{compress, resume};
pub(super) use manual::manual;
pub(super) use provider_error::{classify_error, with_window};
pub(super) use usage::record_usage;

use super::{blocking, check_names, narrow, session, wide};
use crate::data::clock::unix_now;
use crate::data::config::Config;
use crate::data::error::{Error, Outcome};
use crate::data::summarizer_kind::Kind;
use crate::service::compression::chain::Chain;
use crate::service::compression::counting::Counting;
use crate::service::compression::{collect, due};
use crate::service::session::Session;
use crate::wire::caller::Caller;
use crate::wire::state::State;

/// The only engine of this version.
const ENGINE: &str = "compressor";

pub(super) async fn configure(state: &State, caller: &Caller, params: ConfigureParams) -> Outcome<StatusResult> {
    check_names(&[
        ("model", params.model.as_ref()),
        ("summary_model", params.summary_model.as_ref()),
        ("provider", params.provider.as_ref()),
        ("base_url", params.base_url.as_ref()),
        ("api_mode", params.api_mode.as_ref()),
    ])?;
    check_engine(params.engine.as_deref())?;
    summarizer(state, params.summarizer.as_deref())?;
    let session = session::ensure(state, caller, &params.session).await?;
    let _alone = session.configuring.lock().await;
    let (before, named, names_a_model) = (session.settings(), params.context_length, params.summary_model.is_some());
    let merged = with_window(state, &before, named, laid_over(before.clone(), params.into())).await?;
    checked(&merged, &state.config)?;
    session::save_settings(state, &session, merged.clone()).await?;
    if merged != before {
        state.compressions.forget(&session.id);
    }
    if names_a_model || merged.model != before.model {
        {
            let mut kept = session.kept();
            kept.uses_main &= !names_a_model;
            // Another model counts in its own way.
            if merged.model != before.model {
                kept.counting = Counting::default();
            }
        }
        session.keep(state);
    }
    status_of(&session, state)
}

pub(super) fn status_in_memory(
    state: &State,
    profile: Option<&str>,
    params: &StatusParams,
) -> Option<Outcome<StatusResult>> {
    let session = state.sessions.get(&params.session)?;
    Some(session::check_profile(&session, profile).and_then(|()| status_of(&session, state)))
}

pub(super) async fn status(state: &State, caller: &Caller, params: &StatusParams) -> Outcome<StatusResult> {
    let session = session::ensure(state, caller, &params.session).await?;
    status_of(&session, state)
}

pub(super) fn constants() -> ConstantsResult {
    let constants = herma_context::constants();
    let headings = constants.headings;
    ConstantsResult {
        prefix: constants.prefix.into(),
        end_marker: constants.end_marker.into(),
        metadata_key: constants.metadata_key.into(),
        headings: Headings {
            task: headings.task.into(),
            in_progress: headings.in_progress.into(),
            pending: headings.pending.into(),
            remaining: headings.remaining.into(),
        },
        image_tokens: constants.image_tokens,
        image_chars: wide(constants.image_chars),
        min_context: constants.min_context,
        probe_tiers: constants.probe_tiers.to_vec(),
    }
}

pub(super) fn estimate(params: EstimateParams) -> Outcome<EstimateResult> {
    let Some(messages) = params.messages else {
        let text = params.text.unwrap_or_default();
        return Ok(EstimateResult {
            tokens: tokens::estimate_text(&text),
            own: tokens::own_estimate_text(&text),
            budget_chars: wide(text.chars().count()),
        });
    };
    if params.text.is_some() {
        return Err(Error::param("text", "give either a text or messages"));
    }
    let messages = parse(messages);
    let system = params.system_prompt.unwrap_or_default();
    let tools = tools_text(params.tools);
    let own_tools = tools.as_deref().map_or(0, tokens::own_estimate_text);
    Ok(EstimateResult {
        tokens: tokens::estimate_request(Some(&system), &messages, tools.as_deref()),
        own: tokens::own_estimate_messages(&messages) + tokens::own_estimate_text(&system) + own_tools,
        budget_chars: messages.iter().map(|message| wide(tokens::budget_chars(message))).sum(),
    })
}

/// The list of tools as one JSON text, unless it is empty.
fn tools_text(tools: Option<Vec<Json>>) -> Option<String> {
    let tools = tools.filter(|tools| !tools.is_empty())?;
    let texts: Vec<&str> = tools.iter().map(Json::get).collect();
    Some(format!("[{}]", texts.join(", ")))
}

pub(super) async fn plan(state: &State, caller: &Caller, params: PlanParams) -> Outcome<PlanResult> {
    let settings = match (&params.session, params.config) {
        (Some(id), None) => session_settings(&*session::ensure(state, caller, id).await?, &state.config)?,
        (None, Some(config)) => {
            check_engine(config.engine.as_deref())?;
            checked(&config, &state.config)?
        }
        _ => return Err(Error::param("config", "give either a session or a config")),
    };
    let request = PlanRequest {
        focus: focus(params.focus),
        previous_summary: params.previous_summary,
        today: today(params.today)?,
    };
    let messages = params.messages;
    blocking("context.plan", move || wire_plan(herma_context::plan(&parse(messages), &settings, &request))).await
}

fn wire_plan(plan: Plan) -> Outcome<PlanResult> {
    Ok(PlanResult {
        head_size: wide(plan.head_size),
        start: wide(plan.start),
        end: wide(plan.end),
        min_tail: wide(plan.min_tail),
        pruned: wide(plan.pruned),
        messages: plan.messages.iter().map(wire_message).collect::<Outcome<_>>()?,
        serialized: plan.serialized,
        prompt: plan.prompt,
        max_tokens: plan.max_tokens,
        summary_budget: plan.summary_budget,
        focus: plan.focus,
        previous_summary: plan.previous_summary,
    })
}

/// What the later call names takes the place of what the earlier ones said.
fn laid_over(under: WireSettings, over: WireSettings) -> WireSettings {
    WireSettings {
        model: over.model.or(under.model),
        context_length: over.context_length.or(under.context_length),
        threshold: over.threshold.or(under.threshold),
        target_ratio: over.target_ratio.or(under.target_ratio),
        protect_first_n: over.protect_first_n.or(under.protect_first_n),
        protect_last_n: over.protect_last_n.or(under.protect_last_n),
        summary_model: over.summary_model.or(under.summary_model),
        provider: over.provider.or(under.provider),
        base_url: over.base_url.or(under.base_url),
        api_mode: over.api_mode.or(under.api_mode),
        abort_on_summary_failure: over.abort_on_summary_failure.or(under.abort_on_summary_failure),
        engine: over.engine.or(under.engine),
        summarizer: over.summarizer.or(under.summarizer),
        redact: over.redact.or(under.redact),
    }
}

/// The settings in force: what was said, over what is configured.
fn checked(said: &WireSettings, configured: &Config) -> Outcome<Settings> {
    let Some(context_length) = said.context_length else {
        return Err(Error::param(
            "context_length",
            "the model's window is not known; give it once with context.configure or session.open",
        ));
    };
    RawSettings {
        model: said.model.clone(),
        context_length,
        threshold: said.threshold.or(Some(configured.context.threshold)),
        target_ratio: said.target_ratio.or(Some(configured.context.target_ratio)),
        protect_first_n: said.protect_first_n.or(Some(configured.context.protect_first_n)).map(narrow),
        protect_last_n: said.protect_last_n.or(Some(configured.context.protect_last_n)).map(narrow),
        summary_model: said.summary_model.clone(),
        abort_on_summary_failure: said.abort_on_summary_failure.or(Some(configured.context.abort_on_summary_failure)),
        redact: said.redact.or(Some(configured.guard.redact)),
    }
    .check()
    .map_err(|error| Error::Params(error.to_string()))
}

fn session_settings(session: &Session, configured: &Config) -> Outcome<Settings> {
    checked(&session.settings(), configured)
}

fn check_engine(engine: Option<&str>) -> Outcome<()> {
    match engine {
        None | Some(ENGINE) => Ok(()),
        Some(other) => Err(Error::param("engine", format!("{other:?} is not one; there is {ENGINE:?}"))),
    }
}

/// The summarizer of a name that can be used.
pub(super) fn summarizer(state: &State, name: Option<&str>) -> Outcome<Option<Kind>> {
    let Some(name) = name else { return Ok(None) };
    let usable: Vec<&str> =
        Kind::ALL.into_iter().filter(|kind| state.summarizers.is_configured(*kind)).map(Kind::name).collect();
    match Kind::parse(name) {
        Some(kind) if state.summarizers.is_configured(kind) => Ok(Some(kind)),
        Some(_) => {
            let words =
                format!("{name:?} is not in use, for [summarizer.{name}] is not configured; there are {usable:?}");
            Err(Error::param("summarizer", words))
        }
        None => {
            let shown: String = name.chars().take(64).collect();
            Err(Error::param("summarizer", format!("{shown:?} is none; there are {usable:?}")))
        }
    }
}

fn focus(focus: Option<TextOrOff>) -> Focus {
    match focus {
        None => Focus::Auto,
        Some(TextOrOff::Off) => Focus::Off,
        Some(TextOrOff::Text(topic)) => Focus::Topic(topic),
    }
}

/// The date in the prompt: the one that is given, or this machine's in its own
/// time zone.
fn today(today: Option<TextOrOff>) -> Outcome<Option<Today>> {
    match today {
        None => Ok(Today::parse(&jiff::Zoned::now().date().to_string()).ok()),
        Some(TextOrOff::Off) => Ok(None),
        Some(TextOrOff::Text(text)) => Today::parse(&text).map(Some).map_err(|error| Error::param("today", error)),
    }
}

fn parse(messages: Vec<Json>) -> Vec<Message> {
    collect::parse(messages.into_iter().map(Json::into_text).collect())
}

fn wire_message(message: &Message) -> Outcome<Json> {
    Json::parse(message.raw().to_owned()).map_err(|error| {
        tracing::error!("a message of the engine: {error}");
        Error::internal("writing a message")
    })
}

fn status_of(session: &Session, state: &State) -> Outcome<StatusResult> {
    let settings = session_settings(session, &state.config)?;
    let budgets = settings.budgets();
    let chain = Chain::new(state, session, None);
    let (kept, now) = (session.kept().clone(), unix_now());
    let (breaker, wait_s) = due::breaker(&state.config.context, &settings, &kept, now);
    let cooldown_s = due::cooldown_s(&kept, chain.kinds(), now);
    let engine = kept.engine;
    let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    Ok(StatusResult {
        engine: ENGINE.into(),
        model: settings.model.clone().unwrap_or_default(),
        context_length: settings.context_length,
        threshold: settings.threshold,
        threshold_tokens: budgets.threshold_tokens,
        target_ratio: settings.target_ratio,
        tail_token_budget: budgets.tail_token_budget,
        max_summary_tokens: budgets.max_summary_tokens,
        protect_first_n: wide(settings.protect_first_n),
        protect_last_n: wide(settings.protect_last_n),
        last_prompt_tokens: engine.last_prompt_tokens,
        last_completion_tokens: signed(engine.last_completion_tokens),
        last_total_tokens: signed(engine.last_total_tokens),
        last_real_prompt_tokens: signed(engine.last_real_prompt_tokens),
        usage_percent: engine.usage_percent(settings.context_length),
        compression_count: engine.compression_count,
        last_compression_rough_tokens: signed(engine.last_compression_rough_tokens),
        last_rough_tokens_when_real_prompt_fit: signed(engine.last_rough_tokens_when_real_prompt_fit),
        awaiting_real_usage: engine.awaiting_real_usage,
        generation: session.generation(),
        previous_summary: engine.previous_summary,
        summary_model: settings.summary_model.filter(|_| !kept.uses_main),
        last_error: engine.last_error,
        dropped: wide(engine.dropped),
        fallback: engine.fallback,
        aborted: engine.aborted,
        aux_failure: engine.aux_failure.map(|failure| AuxFailure { model: failure.model, error: failure.error }),
        savings_pct: engine.savings_pct,
        ineffective_count: u64::from(engine.ineffective_count),
        cooldown_s,
        breaker: match breaker {
            BreakerState::Closed => Breaker::Closed,
            BreakerState::Open => Breaker::Open,
            BreakerState::HalfOpen => Breaker::HalfOpen,
        },
        wait_s,
    })
}

/// What a compression is asked for, apart from the messages and the rules.
fn request(
    focus_param: Option<TextOrOff>,
    today_param: Option<TextOrOff>,
    current: Option<i64>,
    gain: Gain,
) -> Outcome<CompressRequest> {
    Ok(CompressRequest {
        focus: focus(focus_param),
        today: today(today_param)?,
        current_tokens: current,
        constraints: Vec::new(),
        now: unix_now(),
        gain,
        ..CompressRequest::default()
    })
}

/// Shared by the files of this resource.
type Shared = Arc<State>;
