//! The archive's owner: one thread writes, and a few other connections read.
//!
//! Each use of the archive is a named method, in the files below by topic, so that another storage could replace
//! SQLite. Some data is both in memory and on disk. A closure changes it in memory: the method runs it on the archive's
//! thread right after the change is on disk, because the caller may be gone by then.

mod compressions;
mod constraints;
mod discards;
mod episodes;
mod files;
mod handover;
mod intake;
mod ledger;
mod locks;
pub(crate) mod nodes;
mod opened;
mod outbox;
mod pins;
mod queue;
mod reading;
mod recall;
mod scrub;
mod sessions;
mod thread;
mod transcripts;
mod usage;
mod windows;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use herma_archive::transcript::Appended;
use herma_archive::{Archive, ArchiveError, Reader};
use tokio::sync::{Semaphore, oneshot, watch};

pub(crate) use self::compressions::{CompressionStart, EarlierList, NewList, StagedCompression};
pub(crate) use self::constraints::{ACTIVE, Added, REMOVED};
use self::files::{has_log, with_suffix};
use self::intake::Intake;
use self::reading::READERS;
pub(crate) use self::recall::RecallQuery;
pub(crate) use self::sessions::{ClosedSession, KeptSession};
use self::thread::{begin, serve};
use self::transcripts::Append;
pub(crate) use self::transcripts::KnownTranscript;
pub(crate) use self::usage::{Call, UsageQuery};
use crate::data::error::{Error, Outcome};
use crate::owners::in_place::Contention;
use crate::owners::slot::slot;

/// The number of jobs that may wait.
const QUEUE: usize = 1024;

/// How often an important note is tried, and the pause between two tries.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(50);

/// How long a caller waits for optional information.
const SOON: Duration = Duration::from_millis(200);

/// A job for the archive's thread.
enum Job {
    /// A job of its own, and the time of its request.
    Alone(Work, Instant),
    /// Messages that are synced together with the appends that wait next to them.
    Append(Append),
    /// A notice that messages were appended in place.
    Appended,
}

/// Work with the archive. It gets the archive, or the error that prevents its use.
type Work = Box<dyn FnOnce(Result<&mut Archive, Arc<ArchiveError>>) -> Finished + Send>;

/// A write for which a caller waits. Its result goes to a slot.
type WriteJob = Box<dyn FnOnce(&mut Archive) -> Result<(), ArchiveError> + Send>;

/// The result of a job.
struct Finished {
    /// The failure, for the thread, which sets a damaged file aside.
    failure: Result<(), Arc<ArchiveError>>,
    /// Answers the caller, once the thread knows whether the written data is in the file.
    answer: Option<Box<dyn FnOnce(Outcome<()>)>>,
}

impl From<Result<(), Arc<ArchiveError>>> for Finished {
    fn from(failure: Result<(), Arc<ArchiveError>>) -> Self {
        Self { failure, answer: None }
    }
}

/// Fills a new archive that replaces a damaged one.
type Refill = Box<dyn Fn(&mut Archive) + Send>;

/// Sends jobs to the archive's thread.
#[derive(Debug)]
pub(crate) struct ArchiveHandle {
    jobs: Mutex<Option<SyncSender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    shared: Arc<Shared>,
}

/// The state that the thread and its callers share.
#[derive(Debug)]
struct Shared {
    path: PathBuf,
    condition: RwLock<Condition>,
    /// The number of the file. It grows by one each time a damaged file is set aside.
    epoch: AtomicU64,
    /// Idle read connections, each with the epoch of its file.
    readers: Mutex<Vec<(u64, Reader)>>,
    /// Readers wait here, and not on a thread that others need.
    reading: Arc<Semaphore>,
    /// Receives appended messages. Each use of the archive holds this lock.
    intake: Mutex<Intake>,
    /// Whether several callers append at the same time.
    crowd: Contention,
    /// The number of writes to the log of appended messages.
    appended: AtomicU64,
    /// The number of those writes whose messages are now in the archive itself.
    taken_over: watch::Sender<u64>,
    /// The previous daemon was killed, and the sessions that ended with it are not noted yet.
    owes_note: AtomicBool,
    /// Whether another program had the archive locked at the last write.
    is_locked: AtomicBool,
}

/// Whether and how the archive can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Condition {
    /// It is in use. After damage, the text says what happened.
    InUse(Option<String>),
    /// It can only be read.
    ReadOnly(String),
    /// An archive exists that can't be read now; the thread tries again.
    Unreadable(String),
    /// No archive exists and none can be created; the thread tries again.
    Broken(String),
}

impl ArchiveHandle {
    /// Opens the archive. A damaged file is set aside, never deleted, and a new archive starts with the sessions that
    /// `in_use` returns. An archive of a newer herma is only read. If no archive can be opened, the daemon runs on
    /// without it: each call returns an error, and the thread keeps trying to open it.
    #[must_use]
    pub(crate) fn open(path: PathBuf, in_use: impl Fn() -> Vec<KeptSession> + Send + 'static) -> Self {
        let was_killed = has_log(&path);
        let (archive, condition) = begin(&path);
        condition.log();
        let mut intake = Intake::new(&path);
        let archive = archive.map(|mut archive| {
            intake.begin(&mut archive);
            archive
        });
        let is_only_read = matches!(condition, Condition::ReadOnly(_));
        let shared = Arc::new(Shared {
            path,
            condition: RwLock::new(condition),
            epoch: AtomicU64::new(0),
            readers: Mutex::default(),
            reading: Arc::new(Semaphore::new(READERS)),
            intake: Mutex::new(intake),
            crowd: Contention::new(),
            appended: AtomicU64::new(0),
            taken_over: watch::Sender::new(0),
            owes_note: AtomicBool::new(was_killed),
            is_locked: AtomicBool::new(false),
        });
        let mut handle = Self { jobs: Mutex::default(), thread: Mutex::default(), shared };
        if is_only_read {
            return handle;
        }
        let (sender, receiver) = sync_channel(QUEUE);
        let shared = Arc::clone(&handle.shared);
        let refill: Refill = Box::new(move |archive| sessions::keep_again(archive, in_use()));
        let work = move || serve(archive, &receiver, &shared, &refill);
        match std::thread::Builder::new().name("archive".into()).spawn(work) {
            Ok(thread) => {
                handle.jobs = Mutex::new(Some(sender));
                handle.thread = Mutex::new(Some(thread));
            }
            Err(error) => handle.shared.set_condition(Condition::Broken(format!("no thread for the archive: {error}"))),
        }
        handle
    }

    /// Returns `ok`, or the problem of the archive.
    #[must_use]
    pub(crate) fn state(&self) -> String {
        match self.shared.condition() {
            Condition::InUse(None) if self.is_locked() => "locked by another program; it is only read meanwhile".into(),
            Condition::InUse(None) => "ok".into(),
            Condition::InUse(Some(words)) => format!("ok; {words}"),
            Condition::ReadOnly(words) => format!("read only: {words}"),
            Condition::Unreadable(words) | Condition::Broken(words) => format!("not in use: {words}"),
        }
    }

    /// Refuses to create an item that an unreadable archive may already contain.
    ///
    /// # Errors
    /// An archive exists and can't be read.
    pub(crate) fn check_readable(&self) -> Outcome<()> {
        if self.shared.is_unreadable() { Err(self.unavailable()) } else { Ok(()) }
    }

    /// Whether the archive accepts writes.
    #[must_use]
    pub(crate) fn is_in_use(&self) -> bool {
        matches!(self.shared.condition(), Condition::InUse(_))
    }

    /// Whether another program had the archive locked at the last write. Callers then omit optional work.
    pub(crate) fn is_locked(&self) -> bool {
        self.shared.is_locked.load(Ordering::Acquire)
    }

    /// Releases memory that is only cached for later. The readers do so on the calling thread.
    pub(crate) async fn release_cached_memory(&self) {
        // On failure, the archive keeps its memory.
        drop(self.write_if_in_use(|archive| archive.shrink_memory()).await);
        for (_, reader) in self.shared.readers().iter() {
            // On failure, the reader keeps its memory.
            drop(reader.shrink_memory());
        }
    }

    /// Returns the size of the archive in bytes, with its log.
    #[must_use]
    pub(crate) fn bytes(&self) -> u64 {
        let path = &self.shared.path;
        [path.clone(), with_suffix(path, "-wal")]
            .iter()
            .filter_map(|path| std::fs::metadata(path).ok())
            .map(|file| file.len())
            .sum()
    }

    /// Lets the waiting jobs finish, then closes the file.
    pub(crate) fn close(&self) {
        self.shared.end_reading();
        drop(self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
            && thread.join().is_err()
        {
            tracing::error!("the archive's thread panicked");
        }
    }

    /// Runs a job on the archive's thread, and waits for its result.
    async fn write<T, F>(&self, job: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Archive) -> Result<T, ArchiveError> + Send + 'static,
    {
        let (filler, done) = slot();
        self.run_writing(Box::new(move |archive| job(archive).map(|value| filler.fill(value)))).await?;
        done.take().ok_or_else(|| Error::internal("the archive"))
    }

    async fn run_writing(&self, job: WriteJob) -> Outcome<()> {
        let (answer, answered) = oneshot::channel();
        self.send(Job::Alone(
            Box::new(move |archive| {
                let failure = archive.and_then(|archive| job(archive).map_err(Arc::new));
                let done = failure.clone().map_err(Error::from);
                // The send fails if the caller has gone away.
                let answer = Box::new(move |kept: Outcome<()>| drop(answer.send(kept.and(done))));
                Finished { failure, answer: Some(answer) }
            }),
            Instant::now(),
        ))?;
        answered.await.unwrap_or_else(|_| Err(Error::internal("the archive")))
    }

    /// Like `write`, for data that is in memory too. Does nothing while the archive is not in use.
    async fn write_if_in_use<F>(&self, job: F) -> Outcome<()>
    where
        F: FnOnce(&mut Archive) -> Result<(), ArchiveError> + Send + 'static,
    {
        if self.is_in_use() { self.write(job).await } else { Ok(()) }
    }

    /// Makes the archive's thread check whether its files are still those that it opened, which it does after every
    /// job. Waits no longer than [`SOON`], because the thread may be busy.
    pub(crate) async fn look(&self) {
        drop(tokio::time::timeout(SOON, self.write_if_in_use(|_| Ok(()))).await);
    }

    /// Runs a job on the archive's thread without waiting for it.
    fn post(&self, job: impl FnOnce(&mut Archive) -> Result<(), ArchiveError> + Send + 'static) {
        let job = move |archive: Result<&mut Archive, Arc<ArchiveError>>| {
            archive.and_then(|archive| job(archive).map_err(Arc::new)).into()
        };
        if let Err(error) = self.send(Job::Alone(Box::new(job), Instant::now())) {
            tracing::warn!("not noted in the archive: {error}");
        }
    }

    /// Like `post`, for jobs that only matter while the archive is in use.
    fn post_if_in_use(&self, job: impl FnOnce(&mut Archive) -> Result<(), ArchiveError> + Send + 'static) {
        if self.is_in_use() {
            self.post(job);
        }
    }

    /// Like [`Self::write_if_in_use`], but tries again while the archive's queue is full.
    async fn retry<F>(&self, job: F)
    where
        F: Fn(&mut Archive) -> Result<(), ArchiveError> + Clone + Send + 'static,
    {
        for _ in 0..TRIES {
            match self.write_if_in_use(job.clone()).await {
                Err(Error::Busy(_)) => tokio::time::sleep(PAUSE).await,
                Err(error) => return tracing::warn!("not noted in the archive: {error}"),
                Ok(()) => return,
            }
        }
        tracing::warn!("not noted in the archive, which has too much to do");
    }

    fn send(&self, job: Job) -> Outcome<()> {
        if !self.is_in_use() {
            return Err(self.unavailable());
        }
        let sent = match &*self.jobs.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(jobs) => jobs.try_send(job),
            None => return Err(stopping()),
        };
        match sent {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => Err(Error::overloaded("the archive")),
            Err(TrySendError::Disconnected(_)) => Err(Error::internal("the archive")),
        }
    }

    /// Waits until the archive itself has all messages that were appended so far. Waits at most `SOON` while another
    /// program has it locked.
    ///
    /// # Errors
    /// The archive can't store them.
    async fn take_over(&self) -> Outcome<()> {
        if !self.is_locked() {
            return self.taken_over().await;
        }
        let late = |_| Error::Busy("another program has the archive locked".into());
        tokio::time::timeout(SOON, self.taken_over()).await.map_err(late)?
    }

    async fn taken_over(&self) -> Outcome<()> {
        let wanted = self.shared.appended.load(Ordering::Acquire);
        let mut taken_over = self.shared.taken_over.subscribe();
        if *taken_over.borrow() >= wanted {
            return Ok(());
        }
        // Any job will do, because the thread moves the log into the archive before it runs one.
        let asked = async {
            for _ in 0..TRIES {
                match self.write(|_| Ok(())).await {
                    Err(Error::Busy(_)) => tokio::time::sleep(PAUSE).await,
                    done => return done,
                }
            }
            Err(Error::overloaded("the archive"))
        };
        tokio::select! {
            biased;
            _ = taken_over.wait_for(|taken_over| *taken_over >= wanted) => Ok(()),
            done = asked => done,
        }
    }

    fn unavailable(&self) -> Error {
        Error::Unavailable(format!("the archive is {}", self.state()))
    }
}

impl Shared {
    fn intake(&self) -> MutexGuard<'_, Intake> {
        self.intake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends on the calling thread, without the archive's thread; `None` if that thread has to do it. Also returns
    /// whether to notify the thread.
    fn append_in_place(&self, append: &Append) -> Option<(Appended, bool)> {
        if self.crowd.is_here() {
            return None;
        }
        let mut intake = self.intake.try_lock().ok()?;
        let kept = intake.keep_in_place(append, &self.path, queue::MOST_WAITING)?;
        self.appended.fetch_add(1, Ordering::AcqRel);
        Some((kept, intake.must_tell()))
    }

    fn condition(&self) -> Condition {
        self.condition.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_newer(&self) -> bool {
        matches!(self.condition(), Condition::ReadOnly(_))
    }

    fn is_unreadable(&self) -> bool {
        matches!(self.condition(), Condition::Unreadable(_))
    }

    /// Sets the condition, and logs it if it changed.
    fn set_condition(&self, condition: Condition) {
        let mut now = self.condition.write().unwrap_or_else(PoisonError::into_inner);
        if *now != condition {
            condition.log();
            *now = condition;
        }
    }
}

impl Condition {
    fn log(&self) {
        match self {
            Self::InUse(None) => tracing::debug!("the archive is in use"),
            Self::InUse(Some(words)) => tracing::error!("{words}"),
            Self::ReadOnly(words) => tracing::error!("the archive is only read: {words}"),
            Self::Unreadable(words) | Self::Broken(words) => tracing::error!("the archive is not in use: {words}"),
        }
    }
}

fn stopping() -> Error {
    Error::Unavailable("the daemon is stopping".into())
}
