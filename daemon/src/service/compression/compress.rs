//! A whole compression: its options and its result.

use std::sync::Arc;
use std::time::Instant;

use herma_context::cache::Prices;
use herma_context::engine::{CompressRequest, Focus, Gain, Place, Rejection, Slot, SummaryRequest};
use herma_context::forms::{Read, Translation};
use herma_context::outcome::CallFailure;
use herma_context::{Detail, Host, Message, tokens};
use herma_protocol::context::report::Report;
use tokio::sync::OwnedMutexGuard;

use super::begin::{Begun, begin};
use super::commit::commit;
use super::open_list::OpenList;
use super::report::Frame;
use super::run::{Run, RunOptions, RunReport, WrittenSummary};
use super::writing::{Step, Writing};
use super::{CompressionService, SentList, precomputed};
use crate::data::clock::{self, unix_now};
use crate::data::config::{CompressionMode, ContextConfig};
use crate::data::error::{Error, Outcome};
use crate::data::event::Event;
use crate::data::numbers::to_u64;
use crate::data::summarizer_kind::Kind;
use crate::owners::blocking::blocking;
use crate::service::session::Session;

/// The options of a compression.
#[derive(Debug, Clone, Default)]
pub(crate) struct CompressOptions {
    /// The list, as JSON texts; `None` for the session's transcript.
    pub messages: Option<Vec<String>>,
    /// The translation of the list, if it needed one.
    pub translation: Option<Arc<Translation>>,
    /// The caller's part of the request to the engine. The service adds what the session knows: rules, wishes, nodes.
    pub request: CompressRequest,
    /// Tries even summarizers that failed a moment ago, and allows the list to become longer.
    pub force: bool,
    /// A summarizer to use instead of the configured ones.
    pub summarizer: Option<Kind>,
    /// The session that continues afterwards; `None` for the configured mode.
    pub mode: Option<CompressionMode>,
    /// The detail of the handoff.
    pub detail: Detail,
    /// The form of the answer.
    pub form: ReplyForm,
    /// Where the summary prompt for the agent goes, if the agent writes the summary.
    pub place: Place,
    /// The largest size of the new list.
    pub target: Target,
    /// What the host can do with the new list.
    pub host: Host,
}

/// The largest size of a new list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Target {
    /// Anything below the threshold.
    #[default]
    Threshold,
    /// This number of tokens, if it is less.
    Tokens(u64),
    /// The configured number of tokens, if that is less.
    Configured,
}

/// The form in which the new list is returned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ReplyForm {
    /// The whole list.
    #[default]
    Messages,
    /// The edits to the old list.
    Edits,
}

/// The result of a compression.
pub(crate) enum Reply {
    /// The compression has ended.
    Answer(Answer),
    /// The agent has to write the summary.
    NeedsSummary {
        /// The name of the waiting run.
        ticket: String,
        /// The prompt for the agent's model.
        request: SummaryRequest,
    },
}

/// The new list, and the report about it.
pub(crate) struct Answer {
    pub sent: SentList,
    /// The new list, in terms of the old one.
    pub slots: Vec<Slot>,
    pub form: ReplyForm,
    pub report: Arc<Report>,
}

/// The name and stage of a run in advance; `None` if there is none.
pub(crate) type PrecomputedStage = Option<(String, precomputed::Stage)>;

impl CompressionService {
    /// Compresses the list of a session.
    pub(crate) async fn compress(
        self: &Arc<Self>,
        session: &Arc<Session>,
        mut options: CompressOptions,
    ) -> Outcome<Reply> {
        let started = Instant::now();
        let settings = session.settings().in_force(&self.defaults)?.detailed(options.detail).hosted_by(options.host);
        let settings = settings.aimed_at(match options.target {
            Target::Threshold => None,
            Target::Tokens(tokens) => Some(tokens),
            Target::Configured => Some(self.defaults.context.target),
        });
        let running = alone(session)?;
        if let Some(messages) = options.messages.take() {
            let Read { messages, translation } =
                Self::in_form(session, Read { messages, translation: options.translation.take() });
            (options.messages, options.translation) = (Some(messages), translation);
        }
        let opened = self.open_list(session, &mut options.messages).await?;
        if let Some(open) = &opened {
            options.leave_out(open);
        }
        // An earlier run that waits for its summary was for another list.
        self.prepared.tickets.cancel(&session.id);
        let chain = self.chain(session, options.summarizer);
        if options.force {
            let mut record = session.record();
            chain.kinds().iter().for_each(|kind| record.cooldowns.clear(kind.name()));
        }
        let mode = options.mode.unwrap_or(self.defaults.context.mode);
        let form = options.form;
        let request = CompressRequest {
            constraints: self.rules(session).await?,
            now: unix_now(),
            // A list that a handoff would make longer is returned unchanged, unless the caller insists. A list that was
            // refused, or is over the threshold, becomes shorter or is returned unchanged in any case.
            gain: if options.force { Gain::Any } else { Gain::Required },
            wishes: self.wishes(session).await?,
            // The nodes are added later.
            ..options.request
        };
        let (current, prompt, is_forced) = (request.current_tokens, request.prompt(), options.force);
        let kinds = chain.kinds().to_vec();
        let used = settings.clone();
        let CompressOptions { messages, translation, place, .. } = options;
        let run = RunOptions { request, chain, mode, form, place, opened: opened.clone(), translation, started };
        match begin(self, session, settings, messages, run).await? {
            Begun::Rejection { why, input, translation } => {
                if is_forced {
                    self.keep_found_rules(session, &input).await;
                }
                let list = Arc::clone(&input);
                let over = blocking("context.compress", move || Ok(used.engine.over(&list, &used, prompt))).await?;
                let why = self.declined(session, why, &input, current);
                let frame = Frame { session, record: &session.record().clone(), chain: &kinds, started };
                let sent = SentList::of(input, opened.as_deref(), translation);
                let report = frame.unchanged(why, &sent, &RunReport::default(), over.as_ref());
                Ok(self.unchanged(sent, form, report))
            }
            Begun::Ready(run, text) => self.finish(*run, text, running).await,
            Begun::Lacking(run) => self.go_on(run, running).await,
        }
    }

    /// Resumes a run that waits for its summary.
    pub(crate) async fn resume(
        self: &Arc<Self>,
        profile: Option<&str>,
        ticket: &str,
        summary: Result<String, CallFailure>,
    ) -> Outcome<Reply> {
        let tickets = &self.prepared.tickets;
        let session = tickets.session(ticket).ok_or_else(|| no_ticket(ticket))?;
        session.check_profile(profile)?;
        let running = alone(&session)?;
        let mut run = tickets.take(ticket).ok_or_else(|| no_ticket(ticket))?;
        let mut writing = Writing { service: self, run: &mut run };
        match summary {
            Ok(summary) => match writing.answered(summary).await? {
                Some(text) => self.finish(*run, text, running).await,
                None => self.go_on(run, running).await,
            },
            Err(failure) => {
                writing.unanswered(&failure);
                self.go_on(run, running).await
            }
        }
    }

    /// Begins a run in advance for the transcript.
    pub(crate) async fn compact_ahead(
        self: &Arc<Self>,
        session: &Arc<Session>,
        focus: Focus,
    ) -> Outcome<PrecomputedStage> {
        let settings = session.settings().in_force(&self.defaults)?;
        precomputed::begin(self, session, settings, focus).await
    }

    /// Returns the options of a run in advance.
    pub(super) async fn options_ahead(&self, session: &Session, focus: Focus) -> Outcome<RunOptions> {
        let request = CompressRequest {
            focus,
            today: clock::today(),
            constraints: self.rules(session).await?,
            now: unix_now(),
            gain: Gain::Required,
            wishes: self.wishes(session).await?,
            ..CompressRequest::default()
        };
        let (chain, mode) = (self.chain(session, None), self.defaults.context.mode);
        let (form, place, started) = (ReplyForm::Messages, Place::Alone, Instant::now());
        Ok(RunOptions { request, chain, mode, form, place, opened: None, translation: None, started })
    }

    /// Writes the summary and finishes the run, or lets it wait for the agent.
    async fn go_on(self: &Arc<Self>, mut run: Box<Run>, running: OwnedMutexGuard<()>) -> Outcome<Reply> {
        match (Writing { service: self, run: &mut run }).write().await? {
            Step::Written(text) => self.finish(*run, text, running).await,
            Step::GivesUp => Ok(self.given_up(&run)),
            Step::Asks(request) => Ok(Reply::NeedsSummary { ticket: self.prepared.tickets.put(run), request }),
        }
    }

    async fn finish(self: &Arc<Self>, run: Run, text: WrittenSummary, running: OwnedMutexGuard<()>) -> Outcome<Reply> {
        let (form, started, chain) = (run.options.form, run.options.started, run.options.chain.kinds().to_vec());
        let (opened, translation) = (run.options.opened.clone(), run.options.translation.clone());
        let done = commit(self, run, text, running).await?;
        let ContextConfig { cache_write_price: write, cache_read_price: read, .. } = self.defaults.context;
        let prices = Prices { write, read };
        let sent = SentList::of(Arc::clone(&done.input), opened.as_deref(), translation);
        let slots = sent.slots(&done.compressed.slots);
        let mut report =
            Frame { session: &done.session, record: &done.record, chain: &chain, started }.done(&done, &sent, prices);
        report.messages_after = to_u64(slots.len());
        report.folded = opened.map(|open| open.nodes()).unwrap_or_default();
        self.rewrite_nodes(&done.session);
        Ok(self.reply(Answer { sent, slots, form, report: Arc::new(report) }))
    }

    /// Returns the input unchanged, because no summarizer wrote a summary. Archives nothing.
    fn given_up(&self, run: &Run) -> Reply {
        let record = {
            let mut record = run.session.record();
            record.engine.abort(&run.report.notes(false));
            record.clone()
        };
        run.session.post_record(&self.archive);
        let options = &run.options;
        let sent = SentList::of(run.prepared.input().into(), options.opened.as_deref(), options.translation.clone());
        let frame =
            Frame { session: &run.session, record: &record, chain: options.chain.kinds(), started: options.started };
        let why = "no summarizer wrote a summary, and none is to stand in for it (abort_on_summary_failure)";
        let report = frame.unchanged(why.into(), &sent, &run.report, None);
        self.unchanged(sent, options.form, report)
    }

    /// Notes that there was nothing to do, and returns the reason.
    fn declined(&self, session: &Arc<Session>, why: Rejection, input: &[Message], current: Option<i64>) -> String {
        {
            let mut record = session.record();
            record.engine.decline(why);
            if why != Rejection::TooFew {
                let tokens = record.engine.size_before(current, tokens::estimate_messages(input));
                record.breaker.note_nothing(tokens, unix_now());
            }
        }
        session.post_record(&self.archive);
        why.to_string()
    }

    fn unchanged(&self, sent: SentList, form: ReplyForm, report: Report) -> Reply {
        let slots = sent.unchanged();
        self.reply(Answer { sent, slots, form, report: Arc::new(report) })
    }

    fn reply(&self, answer: Answer) -> Reply {
        self.events.publish(Event::CompressionDone(Arc::clone(&answer.report)));
        Reply::Answer(answer)
    }
}

impl CompressOptions {
    /// Converts options for a list with opened parts into options for the list without them.
    fn leave_out(&mut self, open: &OpenList) {
        self.request.range = self.request.range.take().map(|range| open.range_without(range));
        let parts = i64::try_from(open.tokens()).unwrap_or(i64::MAX);
        let current = &mut self.request.current_tokens;
        *current = current.map(|tokens| if tokens > parts { tokens - parts } else { tokens });
    }
}

/// Makes sure that no other compression of the session runs.
pub(super) fn alone(session: &Session) -> Outcome<OwnedMutexGuard<()>> {
    session
        .begin_compressing()
        .ok_or_else(|| Error::Busy(format!("another compression of session {:?} is running", session.id)))
}

fn no_ticket(ticket: &str) -> Error {
    let shown: String = ticket.chars().take(64).collect();
    Error::NotFound(format!(
        "there is no ticket {shown:?}: it was used, it is older than 30 minutes, its session was compressed, reset, \
         configured anew or closed since, or too many runs wait; ask context.compress again"
    ))
}
