//! Who writes the summary: one summarizer after the other, until one does.

use std::borrow::Cow;
use std::sync::Arc;

use herma_context::SummaryRequest;
use herma_context::outcome::FailureKind as Known;
use herma_context::outcome::{Attempt, CallFailure, Decision, decide};
use herma_protocol::notification::Phase;

use super::job::{Job, Text};
use super::{tell, verify};
use crate::data::clock::unix_now;
use crate::data::error::Outcome;
use crate::data::summarizer_kind::Kind;
use crate::owners::summarizer::{Call, Failure, FailureKind, Main};
use crate::service::session::Session;
use crate::wire::handler::blocking;
use crate::wire::state::State;

/// How a summarizer is told to use the session's own model.
const OWN_MODEL: &str = "main";

/// What stands for the name of a session's own model where only the agent knows it.
const UNNAMED: &str = "the session's own model";

/// Longest pause that an endpoint can ask for, in seconds.
const LONGEST_PAUSE: f64 = 3600.0;

/// The summarizers of a run, and how far it came with them.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    kinds: Vec<Kind>,
    at: usize,
    /// The model that is set for summaries, unless it was left.
    model: Option<String>,
    main: Main,
    gives_up: bool,
}

/// What a chain comes to.
pub(crate) enum Step {
    /// A summary.
    Written(Text),
    /// The agent is to write it.
    Asks(SummaryRequest),
    /// Nobody wrote one, and nobody is to stand in.
    GivesUp,
}

impl Chain {
    /// With the summarizers of [`kinds`].
    pub(crate) fn new(state: &State, session: &Session, asked: Option<Kind>) -> Self {
        let said = session.settings();
        let kinds = kinds(state, session, asked).into_owned();
        let gives_up = said.abort_on_summary_failure.unwrap_or(state.config.context.abort_on_summary_failure);
        let model = said.summary_model.filter(|model| !model.is_empty() && !session.kept().uses_main);
        let main =
            Main { model: said.model, provider: said.provider, base_url: said.base_url, api_mode: said.api_mode };
        Self { kinds, at: 0, model, main, gives_up }
    }

    /// The one that is configured: the first.
    pub(crate) fn configured(&self) -> Kind {
        self.kinds.first().copied().unwrap_or(Kind::Extractive)
    }

    /// All of them.
    pub(crate) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Without those that need somebody who waits; `None` when nobody is left.
    pub(crate) fn without_client(mut self) -> Option<Self> {
        self.kinds.retain(|kind| *kind != Kind::Client);
        (!self.kinds.is_empty()).then_some(self)
    }

    /// Whether it has the summarizers of another one but those that need somebody who
    /// waits.
    pub(crate) fn is_of(&self, other: &Self) -> bool {
        self.kinds.iter().eq(other.kinds.iter().filter(|kind| **kind != Kind::Client))
    }

    /// Whether the next summary needs no one else and comes at once.
    pub(crate) fn is_at_hand(&self) -> bool {
        self.current() == Some(Kind::Extractive)
    }

    fn current(&self) -> Option<Kind> {
        self.kinds.get(self.at).copied()
    }
}

/// The summarizer that is asked for, else the session's own, else those of the configuration.
pub(crate) fn kinds<'a>(state: &'a State, session: &Session, asked: Option<Kind>) -> Cow<'a, [Kind]> {
    match asked.or_else(|| session.summarizer()) {
        Some(one) => Cow::Owned(vec![one]),
        None => Cow::Borrowed(state.summarizers.chain()),
    }
}

/// Goes on with the chain until somebody wrote a summary that passes, or the agent has
/// to.
pub(crate) async fn write(state: &State, job: &mut Job) -> Outcome<Step> {
    tell(state, &job.session, Phase::Summarise);
    while let Some(kind) = job.chain.current() {
        if kind == Kind::Extractive {
            return extractive(state, job, None).await.map(Step::Written);
        }
        let pause = job.session.kept().cooldowns.remaining(kind.name(), unix_now());
        if pause > 0.0 {
            job.account.error = Some(format!("{} failed a moment ago and is asked again in {pause:.0} s", kind.name()));
            job.chain.at += 1;
            continue;
        }
        let Some(request) = request(state, job, kind).await? else {
            let words = "its window has no room for the instructions, the summary and a part of the conversation";
            failed(state, job, kind, &other(words), None);
            continue;
        };
        // An earlier summary covers everything.
        if request.prompt.is_empty() {
            return extractive(state, job, None).await.map(Step::Written);
        }
        if kind == Kind::Client {
            return Ok(Step::Asks(request));
        }
        let own = if job.session.kept().uses_main { Some(OWN_MODEL) } else { job.chain.model.as_deref() };
        let call = Call { prompt: &request.prompt, max_tokens: request.max_tokens, model: own, main: &job.chain.main };
        match state.summarizers.write(kind, call).await {
            Ok(written) => {
                if let Some(text) = accept(state, job, kind, written.text).await? {
                    return Ok(Step::Written(text));
                }
            }
            Err(failure) => {
                let pause = failure.retry_after_s;
                failed(state, job, kind, &call_failure(failure), pause);
            }
        }
    }
    if job.chain.gives_up {
        return Ok(Step::GivesUp);
    }
    let error = job.account.error.clone().unwrap_or_default();
    extractive(state, job, Some(error)).await.map(Step::Written)
}

/// Takes what the agent wrote; `None` when it does not pass.
pub(crate) async fn answered(state: &State, job: &mut Job, summary: String) -> Outcome<Option<Text>> {
    accept(state, job, Kind::Client, summary).await
}

/// Takes why the agent wrote nothing.
pub(crate) fn unanswered(state: &State, job: &mut Job, failure: &CallFailure) {
    failed(state, job, Kind::Client, failure, None);
}

/// What to ask: as much of the turns as the summarizer can read.
async fn request(state: &State, job: &mut Job, kind: Kind) -> Outcome<Option<SummaryRequest>> {
    let own = job.session.settings().context_length;
    let window = state.summarizers.context_length(kind).or(own);
    let prepared = Arc::clone(&job.prepared);
    let request = blocking("context.compress", move || {
        Ok(match window {
            // The agent knows its model; a window without any room is no reason not to ask it.
            Some(window) => {
                prepared.request_within(window).or_else(|| (kind == Kind::Client).then(|| (prepared.request(), 0)))
            }
            None => Some((prepared.request(), 0)),
        })
    });
    let Some((mut request, omitted)) = request.await? else { return Ok(None) };
    request.model.clone_from(&job.chain.model);
    if omitted > 0 {
        let words = format!("{} did not read {omitted} of the turns: its window is too small for all", kind.name());
        job.account.warnings.push(words);
    }
    Ok(Some(request))
}

async fn accept(state: &State, job: &mut Job, kind: Kind, body: String) -> Outcome<Option<Text>> {
    tell(state, &job.session, Phase::Check);
    let (prepared, policy) = (Arc::clone(&job.prepared), Arc::clone(&state.config.guard.severity));
    let checked = blocking("context.compress", move || Ok(verify::checked(&prepared, &body, &policy))).await?;
    match checked {
        Ok(checked) => {
            job.session.kept().cooldowns.clear(kind.name());
            state.compressions.health.succeeded(kind);
            if kind == job.chain.configured() {
                job.account.error = None;
            }
            job.account.unverified = checked.unverified;
            job.account.warnings.extend(checked.warnings);
            Ok(Some(Text { body: checked.body, by: kind }))
        }
        Err(refused) => {
            let failure = match refused {
                herma_context::check::Refused::Empty => CallFailure::empty_reply(),
                refused => other(&format!("what {} wrote was refused: {refused}", kind.name())),
            };
            failed(state, job, kind, &failure, None);
            Ok(None)
        }
    }
}

/// The record that needs no model; `failure` says for what it stands in.
async fn extractive(state: &State, job: &mut Job, failure: Option<String>) -> Outcome<Text> {
    let (prepared, policy) = (Arc::clone(&job.prepared), Arc::clone(&state.config.guard.severity));
    let checked = blocking("context.compress", move || {
        let body = prepared.extractive_summary(failure.as_deref());
        Ok(verify::repaired(&prepared, body, &policy))
    });
    let checked = checked.await?;
    tell(state, &job.session, Phase::Check);
    job.account.unverified = checked.unverified;
    job.account.warnings.extend(checked.warnings);
    Ok(Text { body: checked.body, by: Kind::Extractive })
}

/// Decides what follows from a failure, and remembers it for the session.
fn failed(state: &State, job: &mut Job, kind: Kind, failure: &CallFailure, pause: Option<f64>) {
    let named = job.chain.main.model.as_deref().unwrap_or_default();
    let main_model = if named.is_empty() && kind == Kind::Client { UNNAMED } else { named };
    let mut kept = job.session.kept();
    let attempt = Attempt { summary_model: job.chain.model.as_deref(), main_model, has_fallen_back: kept.uses_main };
    match decide(failure, &attempt) {
        Decision::RetryWithMain { aux_failure } => {
            tracing::info!(session = job.session.id, "{} failed: {}", aux_failure.model, aux_failure.error);
            kept.uses_main = true;
            kept.cooldowns.clear(kind.name());
            drop(kept);
            job.account.aux_failure = Some(aux_failure);
            job.chain.model = None;
        }
        Decision::GiveUp { cooldown_s, error } => {
            let model = state.summarizers.model(kind, &job.chain.main);
            tracing::info!(session = job.session.id, model, "{} failed: {error}", kind.name());
            kept.cooldowns.start(kind.name(), longer(cooldown_s, pause), unix_now());
            drop(kept);
            state.compressions.health.failed(kind, &error);
            job.account.error = Some(error);
            job.chain.at += 1;
        }
    }
    job.session.keep(state);
}

/// The longer one of two pauses, as far as it is within reason.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 and an hour")]
fn longer(cooldown_s: u64, pause: Option<f64>) -> u64 {
    cooldown_s.max(pause.map_or(0, |pause| pause.clamp(0.0, LONGEST_PAUSE).ceil() as u64))
}

fn other(words: &str) -> CallFailure {
    CallFailure { status: None, kind: Some(Known::Other), text: words.to_owned() }
}

fn call_failure(failure: Failure) -> CallFailure {
    let kind = match failure.kind {
        FailureKind::NoProvider => Known::NoProvider,
        FailureKind::Json => Known::Json,
        FailureKind::Connection => Known::Connection,
        FailureKind::Timeout => Known::Timeout,
        FailureKind::Other => Known::Other,
    };
    CallFailure { status: failure.status, kind: Some(kind), text: failure.text }
}
