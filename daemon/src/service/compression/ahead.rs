//! Summaries that are written while nobody waits.
//!
//! From the transcript that was appended a run is prepared and its summary written. It
//! is kept until the session is compressed: where the list only grew since, byte for
//! byte, what is new goes into the tail.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use herma_context::{CompressRequest, EngineState, Focus, Prepared, Settings, prepare};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::chain::{self, Step};
use super::job::{Account, Job, Text, Wish};
use super::{collect, tickets};
use crate::data::error::Outcome;
use crate::service::session::Session;
use crate::wire::handler::blocking;
use crate::wire::state::State;

/// How long a summary is kept.
const LIFE: Duration = Duration::from_secs(30 * 60);

/// Runs that are kept or under way at one time; the oldest makes room.
const MOST: usize = 32;

/// Bytes of the lists that are kept at one time; the oldest ones make room.
const MOST_BYTES: usize = 256 << 20;

/// The runs that are under way or ready.
#[derive(Debug, Default)]
pub(crate) struct Aheads(Mutex<VecDeque<Ahead>>);

#[derive(Debug)]
struct Ahead {
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
pub(crate) struct Ready {
    job: Job,
    text: Text,
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
pub(crate) enum Continued {
    /// It can: the list only grew.
    Fits { prepared: Box<Prepared>, text: Text, account: Account },
    /// It can't; here is the list.
    Differs(Vec<String>),
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if let Progress::Running(Some(task)) = &self.progress {
            task.abort();
        }
    }
}

impl Aheads {
    /// Takes what is ready for a run, if it was made for the same; whatever it is, it does
    /// not count any more after that run.
    pub(crate) fn take(&self, session: &str, generation: u64, settings: &Settings, wish: &Wish) -> Option<Box<Ready>> {
        let mut ahead = {
            let mut all = self.all();
            let at = all.iter().position(|ahead| ahead.session == session)?;
            all.remove(at)?
        };
        let is_same = ahead.is_for(generation, settings, &wish.request.focus);
        match std::mem::replace(&mut ahead.progress, Progress::Running(None)) {
            Progress::Ready(ready) if is_same && ready.job.chain.is_of(&wish.chain) => Some(ready),
            running => {
                ahead.progress = running;
                None
            }
        }
    }

    /// Drops what was made for a session.
    pub(crate) fn forget(&self, session: &str) {
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

    fn insert(self: &Arc<Self>, ahead: Ahead) {
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
            if let Some(aheads) = weak.upgrade() {
                aheads.all().retain(|ahead| ahead.until > Instant::now());
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

    fn all(&self) -> MutexGuard<'_, VecDeque<Ahead>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ahead {
    fn is_for(&self, generation: u64, settings: &Settings, focus: &Focus) -> bool {
        self.generation == generation
            && self.settings == *settings
            && self.focus == *focus
            && self.until > Instant::now()
    }
}

/// Begins a run for the transcript that was appended, unless there is one; `None` when
/// there is nothing to compress, or only the agent could write the summary.
pub(crate) async fn begin(
    state: &Arc<State>,
    session: &Arc<Session>,
    settings: Settings,
    wish: Wish,
) -> Outcome<Option<(String, Stage)>> {
    if let Some(known) = state.compressions.aheads.stage(session, &settings, &wish.request.focus) {
        return Ok(Some(known));
    }
    let Some(chain) = wish.chain.without_client() else { return Ok(None) };
    let (generation, kept) = (session.generation(), session.kept().engine.clone());
    let texts = collect::transcript(state, session).await?;
    let length = texts.len();
    let (request, used) = (wish.request.clone(), settings.clone());
    let prepared =
        blocking("context.compact_ahead", move || Ok(prepare(&collect::parse(texts), &used, &kept, &request).ok()));
    // What has to become small at once is decided for the list as it is then.
    let Some(prepared) = prepared.await?.filter(Prepared::is_ordinary) else { return Ok(None) };
    let name = format!("ahead_{}_{generation}_{length}", super::commit::short_hash(&session.id));
    let job = Job {
        session: Arc::clone(session),
        generation,
        prepared: Arc::new(prepared),
        chain,
        mode: wish.mode,
        form: wish.form,
        started: wish.started,
        account: Account::default(),
        stage: None,
    };
    let aheads = &state.compressions.aheads;
    aheads.insert(Ahead {
        session: session.id.clone(),
        generation,
        focus: wish.request.focus,
        settings,
        name: name.clone(),
        bytes: tickets::size(job.prepared.input()),
        until: Instant::now() + LIFE,
        progress: Progress::Running(None),
    });
    let task = tokio::spawn(write(Arc::clone(state), job, name.clone()));
    let mut all = aheads.all();
    // It may have finished already.
    if let Some(ahead) = all.iter_mut().find(|ahead| ahead.name == name)
        && let Progress::Running(handle) = &mut ahead.progress
    {
        *handle = Some(task.abort_handle());
    }
    drop(all);
    Ok(Some((name, Stage::Started)))
}

/// Has the summary written. A run that comes to none is forgotten.
async fn write(state: Arc<State>, mut job: Job, name: String) {
    let written = chain::write(&state, &mut job).await;
    let aheads = &state.compressions.aheads;
    match written {
        Ok(Step::Written(text)) if text.by == job.chain.configured() || job.chain.kinds().contains(&text.by) => {
            aheads.become_(&name, Progress::Ready(Box::new(Ready { job, text })));
        }
        _ => aheads.remove(&name),
    }
}

/// Uses a run that was made ahead for a list, where that only grew since and the result
/// is small enough.
pub(crate) fn continued(
    ready: Ready,
    mut texts: Vec<String>,
    kept: &EngineState,
    request: &CompressRequest,
) -> Outcome<Continued> {
    let Ready { job, text } = ready;
    let Some(prepared) = Arc::into_inner(job.prepared) else { return Ok(Continued::Differs(texts)) };
    let input = prepared.input();
    let only_grew = input.len() <= texts.len() && input.iter().zip(&texts).all(|(one, other)| one.raw() == other);
    if !only_grew {
        return Ok(Continued::Differs(texts));
    }
    let length = input.len();
    let more = collect::parse(texts.split_off(length));
    let prepared = prepared.continued(more, kept, request);
    if !prepared.fits() {
        let texts = prepared.input().iter().map(|message| message.raw().to_owned()).collect();
        return Ok(Continued::Differs(texts));
    }
    Ok(Continued::Fits { prepared: Box::new(prepared), text, account: job.account })
}
