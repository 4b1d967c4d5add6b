//! The worker of a store, which does one job after the other. Writers that arrive while it waits for the lock, or
//! during a sync, share the next sync and get their answers after it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use herma_context::Scrub;
use herma_memory::change::Applied;
use herma_memory::{EditError, LogQuery, Refusal, Store, Transaction, View};
use tokio::sync::oneshot;

use super::{Job, Log, QUEUE, Scrubbed, StoreContext, Write, Written, check_revision};
use crate::data::error::{Error, Outcome};
use crate::data::event::{Event, MemoryChange};
use crate::owners::in_place::Contention;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::mpsc::{Receiver, RecvTimeoutError};
use crate::sync::{self, Mutex, MutexGuard};

/// The largest number of writes that join a group at the last moment.
const GROUP: usize = 256;

/// The pause between two attempts at a lock that another program holds.
pub(super) const PAUSE: Duration = Duration::from_micros(500);

/// The number of writes after which the store's thread is woken for maintenance.
const UNMAINTAINED: usize = 16;

/// How long after a hint the file is read. By then an editor that writes in place has finished, and several own writes
/// in a row cause only one read.
const CALM: Duration = Duration::from_millis(60);

/// A write that waits, and the channel for its answer.
type Waiting = (Box<Write>, oneshot::Sender<Outcome<Written>>);

/// Does the jobs of a store as they arrive. Returns when all senders are gone.
pub(super) fn serve(worker: &Mutex<StoreWorker>, jobs: &Receiver<Job>) {
    lock(worker).start();
    loop {
        let due = lock(worker).due();
        let job = match due {
            None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => sync::receive(jobs, due.saturating_duration_since(sync::now())),
        };
        let mut worker = lock(worker);
        let job = match job {
            Ok(job) => job,
            Err(RecvTimeoutError::Timeout) if worker.settle_at.is_some_and(|due| due <= sync::now()) => Job::Settle,
            Err(RecvTimeoutError::Timeout) if worker.look_at.is_some_and(|due| due <= sync::now()) => Job::Look,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => {
                if worker.is_writing {
                    worker.context.watch.resume(worker.context.paths.folder());
                }
                return;
            }
        };
        if catch_unwind(AssertUnwindSafe(|| worker.take(job, jobs))).is_err() {
            worker.reset();
        }
        worker.watch();
        worker.publish();
    }
}

fn lock(worker: &Mutex<StoreWorker>) -> MutexGuard<'_, StoreWorker> {
    worker.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A store and its pending work. The thread that has locked it owns the store.
#[derive(Debug)]
pub(super) struct StoreWorker {
    pub(super) context: StoreContext,
    pub(super) store: Store,
    crowd: Arc<Contention>,
    /// Shared with the handles: whether the store may have entries that never leave this host.
    may_have_bound: Arc<AtomicBool>,
    /// When to read the file, which may have changed.
    look_at: Option<Instant>,
    /// When to write revisions given by the database to the disk.
    pub(super) settle_at: Option<Instant>,
    /// Whether the watch of the folder is paused, because this store writes to it.
    is_writing: bool,
    /// The number of writes since the last maintenance.
    unmaintained: usize,
    /// The duration of the last write that was done in place.
    pub(super) took: Duration,
    /// The duration of the last job of a shared store that was done in place.
    pub(super) proposed_took: Duration,
}

impl StoreWorker {
    pub(super) fn new(context: StoreContext, crowd: Arc<Contention>, may_have_bound: Arc<AtomicBool>) -> Self {
        let store = store(&context);
        Self {
            context,
            store,
            crowd,
            may_have_bound,
            look_at: None,
            settle_at: None,
            is_writing: false,
            unmaintained: 0,
            took: Duration::MAX,
            proposed_took: Duration::ZERO,
        }
    }

    /// Returns when the next work without a request is due.
    fn due(&self) -> Option<Instant> {
        self.look_at.into_iter().chain(self.settle_at).min()
    }

    fn start(&mut self) {
        self.watch();
        if let Err(error) = self.store.tidy() {
            tracing::warn!(target = %self.context.target, profile = self.context.profile, "{error}");
        }
        self.publish();
    }

    /// Discards the state of the store, which is uncertain after a panic.
    pub(super) fn reset(&mut self) {
        tracing::error!(target = %self.context.target, "a request panicked in the store; the file will be read again");
        self.store = store(&self.context);
    }

    pub(super) fn write_alone(&mut self, write: &Write) -> Option<Outcome<Written>> {
        if self.context.is_shared {
            return Some(Err(Error::overloaded("the store")));
        }
        let mut transaction = match self.store.begin() {
            Ok(Some(transaction)) => transaction,
            Ok(None) => return None,
            Err(error) => return Some(Err(Error::from(error))),
        };
        if !write.token.take() {
            return Some(Err(Error::Cancelled("nobody waits for the write any more")));
        }
        let written = apply(&mut transaction, write);
        let committed = transaction.commit().map_err(Error::from);
        self.publish();
        self.wrote();
        Some(committed.and(written))
    }

    /// Notes that a write is over. Its file events can be ignored, but the file is read again later.
    fn wrote(&mut self) {
        self.unmaintained += 1;
        self.look_at = Some(sync::now() + CALM);
    }

    /// Whether work is pending that the store's thread should do.
    pub(super) fn needs_maintenance(&self) -> bool {
        self.unmaintained >= UNMAINTAINED || !self.is_writing || self.store.needs_maintenance()
    }

    /// Does the work that can wait until the writers have their answers.
    fn maintain(&mut self) {
        self.unmaintained = 0;
        if let Err(error) = self.store.maintain() {
            tracing::warn!(target = %self.context.target, "the journal stays long: {error}");
        }
        if !self.is_writing {
            self.is_writing = true;
            self.context.watch.pause(self.context.paths.folder());
            // Ends the pause of the watch even if the write failed.
            self.look_at.get_or_insert_with(|| sync::now() + CALM);
        }
    }

    fn take(&mut self, job: Job, jobs: &Receiver<Job>) {
        match job {
            Job::View(answer) => self.view(answer),
            Job::Log(query, answer) => drop(answer.send(self.log(query))),
            Job::Scrub(dry_run, answer) => drop(answer.send(self.scrub(dry_run))),
            Job::Hint => self.look_at = Some(sync::now() + CALM),
            Job::Look => self.look(),
            Job::Settle => self.settle(),
            Job::Wake => {}
            Job::Shared(job) => {
                for job in self.shared(job, jobs) {
                    self.take(job, jobs);
                }
            }
            // The sharing of the store is just ending.
            Job::Write(_, answer) if self.context.is_shared => drop(answer.send(Err(Error::overloaded("the store")))),
            Job::Write(write, answer) => {
                for job in self.serve_writes((write, answer), jobs) {
                    self.take(job, jobs);
                }
                self.wrote();
                self.maintain();
            }
            Job::Maintain => self.maintain(),
            Job::Flush(done) => {
                self.settle();
                if let Err(error) = self.store.flush() {
                    tracing::warn!(target = %self.context.target, "not settled: {error}");
                }
                let _ = done.send(());
            }
        }
    }

    /// Reads the file, to which this store has not written for a while.
    fn look(&mut self) {
        self.look_at = None;
        if self.unmaintained > 0 {
            self.maintain();
        }
        if let Err(error) = self.store.look() {
            tracing::debug!(target = %self.context.target, "{error}");
        }
        if self.store.is_ahead() {
            self.settle_at.get_or_insert_with(sync::now);
        }
        if self.is_writing {
            self.is_writing = false;
            self.context.watch.resume(self.context.paths.folder());
        }
    }

    pub(super) fn view(&mut self, answer: oneshot::Sender<Outcome<View>>) {
        drop(answer.send(self.store.view().map_err(Error::from)));
    }

    pub(super) fn log(&mut self, query: LogQuery) -> Outcome<Log> {
        let (rows, more) = self.store.log(&query).map_err(Error::from)?;
        let damaged = self.store.view().map_err(Error::from)?.damaged;
        Ok(Log { rows, more, damaged })
    }

    /// Removes secrets from the journal.
    fn scrub(&mut self, dry_run: bool) -> Outcome<Scrubbed> {
        let mut found = Vec::new();
        let mut note = |secret: &str| found.push(secret.to_owned());
        let scrub = Scrub::new(&mut note);
        let journal = self.store.scrub_journal(&mut |entry| scrub.text(entry), dry_run).map_err(Error::from)?;
        let secrets = scrub.secrets();
        Ok(Scrubbed { journal, secrets, found })
    }

    fn watch(&self) {
        if self.is_writing {
            return;
        }
        self.context.watch.ensure(self.context.paths.folder());
    }

    pub(super) fn publish(&mut self) {
        self.may_have_bound.store(self.store.may_have_bound(), Ordering::Release);
        for event in self.store.take_events() {
            self.context.events.publish(Event::MemoryChanged(MemoryChange {
                profile: self.context.profile.clone(),
                target: self.context.target,
                revision: event.revision,
                action: event.action,
                session: event.session,
                agent: event.agent,
            }));
        }
    }

    /// Does a write, and those that arrive while another program holds the lock. Readers are answered meanwhile,
    /// because that needs no lock. Returns other jobs that arrived.
    fn serve_writes(&mut self, first: Waiting, jobs: &Receiver<Job>) -> Vec<Job> {
        let mut waiting = vec![first];
        loop {
            match self.store.begin() {
                Err(error) => {
                    let error = Error::from(error);
                    waiting.into_iter().for_each(|(_, answer)| drop(answer.send(Err(error.clone()))));
                    return Vec::new();
                }
                Ok(Some(transaction)) => {
                    let group = Group::commit(transaction, waiting, jobs);
                    if group.answers.len() > 1 {
                        self.crowd.seen();
                    }
                    // A writer that has its answer may ask for the published state.
                    self.publish();
                    return group.answer();
                }
                Ok(None) => {}
            }
            waiting.retain(|(write, _)| !write.token.is_given_up());
            if waiting.is_empty() {
                return Vec::new();
            }
            match sync::receive(jobs, PAUSE) {
                Ok(Job::Write(_, answer)) if waiting.len() >= QUEUE => {
                    drop(answer.send(Err(Error::overloaded("the store"))))
                }
                Ok(Job::Write(write, answer)) => waiting.push((write, answer)),
                Ok(Job::View(answer)) => self.view(answer),
                Ok(Job::Log(query, answer)) => drop(answer.send(self.log(query))),
                Ok(Job::Scrub(_, answer)) => drop(answer.send(Err(Error::overloaded("the store")))),
                Ok(Job::Hint | Job::Look | Job::Settle | Job::Wake | Job::Maintain)
                | Err(RecvTimeoutError::Timeout) => {}
                // Sharing began while this write waited. The two exclude each other, so that caller has to try again.
                Ok(Job::Shared(job)) => job.put_off(),
                // The daemon waits for this answer no longer than its drain time.
                Ok(Job::Flush(done)) => {
                    let _ = done.send(());
                }
                Err(RecvTimeoutError::Disconnected) => sync::sleep(PAUSE),
            }
        }
    }
}

pub(super) fn store(context: &StoreContext) -> Store {
    let mut store = Store::new(context.paths.clone(), context.target, context.limits, Arc::clone(&context.policy));
    store.share(context.is_shared);
    store
}

/// Writes that go to the disk together, and the readers that arrived meanwhile.
struct Group {
    failure: Option<Error>,
    views: Vec<(oneshot::Sender<Outcome<View>>, View)>,
    answers: Vec<(oneshot::Sender<Outcome<Written>>, Outcome<Written>)>,
    /// Other jobs that arrived.
    later: Vec<Job>,
}

impl Group {
    /// Applies all waiting writes, and writes them to the disk together.
    fn commit(mut transaction: Transaction<'_>, waiting: Vec<Waiting>, jobs: &Receiver<Job>) -> Self {
        let mut group = Self { failure: None, views: Vec::new(), answers: Vec::new(), later: Vec::new() };
        let late = jobs.try_iter().take(GROUP);
        for job in waiting.into_iter().map(|(write, answer)| Job::Write(write, answer)).chain(late) {
            match job {
                Job::View(answer) => group.views.push((answer, transaction.view())),
                // A caller that went away, or timed out, no longer wants the change.
                Job::Write(write, _) if !write.token.take() => {}
                Job::Write(write, answer) => group.answers.push((answer, apply(&mut transaction, &write))),
                Job::Hint | Job::Look | Job::Settle | Job::Wake | Job::Maintain => {}
                other => group.later.push(other),
            }
        }
        group.failure = transaction.commit().err().map(Error::from);
        group
    }

    /// Answers all callers, and returns the remaining jobs.
    fn answer(self) -> Vec<Job> {
        // A send fails if the caller went away after its change was applied.
        for (answer, view) in self.views {
            drop(answer.send(self.failure.clone().map_or(Ok(view), Err)));
        }
        for (answer, written) in self.answers {
            drop(answer.send(self.failure.clone().map_or(written, Err)));
        }
        self.later
    }
}

fn apply(transaction: &mut Transaction<'_>, write: &Write) -> Outcome<Written> {
    if write.expected_revision.is_some_and(|expected| expected != transaction.revision()) {
        check_revision(write.expected_revision, &transaction.view())?;
    }
    let outcome = done(transaction.apply(&write.edit, &write.author))?;
    Ok(Written { view: transaction.view(), outcome })
}

/// Returns the result of a change, or why it could not be tried.
pub(super) fn done(applied: Result<Applied, EditError>) -> Outcome<Result<Applied, Refusal>> {
    match applied {
        Ok(applied) => Ok(Ok(applied)),
        Err(EditError::Refused(refusal)) => Ok(Err(refusal)),
        Err(EditError::NotKept { revision, kept }) => Err(not_kept(revision, kept)),
        // Another program wrote the entry into the file at this very moment.
        Err(EditError::Bound) => Err(Error::overloaded("the store")),
        Err(EditError::Store(error)) => Err(Error::from(error)),
    }
}

fn not_kept(revision: u64, kept: Option<(u64, u64)>) -> Error {
    let words = match kept {
        Some((oldest, newest)) => {
            format!("revision {revision} is not kept; {oldest} to {newest} are")
        }
        None => format!("revision {revision} is not kept; the store has no history yet"),
    };
    Error::NotFound(words)
}
