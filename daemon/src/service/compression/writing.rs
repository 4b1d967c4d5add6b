//! Writes the summary of a run: one summarizer after the other, until one succeeds.

use std::sync::Arc;
use std::time::Duration;

use herma_context::check::Refused;
use herma_context::engine::{Place, SummaryRequest};
use herma_context::outcome::{Attempt, CallFailure, Decision, FailureKind, decide};

use super::CompressionService;
use super::run::{Run, RunOptions, WrittenSummary};
use crate::data::clock::unix_now;
use crate::data::error::Outcome;
use crate::data::event::Phase;
use crate::data::summarizer_kind::Kind;
use crate::owners::blocking::blocking;
use crate::owners::summarizer::Failure;
use crate::service::summary_runner::{self, Policy, Question, Turn};

/// The name with which a summarizer uses the session's own model.
const OWN_MODEL: &str = "main";

/// Replaces the name of a session's own model, if only the agent knows it.
const UNNAMED: &str = "the session's own model";

/// The longest pause that an endpoint can request, in seconds.
const LONGEST_PAUSE: f64 = 3600.0;

/// The result of trying the summarizers.
pub(super) enum Step {
    /// A summary was written.
    Written(WrittenSummary),
    /// The agent has to write it.
    Asks(SummaryRequest),
    /// No summarizer wrote one, and there is no fallback.
    GivesUp,
}

/// Writes the summary of a run.
pub(super) struct Writing<'a> {
    pub service: &'a CompressionService,
    pub run: &'a mut Run,
}

impl Writing<'_> {
    /// Tries the summarizers of the chain until one wrote a summary that passes, or the agent has to write it.
    pub(super) async fn write(&mut self) -> Outcome<Step> {
        self.service.publish_phase(&self.run.session, Phase::Summarise);
        if let Some(step) = summary_runner::run(&self.service.summarizers, self).await? {
            return Ok(step);
        }
        if !self.run.options.chain.has_fallback {
            return Ok(Step::GivesUp);
        }
        let error = self.run.report.error.clone().unwrap_or_default();
        self.extractive(Some(error)).await.map(Step::Written)
    }

    /// Checks a summary by the agent; `None` if it does not pass.
    pub(super) async fn answered(&mut self, summary: String) -> Outcome<Option<WrittenSummary>> {
        self.checked(Kind::Client, summary).await
    }

    /// Notes why the agent wrote no summary.
    pub(super) fn unanswered(&mut self, failure: &CallFailure) {
        self.note_failure(Kind::Client, failure, None);
    }

    /// Returns the prompt, with as many of the turns as the summarizer can read.
    async fn request(&mut self, kind: Kind) -> Outcome<Option<SummaryRequest>> {
        let own = self.run.session.window();
        let window = self.service.summarizers.context_length(kind).or(own);
        let prepared = Arc::clone(&self.run.prepared);
        let behind = kind == Kind::Client
            && self.run.options.place == Place::BehindList
            && self.run.options.chain.model.is_none();
        let request = blocking("context.compress", move || {
            if let Some(request) = behind.then(|| prepared.request_behind(window)).flatten() {
                return Ok(Some((request, 0)));
            }
            Ok(match window {
                // The agent knows its model, so it gets the prompt even if the window has no room.
                Some(window) => {
                    prepared.request_within(window).or_else(|| (kind == Kind::Client).then(|| (prepared.request(), 0)))
                }
                None => Some((prepared.request(), 0)),
            })
        });
        let Some((mut request, omitted)) = request.await? else { return Ok(None) };
        request.model.clone_from(&self.run.options.chain.model);
        if omitted > 0 {
            let name = kind.name();
            let words = format!("{name} did not read {omitted} of the turns: its window is too small for all");
            self.run.report.warnings.push(words);
        }
        Ok(Some(request))
    }

    async fn checked(&mut self, kind: Kind, body: String) -> Outcome<Option<WrittenSummary>> {
        self.service.publish_phase(&self.run.session, Phase::Check);
        let (prepared, policy) = (Arc::clone(&self.run.prepared), Arc::clone(&self.service.policy));
        let checked = blocking("context.compress", move || Ok(prepared.check(&body, &policy))).await?;
        let checked = match checked {
            Ok(checked) => checked,
            Err(refused) => {
                let failure = match refused {
                    Refused::Empty => CallFailure::empty_reply(),
                    refused => other(&format!("what {} wrote was refused: {refused}", kind.name())),
                };
                self.note_failure(kind, &failure, None);
                return Ok(None);
            }
        };
        self.run.session.record().cooldowns.clear(kind.name());
        self.service.health.succeeded(kind);
        let report = &mut self.run.report;
        if kind == self.run.options.chain.configured() {
            report.error = None;
        }
        report.unverified = checked.unverified;
        report.warnings.extend(checked.warnings);
        Ok(Some(WrittenSummary { body: checked.body, by: kind }))
    }

    /// Writes the record that needs no model. `failure` is the failure that it replaces.
    async fn extractive(&mut self, failure: Option<String>) -> Outcome<WrittenSummary> {
        let (prepared, policy) = (Arc::clone(&self.run.prepared), Arc::clone(&self.service.policy));
        let checked = blocking("context.compress", move || {
            let body = prepared.extractive_summary(failure.as_deref());
            Ok(prepared.repaired(body, &policy))
        });
        let checked = checked.await?;
        self.service.publish_phase(&self.run.session, Phase::Check);
        self.run.report.unverified = checked.unverified;
        self.run.report.warnings.extend(checked.warnings);
        Ok(WrittenSummary { body: checked.body, by: Kind::Extractive })
    }

    /// Decides how to go on after a failure, and remembers that for the session.
    fn note_failure(&mut self, kind: Kind, failure: &CallFailure, pause: Option<f64>) {
        let Run { session, options: RunOptions { chain, .. }, report, .. } = &mut *self.run;
        let named = chain.main.model.as_deref().unwrap_or_default();
        let main_model = if named.is_empty() && kind == Kind::Client { UNNAMED } else { named };
        let mut record = session.record();
        let attempt = Attempt { summary_model: chain.model.as_deref(), main_model, has_fallen_back: record.uses_main };
        match decide(failure, &attempt) {
            Decision::RetryWithMain { aux_failure } => {
                tracing::info!(session = session.id, "{} failed: {}", aux_failure.model, aux_failure.error);
                record.uses_main = true;
                record.cooldowns.clear(kind.name());
                report.aux_failure = Some(aux_failure);
                chain.model = None;
            }
            Decision::GiveUp { cooldown_s, error } => {
                let model = self.service.summarizers.model(kind, &chain.main);
                tracing::info!(session = session.id, model, "{} failed: {error}", kind.name());
                record.cooldowns.start(kind.name(), longer(cooldown_s, pause), unix_now());
                self.service.health.failed(kind, &error);
                report.error = Some(error);
                chain.advance();
            }
        }
        drop(record);
        session.post_record(&self.service.archive);
    }
}

impl Policy for Writing<'_> {
    type Text = Step;

    fn current(&self) -> Option<Kind> {
        self.run.options.chain.current()
    }

    async fn turn(&mut self, kind: Kind) -> Outcome<Turn<Step>> {
        if kind == Kind::Extractive {
            return self.extractive(None).await.map(Step::Written).map(Turn::End);
        }
        let pause = self.run.session.record().cooldowns.remaining(kind.name(), unix_now());
        if pause > 0.0 {
            let words = format!("{} failed a moment ago and is asked again in {pause:.0} s", kind.name());
            self.run.report.error = Some(words);
            self.run.options.chain.advance();
            return Ok(Turn::Skip);
        }
        let Some(request) = self.request(kind).await? else {
            let words = "its window has no room for the instructions, the summary and a part of the conversation";
            self.note_failure(kind, &other(words), None);
            return Ok(Turn::Skip);
        };
        // An earlier summary covers all messages.
        if request.prompt.is_empty() {
            return self.extractive(None).await.map(Step::Written).map(Turn::End);
        }
        if kind == Kind::Client {
            return Ok(Turn::End(Step::Asks(request)));
        }
        let uses_main = self.run.session.record().uses_main;
        let model = if uses_main { Some(OWN_MODEL.to_owned()) } else { self.run.options.chain.model.clone() };
        let main = self.run.options.chain.main.clone();
        Ok(Turn::Ask(Box::new(Question { prompt: request.prompt, max_tokens: request.max_tokens, model, main })))
    }

    async fn accept(&mut self, kind: Kind, text: String) -> Outcome<Option<Step>> {
        Ok(self.checked(kind, text).await?.map(Step::Written))
    }

    fn failed(&mut self, kind: Kind, failure: Failure) -> Duration {
        let Failure { status, kind: why, retry_after_s, text, .. } = failure;
        self.note_failure(kind, &CallFailure { status, kind: Some(why), text }, retry_after_s);
        // The summarizer's cooldown is already set. The next one is tried at once.
        Duration::ZERO
    }
}

/// Returns the longer of two pauses, within a reasonable limit.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 and an hour")]
fn longer(cooldown_s: u64, pause: Option<f64>) -> u64 {
    cooldown_s.max(pause.map_or(0, |pause| pause.clamp(0.0, LONGEST_PAUSE).ceil() as u64))
}

fn other(words: &str) -> CallFailure {
    CallFailure { status: None, kind: Some(FailureKind::Other), text: words.to_owned() }
}
