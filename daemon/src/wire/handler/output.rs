//! `output.*`: admitting and reading. The other methods have their own files.

mod search;
mod shelf;

use std::sync::Arc;

use herma_disk::Cause;
use herma_protocol::output::{
    AdmitParams, AdmitResult, BudgetConfig, Failure, Next, PreviewParams, PreviewResult, ReadParams, ReadResult,
    Replacement, SettleTurnParams, SettleTurnResult, View,
};
use herma_protocol::value::{self, Content};
use herma_protocol::{Json, limits};
use herma_spill::admit::{Admitted, Fate};
use herma_spill::handle::split_line;
use herma_spill::outputs::View as Shown;
use herma_spill::page::{self, Page, Part};
use herma_spill::turn::{FittedTurn, TurnResult};
use herma_spill::{BudgetOverrides, Size, preview as spill_preview};
use serde_json::Value;

pub(super) use search::search;
pub(in crate::wire) use shelf::reason;
pub(super) use shelf::{gc, list, remove};

use super::SHORT;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::{to_u64, to_usize};
use crate::owners::blocking::blocking;
use crate::service::caller::Caller;
use crate::service::outputs::{Named, ToolResult};
use crate::wire::services::Services;

/// The default number of chars of a preview.
const PREVIEW: u64 = 1500;

pub(super) async fn admit(services: &Arc<Services>, caller: &Caller, params: AdmitParams) -> Outcome<AdmitResult> {
    let AdmitParams { session, tool, id, content, threshold, config } = params;
    let result = ToolResult { session, tool, id, content: domain_content(content) };
    let threshold = threshold.map(domain_size);
    let (admitted, content) = services.outputs.admit(caller, result, threshold, overrides(config)).await?;
    let is_text = matches!(content, herma_spill::Content::Text(_));
    let convert = move || admit_result(admitted, content);
    let (result, replaced) = if is_text { convert()? } else { blocking("output.admit", convert).await? };
    if let Some(herma_spill::Content::Text(text)) = replaced {
        services.connections.buffers.give(text.into_bytes());
    }
    Ok(result)
}

/// Returns the answer, and the content that it replaces. Checks the JSON texts of content in parts.
fn admit_result(
    admitted: Admitted,
    content: herma_spill::Content,
) -> Outcome<(AdmitResult, Option<herma_spill::Content>)> {
    let (chars, lines, sha256) = (admitted.chars, admitted.lines, admitted.sha256.clone());
    let (instead, handle, path, failure) = unpacked(admitted)?;
    let (content, replaced) = match instead {
        Some(instead) => (instead, Some(content)),
        None => (wire_content(content)?, None),
    };
    Ok((AdmitResult { content, spilled: handle.is_some(), handle, path, chars, lines, sha256, failure }, replaced))
}

pub(super) async fn settle_turn(
    services: &Services,
    caller: &Caller,
    params: SettleTurnParams,
) -> Outcome<SettleTurnResult> {
    let SettleTurnParams { session, results, messages, config } = params;
    let count = results.as_ref().map_or(0, Vec::len) + messages.as_ref().map_or(0, Vec::len);
    if count > limits::TURN_RESULTS {
        return Err(Error::param("results", format!("{count}; at most {} are allowed", limits::TURN_RESULTS)));
    }
    let results = match (results, messages) {
        (Some(results), None) => {
            let results = results.into_iter().map(|result| TurnResult {
                id: result.id,
                tool: result.tool.unwrap_or_default(),
                content: domain_content(result.content),
            });
            results.collect()
        }
        (None, Some(messages)) => {
            blocking("output.settle_turn", move || messages.iter().map(turn_result).collect()).await?
        }
        _ => return Err(Error::param("results", "give either results or messages")),
    };
    let settled = services.outputs.settle_turn(caller, session, results, overrides(config)).await?;
    let is_text = |admitted: &Admitted| !matches!(admitted.content, Some(herma_spill::Content::Parts(_)));
    if settled.replacements.iter().all(|(_, admitted)| is_text(admitted)) {
        return settle_result(settled);
    }
    blocking("output.settle_turn", move || settle_result(settled)).await
}

/// Returns the answer. Checks the JSON texts of content in parts.
fn settle_result(settled: FittedTurn) -> Outcome<SettleTurnResult> {
    let replacements = settled.replacements.into_iter().map(|(index, admitted)| {
        let (content, handle, path, _) = unpacked(admitted)?;
        Ok(content.map(|content| Replacement { index: to_u64(index), content, handle, path }))
    });
    let replacements = replacements.filter_map(Outcome::transpose);
    Ok(SettleTurnResult { replacements: replacements.collect::<Outcome<_>>()?, total: to_u64(settled.total) })
}

pub(super) async fn preview(params: PreviewParams) -> Outcome<PreviewResult> {
    match params.content.len() {
        ..=SHORT => preview_now(&params),
        _ => blocking("output.preview", move || preview_now(&params)).await,
    }
}

fn preview_now(params: &PreviewParams) -> Outcome<PreviewResult> {
    let preview = spill_preview::preview(&params.content, to_usize(params.max.unwrap_or(PREVIEW)));
    let tail = match params.tail {
        Some(tail) if preview.has_more => spill_preview::tail(&params.content, &preview, to_usize(tail)),
        _ => None,
    };
    Ok(PreviewResult { text: preview.head.to_owned(), has_more: preview.has_more, tail: tail.map(str::to_owned) })
}

pub(super) async fn read(services: &Services, caller: &Caller, params: ReadParams) -> Outcome<ReadResult> {
    let part = part(&params)?;
    let view = match params.view {
        None | Some(View::Raw) => Shown::Raw,
        Some(View::Json) => Shown::Json,
    };
    let named = match (params.handle, params.path) {
        (Some(handle), None) => Named::Handle(handle),
        (None, Some(path)) => Named::Path(path),
        _ => return Err(Error::param("handle", "give either a handle or a path")),
    };
    let Page { text, next, total_lines, total_chars } = services.outputs.read(caller, named, part, view).await?;
    let next = next.map(|next| match next {
        page::Next::Line(line) => Next::Line(to_u64(line)),
        page::Next::Offset(offset) => Next::Offset(to_u64(offset)),
    });
    Ok(ReadResult { text, next, total_lines: to_u64(total_lines), total_chars: to_u64(total_chars) })
}

/// Returns the requested part. It begins at the line in a handle, such as `out_…:120`, unless the request says where.
fn part(params: &ReadParams) -> Outcome<Part> {
    let by_line = params.line.is_some() || params.lines.is_some();
    let by_char = params.offset.is_some() || params.limit.is_some();
    if usize::from(by_line) + usize::from(by_char) + usize::from(params.tail.is_some()) > 1 {
        return Err(Error::param("line", "give line and lines, or offset and limit, or tail, but not several"));
    }
    if params.lines == Some(0) || params.limit == Some(0) {
        return Err(Error::param("lines", "a page of nothing has no next page; ask for at least 1"));
    }
    if params.line == Some(0) {
        return Err(Error::param("line", "lines count from 1"));
    }
    if let Some(tail) = params.tail {
        return Ok(Part::Tail(to_usize(tail)));
    }
    if by_char {
        let limit = params.limit.map_or(page::CHARS, to_usize);
        return Ok(Part::Chars { offset: to_usize(params.offset.unwrap_or(0)), limit });
    }
    let in_handle = params.handle.as_deref().and_then(|handle| split_line(handle).1);
    let line = params.line.map(to_usize).or(in_handle).unwrap_or(1);
    Ok(Part::Lines { line, lines: params.lines.map_or(page::LINES, to_usize) })
}

fn overrides(config: Option<BudgetConfig>) -> BudgetOverrides {
    let config = config.unwrap_or_default();
    let tools = config.tool_overrides.unwrap_or_default().into_iter();
    BudgetOverrides {
        default_result_size: config.default_result_size.map(to_usize),
        turn_budget: config.turn_budget.map(to_usize),
        preview_size: config.preview_size.map(to_usize),
        preview_tail_size: config.preview_tail_size.map(to_usize),
        tool_overrides: tools.map(|(tool, size)| (tool, domain_size(size))).collect(),
    }
}

fn domain_size(size: value::Size) -> Size {
    match size {
        value::Size::Chars(chars) => Size::Chars(to_usize(chars)),
        value::Size::Infinite => Size::Infinite,
    }
}

fn domain_content(content: Content) -> herma_spill::Content {
    match content {
        Content::Text(text) => herma_spill::Content::Text(text),
        Content::Parts(parts) => herma_spill::Content::Parts(parts.into_iter().map(Json::into_text).collect()),
    }
}

fn wire_content(content: herma_spill::Content) -> Outcome<Content> {
    Ok(match content {
        herma_spill::Content::Text(text) => Content::Text(text),
        herma_spill::Content::Parts(parts) => {
            let parts: Result<_, _> = parts.into_iter().map(Json::parse).collect();
            Content::Parts(parts.map_err(|_| Error::internal("a content"))?)
        }
    })
}

type Unpacked = (Option<Content>, Option<String>, Option<String>, Option<Failure>);

/// Returns the content, handle, path and failure of an admitted result.
fn unpacked(admitted: Admitted) -> Outcome<Unpacked> {
    let content = admitted.content.map(wire_content).transpose()?;
    Ok(match admitted.fate {
        Fate::Stays => (content, None, None, None),
        Fate::Spilled(kept) => (content, Some(kept.handle.to_string()), Some(kept.path.display().to_string()), None),
        Fate::Lost(error) => {
            tracing::error!("an output could not be kept: {error}");
            let failure = match error.cause() {
                Cause::Full => Failure::StorageFull,
                Cause::Refused => Failure::PermissionDenied,
                Cause::Missing | Cause::Unsuitable | Cause::Failed => Failure::StorageFailed,
            };
            (content, None, None, Some(failure))
        }
    })
}

/// Returns the id and the content of a tool message. A content that is neither text nor a list counts as empty.
fn turn_result(message: &Json) -> Outcome<TurnResult> {
    #[derive(serde::Deserialize)]
    struct ToolMessage {
        #[serde(default)]
        tool_call_id: Value,
        #[serde(default)]
        name: Value,
        #[serde(default)]
        content: Option<Json>,
    }
    let message: ToolMessage = serde_json::from_str(message.get())
        .map_err(|error| Error::param("messages", format!("not a message: {error}")))?;
    let content = message.content.and_then(|content| serde_json::from_str(content.get()).ok());
    Ok(TurnResult {
        id: message.tool_call_id.as_str().filter(|id| !id.is_empty()).map(str::to_owned),
        tool: message.name.as_str().unwrap_or_default().to_owned(),
        content: domain_content(content.unwrap_or(Content::Text(String::new()))),
    })
}
