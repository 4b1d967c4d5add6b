//! Runs that are made while nobody waits.
//!
//! From the transcript that was appended a run is prepared and its summary written, or what an engine
//! writes itself ([`begin`]); where nobody else is asked for it, without being told to ([`unasked`]). It is kept until
//! the session is compressed: where the list only grew since, byte for byte, what is new goes into the tail
//! ([`continued`]).

mod begin;
mod continued;
mod unasked;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use herma_context::Settings;
use herma_context::engine::Focus;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

pub(super) use self::begin::begin;
pub(super) use self::continued::{Continued, More, continued};
use super::commit::short_hash;
use super::list;
use super::run::{Run, RunOptions, WrittenSummary};
use crate::owners::archive::KnownTranscript;
use crate::service::session::Session;

/// How long a run is kept.
const LIFE: Duration = Duration::from_secs(30 * 60);

/// Runs that are kept or under way at one time; the oldest makes room.
const MOST: usize = 32;

/// Bytes of the lists that are kept at one time; the oldest ones make room.
const MOST_BYTES: usize = 256 << 20;

/// The runs that are under way or ready.
#[derive(Debug, Default)]
pub(super) struct PrecomputedRuns(Mutex<Shelf>);

#[derive(Debug, Default)]
struct Shelf {
    /// Oldest first.
    runs: VecDeque<PrecomputedRun>,
    /// How many there were.
    count: u64,
}

#[derive(Debug)]
struct PrecomputedRun {
    session: String,
    generation: u64,
    focus: Focus,
    settings: Settings,
    name: String,
    /// Of its list, once it is ready.
    bytes: usize,
    until: Instant,
    progress: Progress,
}

#[derive(Debug)]
enum Progress {
    /// Who waits for it is told when this is dropped.
    Running {
        task: Option<AbortHandle>,
        over: watch::Sender<()>,
        writer: Writer,
    },
    Ready(Box<Ready>),
    Taken,
}

/// Who writes what a run needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    /// herma, so that it is ready in a moment.
    Herma,
    /// Whoever the chain of summarizers asks.
    Chain,
}

/// A run that only lacks the list that it will be used for.
#[derive(Debug)]
pub(super) struct Ready {
    run: Run,
    text: WrittenSummary,
}

impl Ready {
    /// The transcript that it was made from, and how many messages that had.
    pub(super) fn transcript(&self) -> Option<(KnownTranscript, u64)> {
        let length = u64::try_from(self.run.prepared.input().len()).ok()?;
        Some((self.run.transcript?, length))
    }
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

impl Drop for PrecomputedRun {
    fn drop(&mut self) {
        if let Progress::Running { task: Some(task), .. } = &self.progress {
            task.abort();
        }
    }
}

impl PrecomputedRuns {
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
            let mut shelf = self.shelf();
            let at = shelf.runs.iter().position(|ahead| ahead.session == session)?;
            shelf.runs.remove(at)?
        };
        let is_same = ahead.serves(generation, settings, options);
        match std::mem::replace(&mut ahead.progress, Progress::Taken) {
            Progress::Ready(ready) if is_same && ready.run.chain.is_of(&options.chain) => Some(ready),
            other => {
                ahead.progress = other;
                None
            }
        }
    }

    /// Waits for a run that is ready in a moment, if it is made for the same.
    pub(super) async fn finished(&self, session: &str, generation: u64, settings: &Settings, options: &RunOptions) {
        let over = {
            let shelf = self.shelf();
            let ahead = shelf.runs.iter().find(|ahead| ahead.session == session);
            ahead.filter(|ahead| ahead.serves(generation, settings, options)).and_then(PrecomputedRun::over)
        };
        if let Some(mut over) = over {
            // Nothing is ever sent: an error says that it is over.
            drop(over.changed().await);
        }
    }

    /// Drops what was made for a session.
    pub(super) fn forget(&self, session: &str) {
        self.shelf().runs.retain(|ahead| ahead.session != session);
    }

    /// How far a run for the same is, and its name.
    fn stage(&self, session: &Session, settings: &Settings, focus: &Focus) -> Option<(String, Stage)> {
        let shelf = self.shelf();
        let ahead = shelf.runs.iter().find(|ahead| ahead.session == session.id)?;
        let stage = match &ahead.progress {
            Progress::Running { .. } => Stage::Running,
            Progress::Ready(_) | Progress::Taken => Stage::Ready,
        };
        ahead.is_for(session.generation(), settings, focus).then(|| (ahead.name.clone(), stage))
    }

    /// Notes that a run is under way, and names it.
    fn start(
        self: &Arc<Self>,
        session: &Session,
        generation: u64,
        settings: Settings,
        focus: Focus,
        writer: Writer,
    ) -> String {
        let until = Instant::now() + LIFE;
        let mut shelf = self.shelf();
        shelf.count += 1;
        let name = format!("ahead_{}_{generation}_{}", short_hash(&session.id), shelf.count);
        shelf.runs.retain(|other| other.session != session.id && other.until > Instant::now());
        if shelf.runs.len() >= MOST {
            shelf.runs.pop_front();
        }
        let progress = Progress::Running { task: None, over: watch::Sender::new(()), writer };
        let session = session.id.clone();
        let name_of_it = name.clone();
        shelf.runs.push_back(PrecomputedRun {
            session,
            generation,
            focus,
            settings,
            name: name_of_it,
            bytes: 0,
            until,
            progress,
        });
        drop(shelf);
        let weak = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep_until(until).await;
            if let Some(precomputed) = weak.upgrade() {
                precomputed.shelf().runs.retain(|ahead| ahead.until > Instant::now());
            }
        });
        name
    }

    /// The task that works on a run ends with it.
    fn is_done_by(&self, name: &str, handle: AbortHandle) {
        let mut shelf = self.shelf();
        match shelf.runs.iter_mut().find(|ahead| ahead.name == name).map(|ahead| &mut ahead.progress) {
            Some(Progress::Running { task, .. }) => *task = Some(handle),
            // It is over already, and the task with it.
            Some(_) => (),
            None => handle.abort(),
        }
    }

    /// A run can be used.
    fn finish(&self, name: &str, ready: Ready) {
        let bytes = list::size(ready.run.prepared.input());
        let mut shelf = self.shelf();
        let Some(at) = shelf.runs.iter().position(|ahead| ahead.name == name) else { return };
        let Some(mut ahead) = shelf.runs.remove(at) else { return };
        (ahead.bytes, ahead.progress) = (bytes, Progress::Ready(Box::new(ready)));
        shelf.runs.push_back(ahead);
        while shelf.runs.iter().map(|ahead| ahead.bytes).sum::<usize>() > MOST_BYTES && shelf.runs.len() > 1 {
            shelf.runs.pop_front();
        }
    }

    fn remove(&self, name: &str) {
        self.shelf().runs.retain(|ahead| ahead.name != name);
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PrecomputedRun {
    fn is_for(&self, generation: u64, settings: &Settings, focus: &Focus) -> bool {
        self.generation == generation
            && self.settings == *settings
            && self.focus == *focus
            && self.until > Instant::now()
    }

    /// Whether a run that is asked for can use it. For one that a provider refused it was not decided.
    fn serves(&self, generation: u64, settings: &Settings, options: &RunOptions) -> bool {
        let request = &options.request;
        self.is_for(generation, settings, &request.focus) && request.range.is_none() && !request.overflow
    }

    /// Says when it is over, if that is soon.
    fn over(&self) -> Option<watch::Receiver<()>> {
        match &self.progress {
            Progress::Running { over, writer: Writer::Herma, .. } => Some(over.subscribe()),
            _ => None,
        }
    }
}
