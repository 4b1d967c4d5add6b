//! Runs made in advance, while no caller waits.
//!
//! A run is prepared from the session's transcript and its summary is written, or the engine writes it itself
//! ([`begin`]). If no other party is needed, it also happens without a request ([`automatic`]). The run is kept until the
//! session is compressed. If the list only grew since, byte for byte, the new messages go into the tail
//! ([`continued`]).

mod automatic;
mod begin;
mod continued;

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
use super::list;
use super::run::{Run, RunOptions, WrittenSummary};
use crate::owners::archive::KnownTranscript;
use crate::service::session::Session;

/// How long a run is kept.
const LIFE: Duration = Duration::from_secs(30 * 60);

/// The largest number of runs that are kept or in progress. The oldest makes room.
const MOST: usize = 32;

/// The largest size of the lists that are kept, in bytes. The oldest make room.
const MOST_BYTES: usize = 256 << 20;

/// The runs that are in progress or ready.
#[derive(Debug, Default)]
pub(super) struct PrecomputedRuns(Mutex<PrecomputedCache>);

#[derive(Debug, Default)]
struct PrecomputedCache {
    /// The runs, oldest first.
    runs: VecDeque<PrecomputedRun>,
    /// The number of runs so far.
    count: u64,
}

#[derive(Debug)]
struct PrecomputedRun {
    session: String,
    generation: u64,
    focus: Focus,
    settings: Settings,
    name: String,
    /// Whether a client requested it.
    asked: bool,
    /// The size of its list, once it is ready.
    bytes: usize,
    until: Instant,
    progress: Progress,
}

#[derive(Debug)]
enum Progress {
    /// The run is in progress. Dropping this notifies those who wait for it.
    Running {
        task: Task,
        over: watch::Sender<()>,
        is_quick: bool,
    },
    Ready(Box<Ready>),
}

/// The origin of a run.
#[derive(Debug, Clone, Copy)]
struct RunOrigin {
    /// Whether a client requested it.
    asked: bool,
    /// Whether its summary needs no other party, so that it is ready in a moment.
    is_quick: bool,
}

/// A run that is complete except for the list for which it will be used.
#[derive(Debug)]
pub(super) struct Ready {
    run: Run,
    text: WrittenSummary,
}

impl Ready {
    /// Returns the transcript from which it was made, and its number of messages then.
    pub(super) fn transcript(&self) -> Option<(KnownTranscript, u64)> {
        let length = u64::try_from(self.run.prepared.input().len()).ok()?;
        Some((self.run.transcript?, length))
    }
}

/// The stage of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The run begins now.
    Started,
    /// The run began earlier.
    Running,
    /// The run can be used.
    Ready,
}

/// The task that works on a run, once it is known. Dropping this aborts it.
#[derive(Debug, Default)]
struct Task(Option<AbortHandle>);

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// A run that began. If this is dropped before the run is ready, the run is forgotten.
struct RunGuard {
    runs: Arc<PrecomputedRuns>,
    name: String,
}

impl RunGuard {
    fn name(&self) -> &str {
        &self.name
    }

    /// Makes the run available.
    fn ready(self, ready: Ready) {
        self.runs.finish(&self.name, ready);
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        drop(self.runs.remove(|ahead| ahead.name == self.name && ahead.is_running()));
    }
}

impl PrecomputedRuns {
    /// Takes the ready run of a session, if it was made for the same conditions. Other runs of the session are
    /// discarded, because they are obsolete after that.
    pub(super) fn take(
        &self,
        session: &str,
        generation: u64,
        settings: &Settings,
        options: &RunOptions,
    ) -> Option<Box<Ready>> {
        let taken = self.remove(|ahead| ahead.session == session);
        let same = taken.into_iter().filter(|ahead| ahead.serves(generation, settings, options));
        let mut ready = same.filter_map(PrecomputedRun::ready);
        ready.find(|ready| ready.run.options.chain.is_of(&options.chain))
    }

    /// Waits for a run that will be ready in a moment, if it is for the same conditions and none is ready.
    pub(super) async fn finished(&self, session: &str, generation: u64, settings: &Settings, options: &RunOptions) {
        let over = {
            let shelf = self.shelf();
            let same =
                |ahead: &&PrecomputedRun| ahead.session == session && ahead.serves(generation, settings, options);
            let is_ready = shelf.runs.iter().filter(same).any(|ahead| !ahead.is_running());
            let over = shelf.runs.iter().filter(same).find_map(PrecomputedRun::over);
            over.filter(|_| !is_ready)
        };
        if let Some(mut over) = over {
            // Nothing is ever sent: the error says that the run has ended.
            drop(over.changed().await);
        }
    }

    /// Drops the runs of a session.
    pub(super) fn forget(&self, session: &str) {
        drop(self.remove(|ahead| ahead.session == session));
    }

    /// Returns the name and stage of a run for the same conditions.
    fn stage(&self, session: &Session, settings: &Settings, focus: &Focus) -> Option<(String, Stage)> {
        let shelf = self.shelf();
        let of_session = shelf.runs.iter().filter(|ahead| ahead.session == session.id);
        let mut same = of_session.filter(|ahead| ahead.is_for(session.generation(), settings, focus));
        let newest = same.next_back()?;
        let stage = if newest.is_running() { Stage::Running } else { Stage::Ready };
        Some((newest.name.clone(), stage))
    }

    /// Whether a client requested the current run of a session.
    fn is_asked_for(&self, session: &str, generation: u64) -> bool {
        let is_asked = |ahead: &PrecomputedRun| {
            ahead.session == session && ahead.generation == generation && ahead.asked && ahead.until > Instant::now()
        };
        self.shelf().runs.iter().any(is_asked)
    }

    /// Notes that a run began. A ready run of its session is kept until this one is ready too, unless a client
    /// requested this one.
    fn start(self: &Arc<Self>, session: &Session, settings: Settings, focus: Focus, by: RunOrigin) -> RunGuard {
        let (until, generation) = (Instant::now() + LIFE, session.generation());
        drop(self.remove(|other| {
            other.until <= Instant::now() || (other.session == session.id && (by.asked || other.is_running()))
        }));
        let mut shelf = self.shelf();
        shelf.count += 1;
        let name = format!("ahead_{}_{generation}_{}", session.mark(), shelf.count);
        let oldest = if shelf.runs.len() >= MOST { shelf.runs.pop_front() } else { None };
        shelf.runs.push_back(PrecomputedRun {
            session: session.id.clone(),
            generation,
            focus,
            settings,
            name: name.clone(),
            asked: by.asked,
            bytes: 0,
            until,
            progress: Progress::Running { task: Task::default(), over: watch::Sender::new(()), is_quick: by.is_quick },
        });
        drop(shelf);
        drop(oldest);
        let weak = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep_until(until).await;
            if let Some(precomputed) = weak.upgrade() {
                drop(precomputed.remove(|ahead| ahead.until <= Instant::now()));
            }
        });
        RunGuard { runs: Arc::clone(self), name }
    }

    /// Makes the task that works on a run end with it.
    fn is_done_by(&self, name: &str, handle: AbortHandle) {
        let mut shelf = self.shelf();
        match shelf.runs.iter_mut().find(|ahead| ahead.name == name).map(|ahead| &mut ahead.progress) {
            Some(Progress::Running { task, .. }) => task.0 = Some(handle),
            // The run is ready, so its task has ended.
            Some(Progress::Ready(_)) => (),
            None => handle.abort(),
        }
    }

    /// Makes a run available. Earlier runs of its session are removed.
    fn finish(&self, name: &str, ready: Ready) {
        let bytes = list::size(ready.run.prepared.input());
        let mut shelf = self.shelf();
        let Some(at) = shelf.runs.iter().position(|ahead| ahead.name == name) else { return };
        let Some(mut ahead) = shelf.runs.remove(at) else { return };
        (ahead.bytes, ahead.progress) = (bytes, Progress::Ready(Box::new(ready)));
        shelf.runs.retain(|other| other.session != ahead.session);
        shelf.runs.push_back(ahead);
        while shelf.runs.iter().map(|ahead| ahead.bytes).sum::<usize>() > MOST_BYTES && shelf.runs.len() > 1 {
            shelf.runs.pop_front();
        }
    }

    /// Removes runs from the shelf. The caller drops them without holding the lock, because dropping a run aborts its
    /// task, which then locks the shelf for its own removal.
    fn remove(&self, is_it: impl Fn(&PrecomputedRun) -> bool) -> VecDeque<PrecomputedRun> {
        let mut shelf = self.shelf();
        let (removed, others) = shelf.runs.drain(..).partition(is_it);
        shelf.runs = others;
        removed
    }

    fn shelf(&self) -> MutexGuard<'_, PrecomputedCache> {
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

    /// Whether a requested run can use it. It can't if the provider refused the list, because that needs other
    /// decisions.
    fn serves(&self, generation: u64, settings: &Settings, options: &RunOptions) -> bool {
        let request = &options.request;
        self.is_for(generation, settings, &request.focus) && request.range.is_none() && !request.overflow
    }

    const fn is_running(&self) -> bool {
        matches!(self.progress, Progress::Running { .. })
    }

    /// Returns the ready part of the run.
    fn ready(self) -> Option<Box<Ready>> {
        match self.progress {
            Progress::Ready(ready) => Some(ready),
            Progress::Running { .. } => None,
        }
    }

    /// Returns a receiver that is notified when the run ends, if that is soon.
    fn over(&self) -> Option<watch::Receiver<()>> {
        match &self.progress {
            Progress::Running { over, is_quick: true, .. } => Some(over.subscribe()),
            _ => None,
        }
    }
}
