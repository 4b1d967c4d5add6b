//! The owner of a store: its thread, or a single writer while the thread is idle.

#[cfg(all(test, feature = "shuttle"))]
mod schedules;
mod shared;
mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use herma_disk::watch::Watch;
use herma_guard::{Policy, SecretCounts};
use herma_memory::change::Applied;
use herma_memory::store::ScrubbedJournal;
use herma_memory::{Author, Edit, Limits, LogQuery, Paths, Refusal, Row, Target, View};
use tokio::sync::oneshot;

use shared::SharedJob;
pub(crate) use shared::{HostBoundWrite, Proposed};
use worker::StoreWorker;

use crate::data::error::{Error, Outcome};
use crate::owners::commit_token::CommitToken;
use crate::owners::events::Events;
use crate::owners::in_place::{Contention, in_place};
use crate::sync::atomic::AtomicBool;
use crate::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use crate::sync::{self, Mutex};

/// The number of jobs that may wait. With more, the answer is `busy`.
const QUEUE: usize = 1024;

/// A job of a store.
#[derive(Debug)]
enum Job {
    /// Returns the contents.
    View(oneshot::Sender<Outcome<View>>),
    /// Makes a change.
    Write(Box<Write>, oneshot::Sender<Outcome<Written>>),
    /// Returns a part of the history.
    Log(LogQuery, oneshot::Sender<Outcome<Log>>),
    /// Removes secrets from the journal, or with true only counts them.
    Scrub(bool, oneshot::Sender<Outcome<Scrubbed>>),
    /// Notes that the file may have changed.
    Hint,
    /// Reads the file, because it is due.
    Look,
    /// Writes revisions given by the database to the disk, because it is due.
    Settle,
    /// Wakes the thread, because work became due later.
    Wake,
    /// A job that only a store shared by several hosts has.
    Shared(SharedJob),
    /// Does maintenance for which no caller waits.
    Maintain,
    /// Closes the store, because the daemon stops. The sender is used when that is done.
    Flush(SyncSender<()>),
}

/// A change and its conditions.
#[derive(Debug)]
pub(crate) struct Write {
    /// What to change.
    pub edit: Edit,
    /// The author of the change.
    pub author: Author,
    /// The revision that the caller saw.
    pub expected_revision: Option<u64>,
    /// Whether the change is still wanted when its turn comes.
    pub token: CommitToken,
}

/// The result of a write.
#[derive(Debug)]
pub(crate) struct Written {
    /// The store after the write.
    pub view: View,
    /// The change that was made, or why there was none.
    pub outcome: Result<Applied, Refusal>,
}

/// The result of removing secrets from a journal.
#[derive(Debug)]
pub(crate) struct Scrubbed {
    /// What became of the journal.
    pub journal: ScrubbedJournal,
    /// The number of secrets by kind.
    pub secrets: SecretCounts,
    /// The secrets.
    pub found: Vec<String>,
}

/// A part of a history.
#[derive(Debug)]
pub(crate) struct Log {
    /// The rows, newest first.
    pub rows: Vec<Row>,
    /// Whether older rows are kept.
    pub more: bool,
    /// The number of journal lines that can't be read.
    pub damaged: u64,
}

/// The store that a thread owns, and its surroundings.
#[derive(Debug)]
pub(crate) struct StoreContext {
    /// The profile of the store.
    pub profile: String,
    /// The store.
    pub target: Target,
    /// The paths of its files.
    pub paths: Paths,
    /// The limits of its contents and its history.
    pub limits: Limits,
    /// The policy for texts that are kept out of it.
    pub policy: Arc<Policy>,
    /// The receiver of events about new revisions.
    pub events: Events,
    /// The watch for its folder.
    pub watch: Arc<Watch>,
    /// Whether a database gives its revisions.
    pub is_shared: bool,
}

/// Sends jobs to a store's thread. While the store is idle, does a write directly, so that a single writer need not
/// wait for another thread.
#[derive(Debug, Clone)]
pub(crate) struct StoreHandle {
    jobs: SyncSender<Job>,
    worker: Arc<Mutex<StoreWorker>>,
    crowd: Arc<Contention>,
    /// Whether the store may have entries that never leave this host.
    may_have_bound: Arc<AtomicBool>,
}

impl StoreHandle {
    /// Starts the thread. It ends when the last sender is gone and the waiting jobs are done.
    pub(crate) fn start(context: StoreContext) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(QUEUE);
        let name = format!("store-{}", context.target);
        let crowd = Arc::new(Contention::new());
        let may_have_bound = Arc::new(AtomicBool::new(true));
        let worker = Arc::new(Mutex::new(StoreWorker::new(context, Arc::clone(&crowd), Arc::clone(&may_have_bound))));
        let kept = Arc::clone(&worker);
        sync::spawn(name, move || worker::serve(&kept, &receiver))?;
        Ok(Self { jobs: sender, worker, crowd, may_have_bound })
    }

    /// Returns the contents of the store.
    pub(crate) async fn view(&self) -> Outcome<View> {
        self.ask(Job::View).await
    }

    /// Changes the store. After the answer, the change is on the disk.
    pub(crate) async fn write(&self, write: Write) -> Outcome<Written> {
        if let Some(written) = self.write_alone(&write) {
            return written;
        }
        self.ask(|answer| Job::Write(Box::new(write), answer)).await
    }

    /// Does a write directly; `None` if the store is busy, or the lock of its file is not free.
    fn write_alone(&self, write: &Write) -> Option<Outcome<Written>> {
        if self.crowd.is_here() {
            return None;
        }
        let mut worker = self.worker.try_lock().ok()?;
        let took = worker.took;
        let (written, took) = in_place(took, || catch_unwind(AssertUnwindSafe(|| worker.write_alone(write))));
        let written = written.unwrap_or_else(|_| {
            worker.reset();
            Some(Err(Error::internal("the store")))
        });
        worker.took = took;
        if worker.needs_maintenance() {
            drop(worker);
            drop(self.jobs.try_send(Job::Maintain));
        }
        written
    }

    /// Returns a part of the store's history.
    pub(crate) async fn log(&self, query: LogQuery) -> Outcome<Log> {
        self.ask(|answer| Job::Log(query, answer)).await
    }

    /// Removes secrets from the store's journal. With `dry_run` nothing is written.
    pub(crate) async fn scrub_journal(&self, dry_run: bool) -> Outcome<Scrubbed> {
        self.ask(|answer| Job::Scrub(dry_run, answer)).await
    }

    /// Makes the store read its file soon. If its queue is full, it will do so anyway.
    pub(crate) fn hint(&self) {
        drop(self.jobs.try_send(Job::Hint));
    }

    /// Closes the store cleanly, and waits for that up to `patience`.
    pub(crate) fn flush(&self, patience: Duration) {
        let (done, settled) = sync_channel(1);
        if self.jobs.try_send(Job::Flush(done)).is_ok() {
            // A disk that hangs must not prevent the daemon from stopping.
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

/// Checks the revision that the caller saw. The error contains the current one.
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
