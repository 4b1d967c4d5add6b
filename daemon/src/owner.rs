//! The thread that owns a store. Writers that arrive while it waits for the
//! lock, or while a sync is under way, share the next sync and are answered after
//! it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use herma_disk::watch::Watch;
use herma_guard::Policy;
use herma_memory::change::Applied;
use herma_memory::{Author, Denied, Edit, Limits, Paths, Refusal, Row, Store, Target, Transaction, View};
use herma_protocol::{ErrorKind, RpcError};
use serde_json::json;
use tokio::sync::oneshot;

use crate::claim::Claim;
use crate::events::Events;
use crate::fail::{self, Outcome};

/// Jobs that may wait; past it the answer is `busy`.
const QUEUE: usize = 1024;

/// Writes that are taken along at the last moment at most.
const GROUP: usize = 256;

/// Pause between two looks at a lock that another program holds.
const PAUSE: Duration = Duration::from_micros(500);

/// How long writers do not go ahead alone after several wrote at the same time, in
/// milliseconds.
const CROWD_MS: u64 = 20;

/// A write that takes less is done by whoever asks without handing the connections
/// that its thread serves over to another, which takes longer than it spares them.
const QUICK: Duration = Duration::from_millis(2);

/// Held during such a write: one thread at a time may wait for a disk, so that a
/// disk that suddenly hangs stops none of the others.
static IN_PLACE: Mutex<()> = Mutex::new(());

/// Writes after which the store's thread is woken for what can wait.
const UNRESTED: usize = 16;

/// How long after a hint the file is looked at: an editor that writes in place has
/// finished by then, and one's own writes in a row cost one look.
const CALM: Duration = Duration::from_millis(60);

/// Bytes of texts after which a log is cut short.
const LOG_BYTES: usize = 16 << 20;

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
    /// There is something to do that nobody waits for.
    Rest,
    /// The daemon stops; what its last word was.
    Settle(SyncSender<()>),
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
pub(crate) struct Post {
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
}

/// Sends jobs to a store's thread, or does a write itself while the store has
/// nothing else to do: a single writer then waits for no other thread.
#[derive(Debug, Clone)]
pub(crate) struct Owner {
    jobs: SyncSender<Job>,
    keeper: Arc<Mutex<Keeper>>,
    crowd: Arc<Crowd>,
}

/// Whether several write at the same time; then they are better off together.
#[derive(Debug)]
struct Crowd {
    since: Instant,
    /// When it was last seen, in milliseconds of `since`.
    seen_ms: AtomicU64,
}

impl Crowd {
    fn new() -> Self {
        Self { since: Instant::now(), seen_ms: AtomicU64::new(0) }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX) + CROWD_MS
    }

    fn seen(&self) {
        self.seen_ms.store(self.now_ms(), Ordering::Relaxed);
    }

    fn is_here(&self) -> bool {
        self.now_ms() - self.seen_ms.load(Ordering::Relaxed) < CROWD_MS
    }
}

impl Owner {
    /// Starts the thread. It ends when the last sender is gone and what waits is
    /// done.
    pub(crate) fn start(post: Post) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(QUEUE);
        let name = format!("store-{}", post.target);
        let crowd = Arc::new(Crowd::new());
        let keeper = Arc::new(Mutex::new(Keeper::new(post, Arc::clone(&crowd))));
        let kept = Arc::clone(&keeper);
        std::thread::Builder::new().name(name).spawn(move || serve(&kept, &receiver))?;
        Ok(Self { jobs: sender, keeper, crowd })
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
        let mut keeper = self.keeper.try_lock().ok()?;
        let is_quick = keeper.took < QUICK;
        let began = Instant::now();
        let mut work = || catch_unwind(AssertUnwindSafe(|| keeper.write_alone(write)));
        let written = match IN_PLACE.try_lock() {
            Ok(_only) if is_quick => work(),
            _ => tokio::task::block_in_place(work),
        };
        let written = written.unwrap_or_else(|_| {
            keeper.begin_anew();
            Some(Err(fail::internal("the store")))
        });
        keeper.took = began.elapsed();
        if keeper.wants_rest() {
            drop(keeper);
            drop(self.jobs.try_send(Job::Rest));
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
    pub(crate) fn settle(&self, patience: Duration) {
        let (done, settled) = sync_channel(1);
        if self.jobs.try_send(Job::Settle(done)).is_ok() {
            // A disk that hangs is no reason not to stop.
            let _ = settled.recv_timeout(patience);
        }
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

/// A write that waits, and where its answer goes.
type Waiting = (Box<Write>, oneshot::Sender<Outcome<Written>>);

/// Does the jobs of a store as they come; ends when nobody can send any more.
fn serve(keeper: &Mutex<Keeper>, jobs: &Receiver<Job>) {
    lock(keeper).start();
    loop {
        let due = lock(keeper).look_at;
        let job = match due {
            None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => jobs.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        let mut keeper = lock(keeper);
        let job = match job {
            Ok(job) => job,
            Err(RecvTimeoutError::Timeout) if keeper.look_at.is_some_and(|due| due <= Instant::now()) => Job::Look,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        if catch_unwind(AssertUnwindSafe(|| keeper.take(job, jobs))).is_err() {
            keeper.begin_anew();
        }
        keeper.watch();
        keeper.tell();
    }
}

fn lock(keeper: &Mutex<Keeper>) -> MutexGuard<'_, Keeper> {
    keeper.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A store and what is to be done about it. Whoever has locked it owns the store.
#[derive(Debug)]
struct Keeper {
    post: Post,
    store: Store,
    crowd: Arc<Crowd>,
    /// When to look at the file that may have changed.
    look_at: Option<Instant>,
    /// The folder is not watched, for this store writes to it.
    is_writing: bool,
    /// Writes since the last rest.
    unrested: usize,
    /// How long the last write took that was done in place.
    took: Duration,
}

impl Keeper {
    fn new(post: Post, crowd: Arc<Crowd>) -> Self {
        let store = store(&post);
        Self { post, store, crowd, look_at: None, is_writing: false, unrested: 0, took: Duration::MAX }
    }

    fn start(&mut self) {
        self.watch();
        if let Err(error) = self.store.tidy() {
            tracing::warn!(target = %self.post.target, profile = self.post.profile, "{error}");
        }
        self.tell();
    }

    /// After a panic nothing is known of the store any more.
    fn begin_anew(&mut self) {
        tracing::error!(target = %self.post.target, "a request panicked in the store; the file will be read again");
        self.store = store(&self.post);
    }

    fn write_alone(&mut self, write: &Write) -> Option<Outcome<Written>> {
        let mut transaction = match self.store.begin() {
            Ok(Some(transaction)) => transaction,
            Ok(None) => return None,
            Err(error) => return Some(Err(fail::store(&error))),
        };
        if !write.claim.take() {
            return Some(Err(RpcError::new(ErrorKind::Cancelled, "nobody waits for the write any more")));
        }
        let written = apply(&mut transaction, write);
        let committed = transaction.commit().map_err(|error| fail::store(&error));
        self.tell();
        self.wrote();
        Some(committed.and(written))
    }

    /// A write is over: its events need not be seen, but its file looked at later.
    fn wrote(&mut self) {
        self.unrested += 1;
        self.look_at = Some(Instant::now() + CALM);
    }

    /// Whether something waits that the store's thread should do.
    fn wants_rest(&self) -> bool {
        self.unrested >= UNRESTED || !self.is_writing || self.store.wants_rest()
    }

    /// Does what can wait until the writers are answered.
    fn rest(&mut self) {
        self.unrested = 0;
        if let Err(error) = self.store.rest() {
            tracing::warn!(target = %self.post.target, "the journal stays long: {error}");
        }
        if !self.is_writing {
            self.is_writing = true;
            self.post.watch.pause(self.post.paths.folder());
        }
    }

    fn take(&mut self, job: Job, jobs: &Receiver<Job>) {
        match job {
            Job::View(answer) => self.view(answer),
            Job::Log(page, answer) => drop(answer.send(self.log(page))),
            Job::Hint => self.look_at = Some(Instant::now() + CALM),
            Job::Look => self.look(),
            Job::Write(write, answer) => {
                for job in self.serve_writes((write, answer), jobs) {
                    self.take(job, jobs);
                }
                self.wrote();
                self.rest();
            }
            Job::Rest => self.rest(),
            Job::Settle(done) => {
                if let Err(error) = self.store.settle() {
                    tracing::warn!(target = %self.post.target, "not settled: {error}");
                }
                let _ = done.send(());
            }
        }
    }

    /// Looks at the file, which nobody has written through this store for a while.
    fn look(&mut self) {
        self.look_at = None;
        if self.unrested > 0 {
            self.rest();
        }
        if let Err(error) = self.store.look() {
            tracing::debug!(target = %self.post.target, "{error}");
        }
        if self.is_writing {
            self.is_writing = false;
            self.post.watch.resume(self.post.paths.folder());
        }
    }

    fn view(&mut self, answer: oneshot::Sender<Outcome<View>>) {
        drop(answer.send(self.store.view().map_err(|error| fail::store(&error))));
    }

    fn log(&mut self, page: Page) -> Outcome<Log> {
        let (rows, more) = self.store.log(page.before, page.limit, LOG_BYTES).map_err(|error| fail::store(&error))?;
        let damaged = self.store.view().map_err(|error| fail::store(&error))?.damaged;
        Ok(Log { rows, more, damaged })
    }

    fn watch(&self) {
        if self.is_writing {
            return;
        }
        self.post.watch.ensure(self.post.paths.folder());
    }

    fn tell(&mut self) {
        for event in self.store.take_events() {
            self.post.events.memory_changed(&self.post.profile, self.post.target, event);
        }
    }

    /// Does a write, and those that come while another program holds the lock.
    /// Whoever only wants to look is answered meanwhile, for that needs no lock. Gives
    /// back what came along and is no write.
    fn serve_writes(&mut self, first: Waiting, jobs: &Receiver<Job>) -> Vec<Job> {
        let mut waiting = vec![first];
        loop {
            match self.store.begin() {
                Err(error) => {
                    waiting.into_iter().for_each(|(_, answer)| drop(answer.send(Err(fail::store(&error)))));
                    return Vec::new();
                }
                Ok(Some(transaction)) => {
                    let group = Group::commit(transaction, waiting, jobs);
                    if group.answers.len() > 1 {
                        self.crowd.seen();
                    }
                    // Whoever is answered may ask what was told.
                    self.tell();
                    return group.answer();
                }
                Ok(None) => {}
            }
            waiting.retain(|(write, _)| !write.claim.is_given_up());
            if waiting.is_empty() {
                return Vec::new();
            }
            match jobs.recv_timeout(PAUSE) {
                Ok(Job::Write(_, answer)) if waiting.len() >= QUEUE => drop(answer.send(Err(fail::busy("the store")))),
                Ok(Job::Write(write, answer)) => waiting.push((write, answer)),
                Ok(Job::View(answer)) => self.view(answer),
                Ok(Job::Log(page, answer)) => drop(answer.send(self.log(page))),
                Ok(Job::Hint | Job::Look | Job::Rest) | Err(RecvTimeoutError::Timeout) => {}
                // Whoever waits here is waited for no longer than the daemon drains.
                Ok(Job::Settle(done)) => {
                    let _ = done.send(());
                }
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(PAUSE),
            }
        }
    }
}

fn store(post: &Post) -> Store {
    Store::new(post.paths.clone(), post.target, post.limits, Arc::clone(&post.policy))
}

/// Writes that were put on the disk together, and whoever asked meanwhile.
struct Group {
    failure: Option<RpcError>,
    views: Vec<(oneshot::Sender<Outcome<View>>, View)>,
    answers: Vec<(oneshot::Sender<Outcome<Written>>, Outcome<Written>)>,
    /// What came along and is no write.
    later: Vec<Job>,
}

impl Group {
    /// Applies all writes that wait, and puts them on the disk together.
    fn commit(mut transaction: Transaction<'_>, waiting: Vec<Waiting>, jobs: &Receiver<Job>) -> Self {
        let mut group = Self { failure: None, views: Vec::new(), answers: Vec::new(), later: Vec::new() };
        let late = jobs.try_iter().take(GROUP);
        for job in waiting.into_iter().map(|(write, answer)| Job::Write(write, answer)).chain(late) {
            match job {
                Job::View(answer) => group.views.push((answer, transaction.view())),
                // Whoever went away, or ran out of time, wants no change any more.
                Job::Write(write, _) if !write.claim.take() => {}
                Job::Write(write, answer) => group.answers.push((answer, apply(&mut transaction, &write))),
                Job::Hint | Job::Look | Job::Rest => {}
                other => group.later.push(other),
            }
        }
        group.failure = transaction.commit().err().map(|error| fail::store(&error));
        group
    }

    /// Answers everybody, and gives back what is left to do.
    fn answer(self) -> Vec<Job> {
        // A send fails when the caller went away after its change was applied.
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
    let outcome = match transaction.apply(&write.edit, &write.author) {
        Ok(applied) => Ok(applied),
        Err(Denied::Refused(refusal)) => Err(refusal),
        Err(Denied::NotKept { revision, kept }) => return Err(not_kept(revision, kept)),
        Err(Denied::Store(error)) => return Err(fail::store(&error)),
    };
    Ok(Written { view: transaction.view(), outcome })
}

/// A caller who saw another revision is told the one there is.
pub(crate) fn check_revision(expected: Option<u64>, view: &View) -> Outcome<()> {
    let View { target, shown, revision, .. } = view;
    match expected {
        Some(expected) if expected != *revision => {
            let words = format!("{} is at revision {revision}, not {expected}; read it again", target.file_name());
            let entries: Vec<&str> = shown.iter().map(|entry| &**entry).collect();
            Err(RpcError::new(ErrorKind::Conflict, words)
                .with_details(&json!({ "revision": revision, "entries": entries })))
        }
        _ => Ok(()),
    }
}

fn not_kept(revision: u64, kept: Option<(u64, u64)>) -> RpcError {
    let words = match kept {
        Some((oldest, newest)) => {
            format!("the text of revision {revision} is not kept; those of {oldest} to {newest} are")
        }
        None => format!("the text of revision {revision} is not kept; the store has no history yet"),
    };
    RpcError::new(ErrorKind::NotFound, words)
}
