//! `context.compress` and `context.resume`: what was asked, and what is answered.

use std::sync::Arc;
use std::time::Instant;

use herma_context::outcome::{CallFailure, FailureKind as Known};
use herma_context::{Declined, Gain, Message, Over, tokens};
use herma_protocol::context::{
    CompressParams, CompressResult, Compressed, FailureKind, Mode, NeedsSummary, ReplyForm, Report, ResumeError,
    ResumeParams, SummaryRequest,
};
use herma_protocol::notification::CompressionDone;
use herma_protocol::{ErrorKind, Json, RpcError};
use serde_json::json;
use tokio::sync::OwnedMutexGuard;

use super::answer::{answer, unchanged};
use super::report::Frame;
use super::{Shared, request, session_settings, summarizer};
use crate::caller::Caller;
use crate::compression::chain::{self, Chain, Step};
use crate::compression::commit::{self, Done};
use crate::compression::job::{Account, Begun, Job, Text, Wish, begin};
use crate::compression::{collect, rules};
use crate::config::CompressionMode;
use crate::fail::{self, Outcome};
use crate::handler::{blocking, session};
use crate::session::Session;
use crate::state::{State, unix_now};

/// What a summary is for, in the request that an agent gets.
const TASK: &str = "compression";

pub(in crate::handler) async fn compress(
    state: &Shared,
    caller: &Caller,
    params: CompressParams,
) -> Outcome<CompressResult> {
    let started = Instant::now();
    let asked = summarizer(state, params.summarizer.as_deref())?;
    let mut request = request(params.focus, params.today, params.current_tokens, gain(params.force))?;
    let session = session::ensure(state, caller, &params.session).await?;
    let settings = session_settings(&session, &state.config)?;
    let running = alone(&session)?;
    // An earlier one that still waits for its summary was about another list.
    state.compressions.tickets.void(&session.id);
    let chain = Chain::new(state, &session, asked);
    if params.force == Some(true) {
        let mut kept = session.kept();
        chain.kinds().iter().for_each(|kind| kept.cooldowns.clear(kind.name()));
    }
    let mode = params.mode.map_or(state.config.context.mode, domain_mode);
    let form = params.reply.unwrap_or(ReplyForm::Messages);
    let texts = collect::texts(state, &session, params.messages).await?;
    request.constraints = rules::load(state, &session).await?;
    request.overflow = params.overflow == Some(true);
    request.memory = params.memory_context;
    let (current, prompt) = (request.current_tokens, request.prompt());
    let kinds = chain.kinds().to_vec();
    let used = settings.clone();
    match begin(state, &session, settings, texts, Wish { request, chain, mode, form, started }).await? {
        Begun::Declined { why, input } => {
            let list = Arc::clone(&input);
            let over = blocking("context.compress", move || Ok(Over::of_input(&list, &used, prompt))).await?;
            let why = declined(state, &session, why, &input, current);
            let frame = Frame { session: &session, kept: &session.kept().clone(), chain: &kinds, started };
            let report = frame.unchanged(why, &input, &Account::default(), over);
            come_back(state, input, form, report).await
        }
        Begun::Ready(job, text) => finish(state, *job, text, running).await,
        Begun::Job(job) => go_on(state, job, running).await,
    }
}

pub(in crate::handler) async fn resume(
    state: &Shared,
    caller: &Caller,
    params: ResumeParams,
) -> Outcome<CompressResult> {
    let ResumeParams { ticket, summary, error } = params;
    let reply = match (summary, error) {
        (Some(summary), None) => Ok(summary),
        (None, Some(error)) => Err(call_failure(error)),
        _ => return Err(fail::invalid("summary", "give either a summary or an error")),
    };
    let tickets = &state.compressions.tickets;
    let session = tickets.session(&ticket).ok_or_else(|| no_ticket(&ticket))?;
    session::check_profile(&session, caller.profile.as_deref())?;
    let running = alone(&session)?;
    let mut job = tickets.take(&ticket).ok_or_else(|| no_ticket(&ticket))?;
    match reply {
        Ok(summary) => match chain::answered(state, &mut job, summary).await? {
            Some(text) => finish(state, *job, text, running).await,
            None => go_on(state, job, running).await,
        },
        Err(failure) => {
            chain::unanswered(state, &mut job, &failure);
            go_on(state, job, running).await
        }
    }
}

/// Has the summary written and finishes, or lets the run wait for the agent.
async fn go_on(state: &Shared, mut job: Box<Job>, running: OwnedMutexGuard<()>) -> Outcome<CompressResult> {
    match chain::write(state, &mut job).await? {
        Step::Written(text) => finish(state, *job, text, running).await,
        Step::GivesUp => given_up(state, *job).await,
        Step::Asks(request) => {
            let message = Json::from_value(&json!({ "role": "user", "content": request.prompt }))
                .map_err(|_| fail::internal("context.compress"))?;
            let request = SummaryRequest {
                task: TASK.into(),
                model: request.model,
                messages: vec![message],
                max_tokens: request.max_tokens,
            };
            let ticket = state.compressions.tickets.put(job);
            Ok(CompressResult::NeedsSummary(NeedsSummary { ticket, request }))
        }
    }
}

async fn finish(state: &Shared, job: Job, text: Text, running: OwnedMutexGuard<()>) -> Outcome<CompressResult> {
    let (form, started, chain) = (job.form, job.started, job.chain.kinds().to_vec());
    let done: Done = commit::commit(state, job, text, running).await?;
    let (compressed, input) = (Arc::clone(&done.compressed), Arc::clone(&done.input));
    let (messages, edits) = blocking("context.compress", move || answer(&compressed.slots, &input, form)).await?;
    let (session, kept) = (Arc::clone(&done.session), done.kept.clone());
    let report = Frame { session: &session, kept: &kept, chain: &chain, started }.done(done);
    tell_done(state, &report);
    Ok(CompressResult::Done(Box::new(Compressed { messages, edits, report })))
}

/// Nobody wrote a summary: the input comes back, and nothing is archived.
async fn given_up(state: &Shared, job: Job) -> Outcome<CompressResult> {
    let kept = {
        let mut kept = job.session.kept();
        kept.engine.begin_run();
        kept.engine.aborted = true;
        kept.engine.last_error.clone_from(&job.account.error);
        kept.engine.aux_failure.clone_from(&job.account.aux_failure);
        kept.clone()
    };
    job.session.keep(state);
    let input: Arc<[Message]> = job.prepared.input().into();
    let frame = Frame { session: &job.session, kept: &kept, chain: job.chain.kinds(), started: job.started };
    let why = "no summarizer wrote a summary, and none is to stand in for it (abort_on_summary_failure)";
    let report = frame.unchanged(why.into(), &input, &job.account, None);
    come_back(state, input, job.form, report).await
}

/// Notes that there was nothing to do, and says why.
fn declined(state: &State, session: &Arc<Session>, why: Declined, input: &[Message], current: Option<i64>) -> String {
    {
        let mut kept = session.kept();
        why.note(&mut kept.engine);
        if why != Declined::TooFew {
            let estimate = tokens::estimate_messages(input);
            let tokens = herma_context::savings::size_before(current, &kept.engine, estimate);
            kept.breaker.note_nothing(tokens, unix_now());
        }
    }
    session.keep(state);
    why.to_string()
}

async fn come_back(state: &State, input: Arc<[Message]>, form: ReplyForm, report: Report) -> Outcome<CompressResult> {
    let (messages, edits) = blocking("context.compress", move || unchanged(&input, form)).await?;
    tell_done(state, &report);
    Ok(CompressResult::Done(Box::new(Compressed { messages, edits, report })))
}

fn tell_done(state: &State, report: &Report) {
    let (session, report) = (report.session.clone(), report.clone());
    state.events.compression_done(CompressionDone { session, report });
}

/// The only compression of a session.
fn alone(session: &Session) -> Outcome<OwnedMutexGuard<()>> {
    Arc::clone(&session.compressing).try_lock_owned().map_err(|_| {
        RpcError::new(ErrorKind::Busy, format!("another compression of session {:?} is running", session.id))
    })
}

fn no_ticket(ticket: &str) -> RpcError {
    let shown: String = ticket.chars().take(64).collect();
    let words = format!(
        "there is no ticket {shown:?}: it was used, it is older than 30 minutes, its session was compressed, reset, \
         configured anew or closed since, or too many runs wait; ask context.compress again"
    );
    RpcError::new(ErrorKind::NotFound, words)
}

/// A list that a handoff would make longer comes back, unless its caller insists. One that was
/// refused, or is over the threshold, becomes shorter or comes back whatever was asked.
fn gain(force: Option<bool>) -> Gain {
    if force == Some(true) { Gain::Any } else { Gain::Required }
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
