//! `context.check` and `context.reset`.

use herma_protocol::context::StatusResult;
use herma_protocol::context::check::{CheckParams, CheckReason, CheckResult, ResetParams};

use super::{list, status, tools_text};
use crate::data::error::{Error, Outcome};
use crate::service::caller::Caller;
use crate::service::compression::due::{Due, Reason};
use crate::service::context::Weight;
use crate::wire::services::Services;

pub(in crate::wire::handler) async fn check(
    services: &Services,
    caller: &Caller,
    params: CheckParams,
) -> Outcome<CheckResult> {
    let CheckParams { session: id, tokens, messages, system_prompt, tools } = params;
    if tokens.is_some() && messages.is_some() {
        return Err(Error::param("tokens", "give either tokens or messages"));
    }
    if messages.is_none() && (system_prompt.is_some() || tools.is_some()) {
        return Err(Error::param(
            "messages",
            "give messages too: a system prompt and tools count only together with messages",
        ));
    }
    let due = match messages {
        None => services.context.check(caller, &id, tokens).await?,
        Some(messages) => {
            let (messages, tools) = (list::read(messages).await?.messages, tools_text(tools));
            let weight = Weight { messages, system_prompt: system_prompt.unwrap_or_default(), tools };
            services.context.check_estimated(caller, &id, weight).await?
        }
    };
    Ok(wire(due))
}

pub(in crate::wire::handler) async fn reset(
    services: &Services,
    caller: &Caller,
    params: ResetParams,
) -> Outcome<StatusResult> {
    services.context.reset(caller, &params.session).await.map(status::wire)
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
