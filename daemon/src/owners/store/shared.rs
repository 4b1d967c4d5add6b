//! The jobs of a store whose revisions a database gives: proposing changes, and adopting the revisions that were given.
//! Neither waits for the database.

use std::sync::Arc;
use std::time::Duration;

use herma_memory::{Author, Bound, Entry, Row};
use tokio::sync::oneshot;

use super::worker::{PAUSE, StoreWorker, done};
use super::{Job, StoreHandle, Write, Written, check_revision};
use crate::data::error::{Error, Outcome};
use crate::owners::in_place::in_place;
use crate::sync::atomic::Ordering;
use crate::sync::mpsc::{Receiver, RecvTimeoutError};
use crate::sync::{self};

/// How long revisions given by the database may wait before they are written to the disk. Clients that write one change
/// after the other need not wait for the disk then.
const SETTLED: Duration = Duration::from_millis(100);

/// The pause after the disk refused a write.
const AGAIN: Duration = Duration::from_secs(1);

/// A job that only a shared store has.
#[derive(Debug)]
pub(super) enum SharedJob {
    /// Returns the result that changes would have.
    Propose(Box<ProposalRequest>, oneshot::Sender<Outcome<Proposed>>),
    /// Adopts these revisions.
    Adopt(Vec<Row>, oneshot::Sender<Outcome<()>>),
    /// Starts the shared history with these revisions, if the store is still at this one.
    Begin(u64, Vec<Row>, oneshot::Sender<Outcome<bool>>),
    /// Makes the store give its revisions itself again.
    End(oneshot::Sender<Outcome<()>>),
    /// Changes entries that never leave this host.
    Bound(Box<Write>, oneshot::Sender<Outcome<HostBoundWrite>>),
    /// Whether another program made an edit that has no revision yet.
    HoldsAnEdit(oneshot::Sender<Outcome<bool>>),
}

/// Changes, and the new revisions of the store before them.
#[derive(Debug)]
pub(super) struct ProposalRequest {
    given: Vec<Row>,
    writes: Vec<Write>,
    here: Author,
}

/// The result that changes would have on a store.
#[derive(Debug)]
pub(crate) struct Proposed {
    /// The newest revision that is known here.
    pub known: u64,
    /// The entries at that revision.
    pub entries: Arc<[Entry]>,
    /// The revision on which the changes build.
    pub base: u64,
    /// An edit by another program, as its own revision before the changes.
    pub edit: Option<Row>,
    /// The result of each write, and the revision that it needs if it changes anything.
    pub writes: Vec<(Write, Outcome<Written>, Option<Row>)>,
}

/// Whether a write concerned entries of this host only.
#[derive(Debug)]
pub(crate) enum HostBoundWrite {
    /// It did, and is done.
    Done(Box<Written>),
    /// It did not.
    Not(Box<Write>),
}

impl SharedJob {
    /// Answers a job that can't be done now with an error, so that the caller tries again.
    pub(super) fn put_off(self) {
        let words = || Error::overloaded("the store");
        match self {
            Self::Propose(_, answer) => drop(answer.send(Err(words()))),
            Self::Adopt(_, answer) | Self::End(answer) => drop(answer.send(Err(words()))),
            Self::Begin(_, _, answer) => drop(answer.send(Ok(false))),
            Self::Bound(_, answer) => drop(answer.send(Err(words()))),
            Self::HoldsAnEdit(answer) => drop(answer.send(Err(words()))),
        }
    }
}

impl StoreHandle {
    /// Returns the result of writes on top of these revisions, which may be newer than the known ones.
    pub(crate) async fn propose(&self, given: Vec<Row>, writes: Vec<Write>, here: Author) -> Outcome<Proposed> {
        let wish = Box::new(ProposalRequest { given, writes, here });
        match self.at_once(wish, |worker, wish| worker.propose(*wish)) {
            Ok(proposed) => proposed,
            Err(wish) => self.ask(|answer| Job::Shared(SharedJob::Propose(wish, answer))).await,
        }
    }

    /// Adopts given revisions, oldest first. The job is done or queued before this function returns, so later requests
    /// come after it.
    pub(crate) fn adopt(&self, rows: Vec<Row>) -> impl Future<Output = Outcome<()>> + use<> {
        let (answer, answered) = oneshot::channel();
        let adopt = |worker: &mut StoreWorker, rows: Vec<Row>| {
            let was_settled = worker.settle_at.is_none();
            (worker.adopt(&rows), was_settled)
        };
        let sent = match self.at_once(rows, adopt) {
            Ok((adopted, was_settled)) => {
                drop(answer.send(adopted));
                // The store's thread may sleep for longer than the write to disk may wait.
                if was_settled {
                    drop(self.jobs.try_send(Job::Wake));
                }
                Ok(())
            }
            Err(rows) => self.jobs.try_send(Job::Shared(SharedJob::Adopt(rows, answer))),
        };
        async move {
            match sent {
                Ok(()) => answered.await.map_err(|_| Error::internal("the store"))?,
                Err(_) => Err(Error::overloaded("the store")),
            }
        }
    }

    /// Runs work that writes nothing to the disk on this thread. If the store is busy, returns the input.
    fn at_once<W, T>(&self, with: W, work: impl FnOnce(&mut StoreWorker, W) -> T) -> Result<T, W> {
        let Ok(mut worker) = self.worker.try_lock() else { return Err(with) };
        let (done, took) = in_place(worker.proposed_took, || work(&mut worker, with));
        worker.proposed_took = took;
        Ok(done)
    }

    /// Starts the shared history with these revisions, if the store is still at `seen`; returns false if it is not.
    pub(crate) async fn begin_shared(&self, seen: u64, rows: Vec<Row>) -> Outcome<bool> {
        self.ask(|answer| Job::Shared(SharedJob::Begin(seen, rows, answer))).await
    }

    /// Makes the store give its revisions itself again.
    pub(crate) async fn end_shared(&self) -> Outcome<()> {
        self.ask(|answer| Job::Shared(SharedJob::End(answer))).await
    }

    /// Does a write of entries that never leave this host. Returns any other write undone.
    pub(crate) async fn write_bound(&self, write: Write) -> Outcome<HostBoundWrite> {
        let write = Box::new(write);
        if self.may_have_bound.load(Ordering::Acquire) || write.edit.adds_bound() {
            self.ask(|answer| Job::Shared(SharedJob::Bound(write, answer))).await
        } else {
            Ok(HostBoundWrite::Not(write))
        }
    }

    /// Whether another program made an edit that has no revision yet.
    pub(crate) async fn holds_an_edit(&self) -> Outcome<bool> {
        self.ask(|answer| Job::Shared(SharedJob::HoldsAnEdit(answer))).await
    }
}

impl StoreWorker {
    /// Does a job of a shared store. Returns other jobs that arrived while another program held the lock.
    pub(super) fn shared(&mut self, job: SharedJob, jobs: &Receiver<Job>) -> Vec<Job> {
        let mut later = Vec::new();
        match job {
            SharedJob::Propose(wish, answer) => drop(answer.send(self.propose(*wish))),
            SharedJob::Adopt(rows, answer) => drop(answer.send(self.adopt(&rows))),
            SharedJob::Begin(seen, rows, answer) => {
                let begun = self.store.begin_shared(seen, &rows).map_err(Error::from);
                self.context.is_shared |= matches!(begun, Ok(true));
                self.publish();
                drop(answer.send(begun));
            }
            SharedJob::End(answer) => {
                let settled = self.under_lock(jobs, &mut later, |worker| worker.store.settle());
                if let Err(error) = settled {
                    drop(answer.send(Err(error)));
                    return later;
                }
                self.context.is_shared = false;
                self.store.share(false);
                drop(answer.send(self.store.look().map_err(Error::from)));
            }
            SharedJob::Bound(write, answer) => {
                let written = self.write_bound(&write, jobs, &mut later);
                drop(
                    answer
                        .send(written.map(|written| written.map_or(HostBoundWrite::Not(write), HostBoundWrite::Done))),
                );
            }
            SharedJob::HoldsAnEdit(answer) => {
                drop(answer.send(self.store.holds_an_edit().map_err(Error::from)));
            }
        }
        later
    }

    fn write_bound(
        &mut self,
        write: &Write,
        jobs: &Receiver<Job>,
        later: &mut Vec<Job>,
    ) -> Outcome<Option<Box<Written>>> {
        let mut tried = Bound::Busy;
        self.under_lock(jobs, later, |worker| {
            let Write { edit, author, expected_revision, token } = write;
            tried = if token.is_given_up() {
                Bound::Unwanted
            } else {
                worker.store.write_bound(edit, author, *expected_revision, || token.take())?
            };
            Ok(!matches!(tried, Bound::Busy))
        })?;
        self.publish();
        match tried {
            Bound::Shared | Bound::Busy => Ok(None),
            Bound::Unwanted => Err(Error::Cancelled("nobody waits for the write any more")),
            Bound::Done(done) => {
                let (outcome, view) = *done;
                Ok(Some(Box::new(Written { view, outcome })))
            }
        }
    }

    fn adopt(&mut self, rows: &[Row]) -> Outcome<()> {
        let adopted = self.store.adopt(rows).map_err(Error::from);
        if self.store.is_ahead() {
            self.settle_at.get_or_insert_with(|| sync::now() + SETTLED);
        }
        self.publish();
        adopted
    }

    /// Writes revisions given by the database to the disk. If that fails now, it is tried again later.
    pub(super) fn settle(&mut self) {
        self.settle_at = match self.store.settle() {
            Ok(true) => {
                if let Err(error) = self.store.maintain() {
                    tracing::warn!(target = %self.context.target, "the journal stays long: {error}");
                }
                None
            }
            Ok(false) => Some(sync::now() + SETTLED),
            Err(error) => {
                let (profile, target) = (&self.context.profile, self.context.target);
                tracing::warn!("{profile}'s {target} is behind the shared one: {error}");
                Some(sync::now() + AGAIN)
            }
        };
    }

    fn propose(&mut self, wish: ProposalRequest) -> Outcome<Proposed> {
        let ProposalRequest { given, writes, here } = wish;
        self.store.view().map_err(Error::from)?;
        self.publish();
        let (known, entries) = self.store.newest();
        let newest = given.last().map_or(known, |row| row.revision.max(known));
        let mut proposal = self.store.propose(&given, &here).map_err(Error::from)?;
        let edit = proposal.rows().last().cloned();
        let mut results = Vec::with_capacity(writes.len());
        for write in writes {
            let before = proposal.rows().len();
            let author = Author { host: here.host.clone(), ..write.author.clone() };
            let mut attempt = || -> Outcome<Written> {
                if write.expected_revision.is_some_and(|expected| expected != proposal.revision()) {
                    check_revision(write.expected_revision, &proposal.view())?;
                }
                let outcome = done(proposal.apply(&write.edit, &author))?;
                Ok(Written { view: proposal.view(), outcome })
            };
            let written = attempt();
            let row = proposal.rows().get(before).cloned();
            results.push((write, written, row));
        }
        Ok(Proposed { known, entries, base: newest, edit, writes: results })
    }

    /// Repeats an attempt until no other program holds the lock. Readers are answered meanwhile.
    fn under_lock(
        &mut self,
        jobs: &Receiver<Job>,
        later: &mut Vec<Job>,
        mut attempt: impl FnMut(&mut Self) -> Result<bool, herma_memory::StoreError>,
    ) -> Outcome<()> {
        loop {
            match attempt(self) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => return Err(Error::from(error)),
            }
            match sync::receive(jobs, PAUSE) {
                Ok(Job::View(answer)) => self.view(answer),
                Ok(Job::Log(query, answer)) => drop(answer.send(self.log(query))),
                Ok(Job::Flush(done)) => {
                    let _ = done.send(());
                }
                Ok(job) => later.push(job),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => sync::sleep(PAUSE),
            }
        }
    }
}
