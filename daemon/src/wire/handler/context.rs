//! `context.*`: settings, estimates and the dry run. The other methods have their own files.

mod ahead;
mod answer;
mod cache_control;
mod check;
mod compress;
mod discard;
mod episode;
mod list;
mod manual;
mod opened;
mod pins;
mod preview;
mod provider_error;
mod schema;
mod settings;
mod status;
mod tools;
mod translated_plan;
mod undo;
mod usage;

use std::ops::Range;

use herma_context::engine::{Focus, Plan, PlanRequest, Today};
use herma_context::forms::Read;
use herma_context::superseded::Superseded as Old;
use herma_context::{Detail, Message, tokens};
use herma_protocol::Json;
use herma_protocol::context::{
    ConfigureParams, ConstantsResult, Detail as WireDetail, EstimateParams, EstimateResult, Headings, PlanParams,
    PlanResult, StatusParams, StatusResult, Superseded,
};
use herma_protocol::value::TextOrOff;

pub(super) use ahead::compact_ahead;
pub(super) use cache_control::cache_control;
pub(super) use check::{check, reset};
pub(super) use compress::{compress, resume};
pub(super) use discard::discard;
pub(super) use episode::episode;
pub(super) use manual::manual;
pub(super) use opened::{fold, open};
pub(super) use pins::{pin, pins, unpin};
pub(super) use provider_error::classify_error;
pub(super) use schema::schema;
pub(super) use tools::tools;
pub(super) use undo::undo;
pub(super) use usage::record_usage;

use crate::data::clock;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::to_u64;
use crate::owners::blocking::blocking;
use crate::service::caller::Caller;
use crate::service::compression::{parse, scored};
use crate::service::settings::SessionSettings;
use crate::wire::services::Services;

pub(super) async fn configure(services: &Services, caller: &Caller, params: ConfigureParams) -> Outcome<StatusResult> {
    let id = params.session.clone();
    services.context.configure(caller, &id, settings::domain(params.into())).await.map(status::wire)
}

pub(super) async fn status(services: &Services, caller: &Caller, params: StatusParams) -> Outcome<StatusResult> {
    services.context.status(caller, &params.session).await.map(status::wire)
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
        image_chars: to_u64(constants.image_chars),
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
            budget_chars: to_u64(text.chars().count()),
        });
    };
    if params.text.is_some() {
        return Err(Error::param("text", "give either a text or messages"));
    }
    let messages = parse(texts(messages));
    let system = params.system_prompt.unwrap_or_default();
    let tools = tools_text(params.tools);
    let own_tools = tools.as_deref().map_or(0, tokens::own_estimate_text);
    Ok(EstimateResult {
        tokens: tokens::estimate_request(Some(&system), &messages, tools.as_deref()),
        own: tokens::own_estimate_messages(&messages) + tokens::own_estimate_text(&system) + own_tools,
        budget_chars: messages.iter().map(|message| to_u64(tokens::budget_chars(message))).sum(),
    })
}

/// Returns the tools as one JSON list, unless there are none.
fn tools_text(tools: Option<Vec<Json>>) -> Option<String> {
    let tools = tools.filter(|tools| !tools.is_empty())?;
    let texts: Vec<&str> = tools.iter().map(Json::get).collect();
    Some(format!("[{}]", texts.join(", ")))
}

pub(super) async fn plan(services: &Services, caller: &Caller, params: PlanParams) -> Outcome<PlanResult> {
    let request = PlanRequest {
        focus: focus(params.focus),
        previous_summary: params.previous_summary,
        today: today(params.today)?,
        range: params.range.map(range).transpose()?,
        ..PlanRequest::default()
    };
    let detail = params.detail.map(domain_detail).unwrap_or_default();
    let list = list::read(params.messages).await?;
    let translation = list.translation.clone();
    let request = match &translation {
        Some(translation) => {
            PlanRequest { range: request.range.map(|range| translation.messages_within(range)), ..request }
        }
        None => request,
    };
    let whose = match (params.session, params.config) {
        (Some(id), None) => Whose::Session(id),
        (None, Some(config)) => Whose::Settings(Box::new(settings::domain(config))),
        _ => return Err(Error::param("config", "give either a session or a config")),
    };
    let previewed = match params.preview {
        Some(true) => {
            let list = Read { messages: list.messages.clone(), translation: list.translation.clone() };
            Some(preview::of(services, caller, &whose, list, request.clone(), detail).await?)
        }
        _ => None,
    };
    let messages = list.messages;
    let input = translation.as_ref().map(|_| messages.clone());
    let plan = match whose {
        Whose::Session(id) => services.context.plan_of(caller, &id, messages, request, detail).await?,
        Whose::Settings(said) => services.context.plan_with(*said, messages, request, detail).await?,
    };
    let plan = match translation.zip(input) {
        Some((translation, input)) => {
            blocking("context.plan", move || Ok(translated_plan::of_items(plan, &translation, &parse(input)))).await?
        }
        None => plan,
    };
    Ok(PlanResult { preview: previewed, ..wire_plan(plan)? })
}

/// The source of the settings for a plan.
enum Whose {
    Session(String),
    Settings(Box<SessionSettings>),
}

fn wire_plan(plan: Plan) -> Outcome<PlanResult> {
    let scores = plan.scores.iter().enumerate().filter(|(_, importance)| importance.score > 0);
    Ok(PlanResult {
        head_size: to_u64(plan.head_size),
        start: to_u64(plan.start),
        end: to_u64(plan.end),
        min_tail: to_u64(plan.min_tail),
        pruned: to_u64(plan.pruned),
        messages: plan.messages.iter().map(wire_message).collect::<Outcome<_>>()?,
        serialized: plan.serialized,
        prompt: plan.prompt,
        max_tokens: plan.max_tokens,
        summary_budget: plan.summary_budget,
        focus: plan.focus,
        previous_summary: plan.previous_summary,
        superseded: plan.superseded.iter().map(superseded).collect(),
        scores: scores.map(|(at, importance)| scored(at, importance)).collect(),
        preview: None,
    })
}

fn superseded(old: &Old) -> Superseded {
    let (index, by) = (to_u64(old.index), to_u64(old.by));
    Superseded { index, by, since: old.since.name().into(), tokens: old.tokens }
}

fn focus(focus: Option<TextOrOff>) -> Focus {
    match focus {
        None => Focus::Auto,
        Some(TextOrOff::Off) => Focus::Off,
        Some(TextOrOff::Text(topic)) => Focus::Topic(topic),
    }
}

const fn domain_detail(detail: WireDetail) -> Detail {
    match detail {
        WireDetail::Low => Detail::Low,
        WireDetail::Medium => Detail::Medium,
        WireDetail::High => Detail::High,
    }
}

/// Returns the range of positions from which messages may leave.
fn range((from, to): (u64, u64)) -> Outcome<Range<usize>> {
    if from >= to {
        return Err(Error::param("range", format!("[{from}, {to}] is empty; the second one must be larger")));
    }
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    Ok(place(from)..place(to))
}

/// Returns the date for the prompt: the given one, or today in the time zone of this machine.
fn today(today: Option<TextOrOff>) -> Outcome<Option<Today>> {
    match today {
        None => Ok(clock::today()),
        Some(TextOrOff::Off) => Ok(None),
        Some(TextOrOff::Text(text)) => Today::parse(&text).map(Some).map_err(|error| Error::param("today", error)),
    }
}

/// Returns the texts of messages, without copying them.
fn texts(messages: Vec<Json>) -> Vec<String> {
    messages.into_iter().map(Json::into_text).collect()
}

fn wire_message(message: &Message) -> Outcome<Json> {
    Json::parse(message.raw().to_owned()).map_err(|error| {
        tracing::error!("a message of the engine: {error}");
        Error::internal("writing a message")
    })
}
