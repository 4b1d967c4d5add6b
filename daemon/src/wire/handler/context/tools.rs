//! `context.tools`.

use herma_context::tools::{OPEN_TOOLS, State};
use herma_protocol::Json;
use herma_protocol::context::tools::{ToolState, ToolUse, ToolsParams, ToolsResult};

use super::texts;
use crate::data::error::{Error, Outcome};
use crate::service::caller::Caller;
use crate::service::context::ToolsQuery;
use crate::wire::services::Services;

/// The largest number of tools in one call, and of names in it.
const MAX_TOOLS: usize = 2_000;

pub(in crate::wire::handler) async fn tools(
    services: &Services,
    caller: &Caller,
    params: ToolsParams,
) -> Outcome<ToolsResult> {
    let ToolsParams { session, tools, budget, open } = params;
    let open = open.unwrap_or_default();
    for (param, count) in [("tools", tools.len()), ("open", open.len())] {
        if count > MAX_TOOLS {
            return Err(Error::param(param, format!("{count}; at most {MAX_TOOLS} are allowed")));
        }
    }
    let query = ToolsQuery { session, tools: texts(tools), budget, open };
    let answer = services.context.tools(caller, query).await?;
    if answer.tools.iter().any(|tool| tool.name.as_deref() == Some(OPEN_TOOLS)) {
        return Err(Error::param(
            "tools",
            format!("{OPEN_TOOLS:?} is the tool that opens others; call yours another name"),
        ));
    }
    let json = |text: String| Json::parse(text).map_err(|_| Error::internal("context.tools"));
    let has_stubs = answer.chosen.states.iter().any(|state| *state != State::Kept);
    let uses = answer.tools.iter().zip(&answer.calls).zip(&answer.chosen.states);
    Ok(ToolsResult {
        tokens_before: answer.tools.iter().map(|tool| tool.tokens).sum(),
        tokens_after: answer.chosen.tokens,
        opener: has_stubs.then(|| OPEN_TOOLS.to_owned()),
        tools: uses
            .map(|((tool, calls), state)| ToolUse {
                name: tool.name.clone(),
                tokens: tool.tokens,
                calls: *calls,
                state: match state {
                    State::Kept => ToolState::Kept,
                    State::Opened => ToolState::Opened,
                    State::Stub => ToolState::Stub,
                },
            })
            .collect(),
        list: answer.chosen.list.into_iter().map(json).collect::<Outcome<_>>()?,
    })
}
