//! The thread that owns a store. Writers that arrive while it waits for the
//! lock share one write to the disk and are answered after it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use herma_memory::change::{Applied, Changes, Drift};
use herma_memory::{Paths, Refusal, Store, Target, Transaction, View};
use herma_protocol::{ErrorKind, RpcError};
use serde_json::json;
use tokio::sync::oneshot;

use crate::claim::Claim;
use crate::fail::{self, Outcome};

/// Jobs that may wait; past it the answer is `busy`.
const QUEUE: usize = 1024;

/// Writes that are taken along at the last moment at most.
const GROUP: usize = 256;

/// Pause between two looks at a lock that another program holds.
const PAUSE: Duration = Duration::from_micros(500);

/// What is asked of a store.
#[derive(Debug)]
enum Job {
    View(oneshot::Sender<Outcome<View>>),
    Write(Write, oneshot::Sender<Outcome<Written>>),
}

/// A change and its conditions.
#[derive(Debug)]
pub(crate) struct Write {
    /// What to change.
    pub changes: Changes,
    /// What a drifted store means.
    pub drift: Drift,
    /// The revision that the caller saw.
    pub expected_revision: Option<u64>,
    /// Whether the change is still wanted when its turn comes.
    pub claim: Claim,
}

/// What a write came to.
#[derive(Debug)]
pub(crate) struct Written {
    /// The store after it.
    pub view: View,
    /// What was done, or why nothing was.
    pub outcome: Result<Applied, Refusal>,
}

/// Sends jobs to a store's thread.
#[derive(Debug, Clone)]
pub(crate) struct Owner {
    jobs: SyncSender<Job>,
}

impl Owner {
    /// Starts the thread. It ends when the last sender is gone and what waits is
    /// done.
    pub(crate) fn start(paths: Paths, target: Target, limit: usize) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(QUEUE);
        std::thread::Builder::new()
            .name(format!("store-{target}"))
            .spawn(move || serve(&paths, target, limit, &receiver))?;
        Ok(Self { jobs: sender })
    }

    /// What the store holds.
    pub(crate) async fn view(&self) -> Outcome<View> {
        self.ask(Job::View).await
    }

    /// Changes the store. An answer means that the change is on the disk.
    pub(crate) async fn write(&self, write: Write) -> Outcome<Written> {
        self.ask(|answer| Job::Write(write, answer)).await
    }

    async fn ask<T>(&self, job: impl FnOnce(oneshot::Sender<Outcome<T>>) -> Job) -> Outcome<T> {
        let (answer, answered) = oneshot::channel();
        match self.jobs.try_send(job(answer)) {
            Ok(()) => answered.await.map_err(|_| fail::internal("the store"))?,
            Err(TrySendError::Full(_)) => Err(fail::busy("the store")),
            Err(TrySendError::Disconnected(_)) => Err(fail::internal("the store")),
        }
    }
}

fn serve(paths: &Paths, target: Target, limit: usize, jobs: &Receiver<Job>) {
    let mut store = Store::new(paths.clone(), target, limit);
    if let Err(error) = store.tidy() {
        tracing::warn!(%target, "leftovers stay: {error}");
    }
    while let Ok(job) = jobs.recv() {
        let done = catch_unwind(AssertUnwindSafe(|| match job {
            Job::View(answer) => drop(answer.send(store.view().map_err(|error| fail::store(&error)))),
            Job::Write(write, answer) => serve_writes(&mut store, (write, answer), jobs),
        }));
        if done.is_err() {
            tracing::error!(%target, "a request panicked in the store's thread; the file will be read again");
            store = Store::new(paths.clone(), target, limit);
        }
    }
}

/// A write that waits, and where its answer goes.
type Waiting = (Write, oneshot::Sender<Outcome<Written>>);

/// Does a write, and those that come while another program holds the lock.
/// Whoever only wants to look is answered meanwhile, for that needs no lock.
fn serve_writes(store: &mut Store, first: Waiting, jobs: &Receiver<Job>) {
    let mut waiting = vec![first];
    loop {
        match store.begin() {
            Err(error) => {
                return waiting.into_iter().for_each(|(_, answer)| drop(answer.send(Err(fail::store(&error)))));
            }
            Ok(Some(transaction)) => return serve_group(transaction, waiting, jobs),
            Ok(None) => {}
        }
        waiting.retain(|(write, _)| !write.claim.is_given_up());
        if waiting.is_empty() {
            return;
        }
        match jobs.recv_timeout(PAUSE) {
            Ok(Job::View(answer)) => drop(answer.send(store.view().map_err(|error| fail::store(&error)))),
            Ok(Job::Write(_, answer)) if waiting.len() >= QUEUE => drop(answer.send(Err(fail::busy("the store")))),
            Ok(Job::Write(write, answer)) => waiting.push((write, answer)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(PAUSE),
        }
    }
}

/// Applies all writes that wait, puts them on the disk together, and answers.
fn serve_group(mut transaction: Transaction<'_>, waiting: Vec<Waiting>, jobs: &Receiver<Job>) {
    let mut views = Vec::new();
    let mut answers = Vec::new();
    let late = jobs.try_iter().take(GROUP);
    for job in waiting.into_iter().map(|(write, answer)| Job::Write(write, answer)).chain(late) {
        match job {
            Job::View(answer) => views.push((answer, transaction.view())),
            // Whoever went away, or ran out of time, wants no change any more.
            Job::Write(write, _) if !write.claim.take() => {}
            Job::Write(write, answer) => answers.push((answer, apply(&mut transaction, &write))),
        }
    }
    let failure = transaction.commit().err().map(|error| fail::store(&error));
    // A send fails when the caller went away after its change was applied.
    for (answer, view) in views {
        drop(answer.send(failure.clone().map_or(Ok(view), Err)));
    }
    for (answer, written) in answers {
        drop(answer.send(failure.clone().map_or(written, Err)));
    }
}

fn apply(transaction: &mut Transaction<'_>, write: &Write) -> Outcome<Written> {
    let before = transaction.view();
    if let Some(expected) = write.expected_revision
        && expected != before.revision
    {
        let words = format!("{} is at revision {}, not {expected}; read it again", before.target, before.revision);
        let entries = herma_memory::render::all_shown(before.target, &before.entries);
        return Err(RpcError::new(ErrorKind::Conflict, words)
            .with_details(&json!({ "revision": before.revision, "entries": entries })));
    }
    let outcome = transaction.apply(&write.changes, write.drift);
    Ok(Written { view: transaction.view(), outcome })
}
