//! Summaries that are written while nobody waits.
//!
//! From the transcript that was appended a run is prepared and its summary written, or what an engine
//! writes itself. It is kept until the session is compressed: where the list only grew since, byte for
//! byte, what is new goes into the tail.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use herma_context::Settings;
use herma_context::engine::{CompressRequest, EngineState, Focus, Prepared};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::commit::short_hash;
use super::due::{Due, Reason};
use super::run::{Run, RunOptions, RunReport, WrittenSummary};
use super::writing::{Step, Writing};
use super::{CompressionService, list};
use crate::data::error::Outcome;
use crate::data::event::Phase;
use crate::owners::blocking::blocking;
use crate::service::session::Session;

/// How long a summary is kept.
const LIFE: Duration = Duration::from_secs(30 * 60);

/// Runs that are kept or under way at one time; the oldest makes room.
const MOST: usize = 32;

/// Bytes of the lists that are kept at one time; the oldest ones make room.
const MOST_BYTES: usize = 256 << 20;

/// The runs that are under way or ready.
#[derive(Debug, Default)]
pub(super) struct PrecomputedSummaries(Mutex<VecDeque<PrecomputedSummary>>);

#[derive(Debug)]
struct PrecomputedSummary {
    session: String,
    generation: u64,
    focus: Focus,
    settings: Settings,
    name: String,
    bytes: usize,
    until: Instant,
    progress: Progress,
}

#[derive(Debug)]
enum Progress {
    Running(Option<AbortHandle>),
    Ready(Box<Ready>),
}

/// A run that only lacks the list that it will be used for.
#[derive(Debug)]
pub(super) struct Ready {
    run: Run,
    text: WrittenSummary,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It begins now.
    Started,
    /// It began before.
    Running,
    /// It can be used.
    Ready,
}

/// Whether a run that was made ahead can be used for a list.
pub(super) enum Continued {
    /// It can: the list only grew.
    Fits { prepared: Box<Prepared>, text: WrittenSummary, report: RunReport },
    /// It can't; here is the list.
    Differs(Vec<String>),
}

impl Drop for PrecomputedSummary {
    fn drop(&mut self) {
        if let Progress::Running(Some(task)) = &self.progress {
            task.abort();
        }
    }
}

impl PrecomputedSummaries {
    /// Takes what is ready for a run, if it was made for the same; whatever it is, it does
    /// not count any more after that run.
    pub(super) fn take(
        &self,
        session: &str,
        generation: u64,
        settings: &Settings,
        options: &RunOptions,
    ) -> Option<Box<Ready>> {
        let mut ahead = {
            let mut all = self.all();
            let at = all.iter().position(|ahead| ahead.session == session)?;
            all.remove(at)?
        };
        let is_same = ahead.is_for(generation, settings, &options.request.focus) && options.request.range.is_none();
        match std::mem::replace(&mut ahead.progress, Progress::Running(None)) {
            Progress::Ready(ready) if is_same && ready.run.chain.is_of(&options.chain) => Some(ready),
            running => {
                ahead.progress = running;
                None
            }
        }
    }

    /// Drops what was made for a session.
    pub(super) fn forget(&self, session: &str) {
        self.all().retain(|ahead| ahead.session != session);
    }

    /// How far a run for the same is, and its name.
    fn stage(&self, session: &Session, settings: &Settings, focus: &Focus) -> Option<(String, Stage)> {
        let all = self.all();
        let ahead = all.iter().find(|ahead| ahead.session == session.id)?;
        let stage = match &ahead.progress {
            Progress::Running(_) => Stage::Running,
            Progress::Ready(_) => Stage::Ready,
        };
        ahead.is_for(session.generation(), settings, focus).then(|| (ahead.name.clone(), stage))
    }

    fn insert(self: &Arc<Self>, ahead: PrecomputedSummary) {
        let until = ahead.until;
        let mut all = self.all();
        all.retain(|other| other.session != ahead.session && other.until > Instant::now());
        let mut held: usize = all.iter().map(|ahead| ahead.bytes).sum();
        while all.len() >= MOST || held.saturating_add(ahead.bytes) > MOST_BYTES {
            let Some(oldest) = all.pop_front() else { break };
            held -= oldest.bytes;
        }
        all.push_back(ahead);
        drop(all);
        let weak = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep_until(until).await;
            if let Some(precomputed) = weak.upgrade() {
                precomputed.all().retain(|ahead| ahead.until > Instant::now());
            }
        });
    }

    fn become_(&self, name: &str, progress: Progress) {
        let mut all = self.all();
        if let Some(ahead) = all.iter_mut().find(|ahead| ahead.name == name) {
            ahead.progress = progress;
        }
    }

    fn remove(&self, name: &str) {
        self.all().retain(|ahead| ahead.name != name);
    }

    fn all(&self) -> MutexGuard<'_, VecDeque<PrecomputedSummary>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PrecomputedSummary {
    fn is_for(&self, generation: u64, settings: &Settings, focus: &Focus) -> bool {
        self.generation == generation
            && self.settings == *settings
            && self.focus == *focus
            && self.until > Instant::now()
    }
}

/// Percent of the threshold from which a run is begun unasked by an engine that needs nobody for it. What comes
/// until the threshold is in the tail of that run, so it is to be little.
const NEAR: u64 = 90;

impl CompressionService {
    /// Begins a run ahead, once in each generation, where a session comes near its threshold and its engine asks nobody:
    /// then nothing is left to do for the turn that crosses it but to put the list together.
    pub(crate) fn begin_ahead_if_near(self: &Arc<Self>, session: &Arc<Session>, settings: &Settings, due: &Due) {
        let is_near = matches!(due.reason, Reason::BelowThreshold | Reason::OverThreshold)
            && u128::from(due.tokens) * 100 >= u128::from(due.threshold) * u128::from(NEAR);
        if !settings.engine.writes_itself() || !is_near || due.compress || !session.begins_ahead() {
            return;
        }
        let (service, session) = (Arc::clone(self), Arc::clone(session));
        tokio::spawn(async move {
            if let Err(error) = service.compact_ahead(&session, Focus::default()).await {
                tracing::debug!(session = session.id, "nothing was made ahead: {error}");
            }
        });
    }
}

/// Begins a run for the transcript that was appended, unless there is one; `None` when
/// there is nothing to compress, or only the agent could write the summary.
pub(super) async fn begin(
    service: &Arc<CompressionService>,
    session: &Arc<Session>,
    settings: Settings,
    options: RunOptions,
) -> Outcome<Option<(String, Stage)>> {
    if let Some(known) = service.prepared.precomputed.stage(session, &settings, &options.request.focus) {
        return Ok(Some(known));
    }
    let mut options = options;
    let Some(chain) = options.chain.without_client(settings.engine) else { return Ok(None) };
    service.tell_nodes(session, &settings, &mut options.request).await?;
    let (generation, state) = (session.generation(), session.record().engine.clone());
    let transcript = service.archive.transcript(session.id.clone()).await?;
    let texts = transcript.map_or_else(Vec::new, |(_, texts)| texts);
    let length = texts.len();
    let (request, used) = (options.request.clone(), settings.clone());
    let prepared = blocking("context.compact_ahead", move || {
        Ok(used.engine.prepare(&list::parse(texts), &used, &state, &request, |_| ()).ok())
    });
    // What has to become small at once is decided for the list as it is then.
    let Some(prepared) = prepared.await?.filter(Prepared::is_ordinary) else {
        return Ok(None);
    };
    let name = format!("ahead_{}_{generation}_{length}", short_hash(&session.id));
    let run = Run {
        session: Arc::clone(session),
        generation,
        prepared: Arc::new(prepared),
        chain,
        mode: options.mode,
        form: options.form,
        started: options.started,
        transcript: None,
        report: RunReport::default(),
        staged: None,
    };
    let precomputed = &service.prepared.precomputed;
    precomputed.insert(PrecomputedSummary {
        session: session.id.clone(),
        generation,
        focus: options.request.focus,
        settings,
        name: name.clone(),
        bytes: list::size(run.prepared.input()),
        until: Instant::now() + LIFE,
        progress: Progress::Running(None),
    });
    let task = tokio::spawn(write(Arc::clone(service), run, name.clone()));
    let mut all = precomputed.all();
    // It may have finished already.
    if let Some(ahead) = all.iter_mut().find(|ahead| ahead.name == name)
        && let Progress::Running(handle) = &mut ahead.progress
    {
        *handle = Some(task.abort_handle());
    }
    drop(all);
    Ok(Some((name, Stage::Started)))
}

/// Has the summary written, or what the engine writes itself. A run that comes to none is forgotten.
async fn write(service: Arc<CompressionService>, mut run: Run, name: String) {
    if !run.prepared.needs_summary() {
        service.publish_phase(&run.session, Phase::Summarise);
        let policy = Arc::clone(&service.policy);
        let done =
            blocking("context.compact_ahead", move || Ok(run.write_own(&policy).map(|text| Ready { run, text })));
        match done.await {
            Ok(Some(ready)) => service.prepared.precomputed.become_(&name, Progress::Ready(Box::new(ready))),
            _ => service.prepared.precomputed.remove(&name),
        }
        return;
    }
    let written = Writing { service: &service, run: &mut run }.write().await;
    let precomputed = &service.prepared.precomputed;
    match written {
        Ok(Step::Written(text)) if text.by == run.chain.configured() || run.chain.kinds().contains(&text.by) => {
            precomputed.become_(&name, Progress::Ready(Box::new(Ready { run, text })));
        }
        _ => precomputed.remove(&name),
    }
}

/// Uses a run that was made ahead for a list, where that only grew since and the result
/// is small enough.
pub(super) fn continued(
    ready: Ready,
    mut texts: Vec<String>,
    state: &EngineState,
    request: &CompressRequest,
) -> Outcome<Continued> {
    let Ready { run, text } = ready;
    let Some(prepared) = Arc::into_inner(run.prepared) else { return Ok(Continued::Differs(texts)) };
    let input = prepared.input();
    let only_grew = input.len() <= texts.len() && input.iter().zip(&texts).all(|(one, other)| one.raw() == other);
    if !only_grew {
        return Ok(Continued::Differs(texts));
    }
    let length = input.len();
    let more = list::parse(texts.split_off(length));
    let prepared = prepared.continued(more, state, request);
    if !prepared.fits() {
        let texts = prepared.input().iter().map(|message| message.raw().to_owned()).collect();
        return Ok(Continued::Differs(texts));
    }
    Ok(Continued::Fits { prepared: Box::new(prepared), text, report: run.report })
}
