//! Who owns a store: its thread, or, while that has nothing to do, the one writer who
//! found it so.

#[cfg(all(test, feature = "shuttle"))]
mod schedules;
mod shared;
mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use herma_disk::watch::Watch;
use herma_guard::Policy;
use herma_memory::change::Applied;
use herma_memory::{Author, Edit, Limits, Paths, Refusal, Row, Target, View};
use tokio::sync::oneshot;

use shared::SharedJob;
pub(crate) use shared::{OfHost, Proposed};
use worker::StoreWorker;

use crate::data::error::{Error, Outcome};
use crate::owners::commit_token::CommitToken;
use crate::owners::events::Events;
use crate::owners::in_place::{Crowd, in_place};
use crate::sync::atomic::AtomicBool;
use crate::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use crate::sync::{self, Mutex};

/// Jobs that may wait; past it the answer is `busy`.
const QUEUE: usize = 1024;

/// What is asked of a store.
#[derive(Debug)]
enum Job {
    /// What it holds.
    View(oneshot::Sender<Outcome<View>>),
    /// A change.
    Write(Box<Write>, oneshot::Sender<Outcome<Written>>),
    /// Its history.
    Log(Page, oneshot::Sender<Outcome<Log>>),
    /// Its file may have changed.
    Hint,
    /// It is time to look at its file.
    Look,
    /// It is time to put on the disk what was given elsewhere.
    Settle,
    /// There is something to be done later.
    Wake,
    /// What only a store that several hosts share is asked.
    Shared(SharedJob),
    /// There is something to do that nobody waits for.
    Maintain,
    /// The daemon stops; what its last word was.
    Flush(SyncSender<()>),
}

/// A change and its conditions.
#[derive(Debug)]
pub(crate) struct Write {
    /// What to change.
    pub edit: Edit,
    /// Who wants it.
    pub author: Author,
    /// The revision that the caller saw.
    pub expected_revision: Option<u64>,
    /// Whether the change is still wanted when its turn comes.
    pub token: CommitToken,
}

/// What a write came to.
#[derive(Debug)]
pub(crate) struct Written {
    /// The store after it.
    pub view: View,
    /// What was done, or why nothing was.
    pub outcome: Result<Applied, Refusal>,
}

/// Which part of a history.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    /// Only revisions below this one.
    pub before: Option<u64>,
    /// Rows at most.
    pub limit: usize,
}

/// A part of a history.
#[derive(Debug)]
pub(crate) struct Log {
    /// Newest first.
    pub rows: Vec<Row>,
    /// Older ones are kept.
    pub more: bool,
    /// Lines of the journal that can't be read.
    pub damaged: u64,
}

/// Which store a thread owns, and whom it tells.
#[derive(Debug)]
pub(crate) struct StoreContext {
    /// The profile of the store.
    pub profile: String,
    /// The store.
    pub target: Target,
    /// Where it is.
    pub paths: Paths,
    /// What it may hold and keeps.
    pub limits: Limits,
    /// What is kept out of it.
    pub policy: Arc<Policy>,
    /// Who is told of new revisions.
    pub events: Events,
    /// What watches its folder.
    pub watch: Arc<Watch>,
    /// Its revisions are given by a database.
    pub is_shared: bool,
}

/// Sends jobs to a store's thread, or does a write itself while the store has
/// nothing else to do: a single writer then waits for no other thread.
#[derive(Debug, Clone)]
pub(crate) struct StoreHandle {
    jobs: SyncSender<Job>,
    worker: Arc<Mutex<StoreWorker>>,
    crowd: Arc<Crowd>,
    /// It may have entries that never leave this host.
    may_have_bound: Arc<AtomicBool>,
}

impl StoreHandle {
    /// Starts the thread. It ends when the last sender is gone and what waits is
    /// done.
    pub(crate) fn start(context: StoreContext) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(QUEUE);
        let name = format!("store-{}", context.target);
        let crowd = Arc::new(Crowd::new());
        let may_have_bound = Arc::new(AtomicBool::new(true));
        let worker = Arc::new(Mutex::new(StoreWorker::new(context, Arc::clone(&crowd), Arc::clone(&may_have_bound))));
        let kept = Arc::clone(&worker);
        sync::spawn(name, move || worker::serve(&kept, &receiver))?;
        Ok(Self { jobs: sender, worker, crowd, may_have_bound })
    }

    /// What the store holds.
    pub(crate) async fn view(&self) -> Outcome<View> {
        self.ask(Job::View).await
    }

    /// Changes the store. An answer means that the change is on the disk.
    pub(crate) async fn write(&self, write: Write) -> Outcome<Written> {
        if let Some(written) = self.write_alone(&write) {
            return written;
        }
        self.ask(|answer| Job::Write(Box::new(write), answer)).await
    }

    /// Does a write here and now; `None` when somebody else is at the store, or the
    /// lock of its file can't be had at once.
    fn write_alone(&self, write: &Write) -> Option<Outcome<Written>> {
        if self.crowd.is_here() {
            return None;
        }
        let mut worker = self.worker.try_lock().ok()?;
        let took = worker.took;
        let (written, took) = in_place(took, || catch_unwind(AssertUnwindSafe(|| worker.write_alone(write))));
        let written = written.unwrap_or_else(|_| {
            worker.begin_anew();
            Some(Err(Error::internal("the store")))
        });
        worker.took = took;
        if worker.needs_maintenance() {
            drop(worker);
            drop(self.jobs.try_send(Job::Maintain));
        }
        written
    }

    /// A part of the store's history.
    pub(crate) async fn log(&self, page: Page) -> Outcome<Log> {
        self.ask(|answer| Job::Log(page, answer)).await
    }

    /// Has the store look at its file soon. One with much to do will look anyway.
    pub(crate) fn hint(&self) {
        drop(self.jobs.try_send(Job::Hint));
    }

    /// Closes the store in peace, and waits for that.
    pub(crate) fn flush(&self, patience: Duration) {
        let (done, settled) = sync_channel(1);
        if self.jobs.try_send(Job::Flush(done)).is_ok() {
            // A disk that hangs is no reason not to stop.
            let _ = sync::receive(&settled, patience);
        }
    }

    async fn ask<T>(&self, job: impl FnOnce(oneshot::Sender<Outcome<T>>) -> Job) -> Outcome<T> {
        let (answer, answered) = oneshot::channel();
        match self.jobs.try_send(job(answer)) {
            Ok(()) => answered.await.map_err(|_| Error::internal("the store"))?,
            Err(TrySendError::Full(_)) => Err(Error::overloaded("the store")),
            Err(TrySendError::Disconnected(_)) => Err(Error::internal("the store")),
        }
    }
}

/// A caller who saw another revision is told the one there is.
pub(crate) fn check_revision(expected: Option<u64>, view: &View) -> Outcome<()> {
    let View { target, shown, revision, .. } = view;
    match expected {
        Some(expected) if expected != *revision => {
            let entries = shown.iter().map(|entry| entry.to_string()).collect();
            Err(Error::StaleRevision { file: target.file_name(), expected, revision: *revision, entries })
        }
        _ => Ok(()),
    }
}
