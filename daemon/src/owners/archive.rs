//! The archive's owner: one thread writes, some connections beside it read.
//!
//! Everything that the daemon wants of the archive is a method with a name, in the files below
//! by what it is about, so that another storage can stand behind them. What must be the same
//! in memory and on disk is changed by a function that the method runs on the archive's thread
//! right after the change was kept: the caller may be gone by then.

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
use self::files::{beside, has_log};
use self::intake::Intake;
use self::reading::READERS;
pub(crate) use self::recall::RecallQuery;
pub(crate) use self::sessions::{ClosedSession, KeptSession};
use self::thread::{begin, serve};
use self::transcripts::Append;
pub(crate) use self::transcripts::KnownTranscript;
pub(crate) use self::usage::{Call, UsageQuery};
use crate::data::error::{Error, Outcome};
use crate::owners::in_place::Crowd;
use crate::owners::slot::slot;

/// Jobs that may wait.
const QUEUE: usize = 1024;

/// How often something that must be noted is tried, and the pause between.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(50);

/// How long is waited for what is good to know.
const SOON: Duration = Duration::from_millis(200);

/// What the thread is asked for.
enum Job {
    /// Something to be done by itself, and when it was asked for.
    Alone(Work, Instant),
    /// Messages that are synced together with those that wait beside them.
    Append(Append),
    /// Messages were appended in place.
    Appended,
}

/// Done with the archive, or told what keeps it from being done.
type Work = Box<dyn FnOnce(Result<&mut Archive, Arc<ArchiveError>>) -> Finished + Send>;

/// A write that a caller waits for. Its result goes to a slot.
type WriteJob = Box<dyn FnOnce(&mut Archive) -> Result<(), ArchiveError> + Send>;

/// What a job came to.
struct Finished {
    /// What failed, for the thread, which sets a damaged file aside.
    failure: Result<(), Arc<ArchiveError>>,
    /// Tells who waits, once the thread knows whether what was written is in the file.
    answer: Option<Box<dyn FnOnce(Outcome<()>)>>,
}

impl From<Result<(), Arc<ArchiveError>>> for Finished {
    fn from(failure: Result<(), Arc<ArchiveError>>) -> Self {
        Self { failure, answer: None }
    }
}

/// Fills an archive that took the place of a damaged one.
type Refill = Box<dyn Fn(&mut Archive) + Send>;

/// Sends jobs to the archive's thread.
#[derive(Debug)]
pub(crate) struct ArchiveHandle {
    jobs: Mutex<Option<SyncSender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    shared: Arc<Shared>,
}

/// What the thread and those who ask it both know.
#[derive(Debug)]
struct Shared {
    path: PathBuf,
    condition: RwLock<Condition>,
    /// Which file this is: one more each time a damaged one was set aside.
    epoch: AtomicU64,
    /// Connections that nobody reads with right now, with their file.
    readers: Mutex<Vec<(u64, Reader)>>,
    /// Readers wait here, not on a thread that others need.
    reading: Arc<Semaphore>,
    /// Where messages are appended; who does anything with the archive holds it.
    intake: Mutex<Intake>,
    /// Whether several append at the same time.
    crowd: Crowd,
    /// How often messages were appended by way of the log.
    appended: AtomicU64,
    /// How many of these times the archive itself has.
    taken_over: watch::Sender<u64>,
    /// The daemon before this one was killed, and what ended with it is not noted yet.
    owes_note: AtomicBool,
    /// Another program had the archive locked when it was written last.
    is_locked: AtomicBool,
}

/// How far the archive can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Condition {
    /// It is in use. After damage: what happened.
    InUse(Option<String>),
    /// It can be read only.
    ReadOnly(String),
    /// One is there and can't be read now; it is tried again.
    Unreadable(String),
    /// There is none, and none can be made; it is tried again.
    Broken(String),
}

impl ArchiveHandle {
    /// Opens the archive. A damaged one is set aside, never deleted, and a new one begun and
    /// given what `in_use` answers; one that a newer herma wrote is only read; without one that
    /// can be opened the daemon goes on, every call says so, and it is tried again.
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
            crowd: Crowd::new(),
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
            Err(error) => handle.shared.become_(Condition::Broken(format!("no thread for the archive: {error}"))),
        }
        handle
    }

    /// `ok`, or what is wrong with it.
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

    /// Refuses what must not begin anew while an archive is there that may hold it.
    ///
    /// # Errors
    /// One is there and can't be read.
    pub(crate) fn check_readable(&self) -> Outcome<()> {
        if self.shared.is_unreadable() { Err(self.unavailable()) } else { Ok(()) }
    }

    /// Whether anything can be kept in it.
    #[must_use]
    pub(crate) fn is_in_use(&self) -> bool {
        matches!(self.shared.condition(), Condition::InUse(_))
    }

    /// Whether another program had it locked when it was written last. What can be left out is left out then.
    pub(crate) fn is_locked(&self) -> bool {
        self.shared.is_locked.load(Ordering::Acquire)
    }

    /// Gives back memory that is only kept for the next time, on the thread that asks where that can be done.
    pub(crate) fn keep_little(&self) {
        self.post_if_in_use(|archive| archive.keep_little());
        for (_, reader) in self.shared.readers().iter() {
            // It keeps what it has, then.
            drop(reader.keep_little());
        }
    }

    /// Size of the archive in bytes, with its log.
    #[must_use]
    pub(crate) fn bytes(&self) -> u64 {
        let path = &self.shared.path;
        [path.clone(), beside(path, "-wal")]
            .iter()
            .filter_map(|path| std::fs::metadata(path).ok())
            .map(|file| file.len())
            .sum()
    }

    /// Lets the jobs that wait finish, then closes the file.
    pub(crate) fn close(&self) {
        self.shared.end_reading();
        drop(self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
            && thread.join().is_err()
        {
            tracing::error!("the archive's thread panicked");
        }
    }

    /// Has the archive's thread do a job, and waits for what it comes to.
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
                // Nobody listens any more when the caller went away.
                let answer = Box::new(move |kept: Outcome<()>| drop(answer.send(kept.and(done))));
                Finished { failure, answer: Some(answer) }
            }),
            Instant::now(),
        ))?;
        answered.await.unwrap_or_else(|_| Err(Error::internal("the archive")))
    }

    /// The same for what is in memory too: without an archive nothing is done.
    async fn write_if_in_use<F>(&self, job: F) -> Outcome<()>
    where
        F: FnOnce(&mut Archive) -> Result<(), ArchiveError> + Send + 'static,
    {
        if self.is_in_use() { self.write(job).await } else { Ok(()) }
    }

    /// Has the archive's thread look whether its files are still those that it opened, which it does
    /// after every job; no longer than [`SOON`], for it may have much to do.
    pub(crate) async fn look(&self) {
        drop(tokio::time::timeout(SOON, self.write_if_in_use(|_| Ok(()))).await);
    }

    /// Has the archive's thread do a job for which nobody waits.
    fn post(&self, job: impl FnOnce(&mut Archive) -> Result<(), ArchiveError> + Send + 'static) {
        let job = move |archive: Result<&mut Archive, Arc<ArchiveError>>| {
            archive.and_then(|archive| job(archive).map_err(Arc::new)).into()
        };
        if let Err(error) = self.send(Job::Alone(Box::new(job), Instant::now())) {
            tracing::warn!("not noted in the archive: {error}");
        }
    }

    /// The same for what matters only while the archive is in use.
    fn post_if_in_use(&self, job: impl FnOnce(&mut Archive) -> Result<(), ArchiveError> + Send + 'static) {
        if self.is_in_use() {
            self.post(job);
        }
    }

    /// As [`Self::write_if_in_use`], tried again while the archive has too much to do.
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

    /// Waits until the archive itself has all that was appended so far; not for long while another program has it
    /// locked.
    ///
    /// # Errors
    /// It can't take it.
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
        // Any job will do: it is done before the first one.
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

    /// Appends here and now, beside the archive's thread; `None` where that has to do it. Whether the thread is
    /// to be told comes with it.
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

    /// Takes another condition on, and says so in the log unless it is the same.
    fn become_(&self, condition: Condition) {
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
