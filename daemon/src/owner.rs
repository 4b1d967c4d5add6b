//! The thread that owns a store. Writers that arrive while it waits for the
//! lock share one write to the disk and are answered after it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use herma_memory::change::{Applied, Changes, Drift};
use herma_memory::{Paths, Refusal, Store, StoreError, Target, Transaction, View};
use herma_protocol::{ErrorKind, RpcError};
use serde_json::json;
use tokio::sync::oneshot;

use crate::fail::{self, Outcome};

/// Jobs that may wait; past it the answer is `busy`.
const QUEUE: usize = 1024;

/// Writes that share one write to the disk at most.
const GROUP: usize = 256;

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
            Job::Write(..) => serve_group(&mut store, job, jobs),
        }));
        if done.is_err() {
            tracing::error!(%target, "a request panicked in the store's thread; the file will be read again");
            store = Store::new(paths.clone(), target, limit);
        }
    }
}

/// An answer that is ready but waits for the disk.
enum Answer {
    View(oneshot::Sender<Outcome<View>>, View),
    Written(oneshot::Sender<Outcome<Written>>, Outcome<Written>),
}

fn serve_group(store: &mut Store, first: Job, jobs: &Receiver<Job>) {
    let mut transaction = match store.begin() {
        Ok(transaction) => transaction,
        Err(error) => return refuse(first, &error),
    };
    let mut answers = Vec::new();
    for job in std::iter::once(first).chain(jobs.try_iter().take(GROUP - 1)) {
        answers.push(match job {
            Job::View(answer) => Answer::View(answer, transaction.view()),
            // Whoever went away, or ran out of time, wants no change any more.
            Job::Write(_, answer) if answer.is_closed() => continue,
            Job::Write(write, answer) => Answer::Written(answer, apply(&mut transaction, &write)),
        });
    }
    let failure = transaction.commit().err().map(|error| fail::store(&error));
    for answer in answers {
        // A send fails when the caller went away after its change was applied.
        match (answer, &failure) {
            (Answer::View(answer, view), None) => drop(answer.send(Ok(view))),
            (Answer::View(answer, _), Some(error)) => drop(answer.send(Err(error.clone()))),
            (Answer::Written(answer, Ok(written)), Some(error)) if written.outcome.is_ok() => {
                drop(answer.send(Err(error.clone())));
            }
            (Answer::Written(answer, written), _) => drop(answer.send(written)),
        }
    }
}

fn refuse(job: Job, error: &StoreError) {
    let error = fail::store(error);
    match job {
        Job::View(answer) => drop(answer.send(Err(error))),
        Job::Write(_, answer) => drop(answer.send(Err(error))),
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
