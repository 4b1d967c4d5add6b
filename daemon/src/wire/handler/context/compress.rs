//! `context.compress` and `context.resume`: converts their parameters and results.

use herma_context::Host as DomainHost;
use herma_context::engine::{CompressRequest, Place as Asking};
use herma_context::forms::Read;
use herma_context::outcome::{CallFailure, FailureKind as Known};
use herma_protocol::Json;
use herma_protocol::context::{
    CompressParams, CompressResult, Compressed, FailureKind, Host, Mode, NeedsSummary, Place, ReplyForm, Report,
    ResumeError, ResumeParams, SummaryRequest,
};
use herma_protocol::value::TokensOrConfigured;
use serde_json::json;

use super::{answer, domain_detail, focus, list, range, today};
use crate::data::config::CompressionMode;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::to_usize;
use crate::owners::blocking::blocking;
use crate::service::caller::Caller;
use crate::service::compression::{CompressOptions, Reply, ReplyForm as Form, Target};
use crate::wire::services::Services;

/// The purpose of a summary, in the request to an agent.
const TASK: &str = "compression";

pub(in crate::wire::handler) async fn compress(
    services: &Services,
    caller: &Caller,
    params: CompressParams,
) -> Outcome<CompressResult> {
    let (messages, translation) = match list::read_some(params.messages).await? {
        Some(Read { messages, translation }) => (Some(messages), translation),
        None => (None, None),
    };
    let within = |items| match &translation {
        Some(translation) => translation.messages_within(items),
        None => items,
    };
    let request = CompressRequest {
        focus: focus(params.focus),
        today: today(params.today)?,
        current_tokens: params.current_tokens,
        overflow: params.overflow == Some(true),
        memory: params.memory_context,
        range: params.range.map(range).transpose()?.map(within),
        ..CompressRequest::default()
    };
    let options = CompressOptions {
        messages,
        translation,
        request,
        force: params.force == Some(true),
        summarizer: services.compression.summarizers.named(params.summarizer.as_deref())?,
        mode: params.mode.map(domain_mode),
        detail: params.detail.map(domain_detail).unwrap_or_default(),
        form: params.reply.map_or(Form::Messages, domain_form),
        place: params.place.map_or(Asking::Alone, domain_place),
        target: params.target.map_or(Target::Threshold, domain_target),
        host: params.host.map(domain_host).unwrap_or_default(),
    };
    let session = services.sessions.ensure(caller, &params.session).await?;
    wire(services.compression.compress(&session, options).await?).await
}

pub(in crate::wire::handler) async fn resume(
    services: &Services,
    caller: &Caller,
    params: ResumeParams,
) -> Outcome<CompressResult> {
    let ResumeParams { ticket, summary, error } = params;
    let summary = match (summary, error) {
        (Some(summary), None) => Ok(summary),
        (None, Some(error)) => Err(call_failure(error)),
        _ => return Err(Error::param("summary", "give either a summary or an error")),
    };
    wire(services.compression.resume(caller.profile.as_deref(), &ticket, summary).await?).await
}

async fn wire(reply: Reply) -> Outcome<CompressResult> {
    match reply {
        Reply::Answer(done) => {
            let report = Report::clone(&done.report);
            let (messages, edits) = blocking("context.compress", move || answer::of(&done)).await?;
            Ok(CompressResult::Done(Box::new(Compressed { messages, edits, report })))
        }
        Reply::NeedsSummary { ticket, request } => {
            let message = Json::from_value(&json!({ "role": "user", "content": request.prompt }))
                .map_err(|_| Error::internal("context.compress"))?;
            let request = SummaryRequest {
                task: TASK.into(),
                model: request.model,
                messages: vec![message],
                max_tokens: request.max_tokens,
                place: (request.place == Asking::BehindList).then_some(Place::BehindList),
            };
            Ok(CompressResult::NeedsSummary(NeedsSummary { ticket, request }))
        }
    }
}

const fn domain_form(form: ReplyForm) -> Form {
    match form {
        ReplyForm::Messages => Form::Messages,
        ReplyForm::Edits => Form::Edits,
    }
}

const fn domain_target(target: TokensOrConfigured) -> Target {
    match target {
        TokensOrConfigured::Tokens(tokens) => Target::Tokens(tokens),
        TokensOrConfigured::Configured => Target::Configured,
    }
}

fn domain_host(host: Host) -> DomainHost {
    let every = DomainHost::default();
    DomainHost {
        takes_merged_handoff: host.merged_handoff.unwrap_or(every.takes_merged_handoff),
        takes_short_calls: host.short_calls.unwrap_or(every.takes_short_calls),
        takes_short_results: host.short_results.unwrap_or(every.takes_short_results),
        fewer_messages: host.fewer_messages.map_or(every.fewer_messages, to_usize),
    }
}

const fn domain_place(place: Place) -> Asking {
    match place {
        Place::Alone => Asking::Alone,
        Place::BehindList => Asking::BehindList,
    }
}

const fn domain_mode(mode: Mode) -> CompressionMode {
    match mode {
        Mode::InPlace => CompressionMode::InPlace,
        Mode::Continue => CompressionMode::Continue,
    }
}

fn call_failure(error: ResumeError) -> CallFailure {
    let kind = error.kind.map(|kind| match kind {
        FailureKind::NoProvider => Known::NoProvider,
        FailureKind::Json => Known::Json,
        FailureKind::Connection => Known::Connection,
        FailureKind::Timeout => Known::Timeout,
        FailureKind::Other => Known::Other,
    });
    CallFailure { status: error.status, kind, text: error.text }
}
