//! `context.check` and `context.reset`.

use std::sync::Arc;

use herma_context::{Settings, boundary, pressure, tokens};
use herma_protocol::Json;
use herma_protocol::context::StatusResult;
use herma_protocol::context::check::{CheckParams, CheckReason, CheckResult, ResetParams};

use super::{Shared, parse, session_settings, status_of, tools_text};
use crate::caller::Caller;
use crate::compression::chain;
use crate::compression::due::{self, Due, Prompt, Reason};
use crate::compression::kept::Kept;
use crate::fail::{self, Outcome};
use crate::handler::{blocking, session};
use crate::session::Session;
use crate::state::{State, unix_now};

/// Answers what needs no list, for a session in memory.
pub(in crate::handler) fn check_in_memory(
    state: &State,
    profile: Option<&str>,
    params: &CheckParams,
) -> Option<Outcome<CheckResult>> {
    if params.messages.is_some() || params.system_prompt.is_some() || params.tools.is_some() {
        return None;
    }
    let session = state.sessions.get(&params.session)?;
    let known = session::check_profile(&session, profile).and_then(|()| session_settings(&session, &state.config));
    Some(known.map(|settings| decided(state, &session, &settings, counted(&session, params.tokens))))
}

pub(in crate::handler) async fn check(state: &Shared, caller: &Caller, params: CheckParams) -> Outcome<CheckResult> {
    let CheckParams { session: id, tokens, messages, system_prompt, tools } = params;
    if tokens.is_some() && messages.is_some() {
        return Err(fail::invalid("tokens", "give either tokens or messages"));
    }
    if messages.is_none() && (system_prompt.is_some() || tools.is_some()) {
        return Err(fail::invalid("messages", "a system prompt and tools count only beside messages"));
    }
    let session = session::ensure(state, caller, &id).await?;
    let settings = session_settings(&session, &state.config)?;
    let Some(messages) = messages else {
        return Ok(decided(state, &session, &settings, counted(&session, tokens)));
    };
    let (used, most) = (settings.clone(), state.config.context.hygiene_messages);
    let estimate =
        blocking("context.check", move || estimate(messages, &system_prompt.unwrap_or_default(), tools, &used, most));
    let Estimate { own, rough, has_content, messages } = estimate.await?;
    let tokens = session.kept().counting.estimated(own);
    let result = decided(state, &session, &settings, Prompt::Estimated { tokens, rough, has_content, messages });
    session.keep(state);
    Ok(result)
}

/// Forgets what the engine of a session remembers; its list, its generation and its rules
/// stay.
pub(in crate::handler) async fn reset(state: &Shared, caller: &Caller, params: ResetParams) -> Outcome<StatusResult> {
    let session = session::ensure(state, caller, &params.session).await?;
    let status = session_settings(&session, &state.config);
    state.compressions.forget(&session.id);
    *session.kept() = Kept::default();
    let shared = Arc::clone(&session);
    let save = move |archive: &mut herma_archive::Archive| {
        let row = shared.kept().row();
        archive.save_engine(&shared.id, &row)
    };
    state.archive.note(save).await?;
    status.and_then(|_| status_of(&session, state))
}

/// What a list weighs.
struct Estimate {
    own: u64,
    rough: u64,
    has_content: bool,
    messages: usize,
}

/// `long` is the number of messages from which a list is compressed whatever its tokens; 0 for none.
fn estimate(
    messages: Vec<Json>,
    system: &str,
    tools: Option<Vec<Json>>,
    settings: &Settings,
    long: usize,
) -> Outcome<Estimate> {
    let messages = parse(messages);
    let tools = tools_text(tools);
    let own_tools = tools.as_deref().map_or(0, tokens::own_estimate_text);
    let own = tokens::own_estimate_messages(&messages) + tokens::own_estimate_text(system) + own_tools;
    let rough = tokens::estimate_request(Some(system), &messages, tools.as_deref());
    let all = own.max(rough);
    let is_long = long > 0 && pressure::hygiene(all, messages.len(), settings.context_length, long).is_some();
    // A list over the threshold can become smaller with nothing between its head and its tail, too.
    let has_content = match is_long || all >= settings.budgets().threshold_tokens {
        true => herma_context::has_work(&messages, settings, i64::try_from(all).ok()),
        false => boundary::has_content(&messages, settings),
    };
    Ok(Estimate { own, rough, has_content, messages: messages.len() })
}

/// The caller's figure, else what the provider counted last.
fn counted(session: &Session, tokens: Option<u64>) -> Prompt {
    let last = || u64::try_from(session.kept().engine.last_prompt_tokens).ok();
    tokens.or_else(last).map_or(Prompt::Unknown, Prompt::Counted)
}

/// What `context.check` says of a session right now.
pub(super) fn decided(state: &State, session: &Session, settings: &Settings, prompt: Prompt) -> CheckResult {
    let chain = chain::kinds(state, session, None);
    let mut kept = session.kept();
    wire(due::due(&state.config.context, settings, &chain, &mut kept, prompt, unix_now()))
}

const fn wire(due: Due) -> CheckResult {
    CheckResult {
        compress: due.compress,
        reason: match due.reason {
            Reason::BelowThreshold => CheckReason::BelowThreshold,
            Reason::OverThreshold => CheckReason::OverThreshold,
            Reason::BreakerOpen => CheckReason::BreakerOpen,
            Reason::RateLimited => CheckReason::RateLimited,
            Reason::Cooldown => CheckReason::Cooldown,
            Reason::NothingToCompress => CheckReason::NothingToCompress,
            Reason::Disabled => CheckReason::Disabled,
        },
        defer: due.defer,
        tokens: due.tokens,
        threshold: due.threshold,
        pressure: due.pressure,
        wait_s: due.wait_s,
    }
}
