//! The thread that owns the archive, and the connection beside it that only reads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

use herma_archive::{Archive, ArchiveError, Reader};
use herma_disk::aside;
use tokio::sync::{Semaphore, oneshot};

use crate::data::error::{Error, Outcome};

/// Jobs that may wait.
const QUEUE: usize = 1024;

/// Messages that are put into the text index at one time, while nobody waits.
const SLICE: usize = 200;

/// Connections that read at one time.
const READERS: usize = 2;

/// How often something that must be noted is tried, and the pause between.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(50);

/// How often it is looked whether those who read have finished, and the pause between.
const GOODBYES: usize = 200;
const GOODBYE: Duration = Duration::from_millis(10);

type Job = Box<dyn FnOnce(&mut Archive) -> Result<(), Arc<ArchiveError>> + Send>;

/// What is done with an archive that took the place of a damaged one.
type Refill = Box<dyn Fn(&mut Archive) + Send>;

/// Sends jobs to the archive's thread.
#[derive(Debug)]
pub(crate) struct ArchiveThread {
    jobs: Mutex<Option<SyncSender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    shared: Arc<Shared>,
    /// The daemon before this one was killed.
    was_killed: bool,
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
    /// Who reads waits here, not on a thread that others need.
    reading: Arc<Semaphore>,
}

/// How far the archive can be used.
#[derive(Debug, Clone)]
enum Condition {
    /// It is in use. After damage: what happened.
    InUse(Option<String>),
    /// It can be read only.
    ReadOnly(String),
    /// It can't be used.
    Broken(String),
}

impl ArchiveThread {
    /// Opens the archive. A damaged one is set aside, never deleted, and a new one
    /// begun; one that a newer herma wrote is only read; without one that can be
    /// opened the daemon goes on, and every call says so.
    #[must_use]
    pub(crate) fn open(path: PathBuf, refill: impl Fn(&mut Archive) + Send + 'static) -> Self {
        let was_killed = has_log(&path);
        let (archive, condition) = begin(&path);
        let shared = Arc::new(Shared {
            path,
            condition: RwLock::new(condition),
            epoch: AtomicU64::new(0),
            readers: Mutex::default(),
            reading: Arc::new(Semaphore::new(READERS)),
        });
        let mut archive_thread = Self { jobs: Mutex::default(), thread: Mutex::default(), shared, was_killed };
        let Some(archive) = archive else { return archive_thread };
        let (sender, receiver) = sync_channel(QUEUE);
        let shared = Arc::clone(&archive_thread.shared);
        let work = move || serve(archive, &receiver, &shared, &(Box::new(refill) as Refill));
        match std::thread::Builder::new().name("archive".into()).spawn(work) {
            Ok(thread) => {
                archive_thread.jobs = Mutex::new(Some(sender));
                archive_thread.thread = Mutex::new(Some(thread));
            }
            Err(error) => {
                archive_thread.shared.become_(Condition::Broken(format!("no thread for the archive: {error}")))
            }
        }
        archive_thread
    }

    /// `ok`, or what is wrong with it.
    #[must_use]
    pub(crate) fn state(&self) -> String {
        match self.shared.condition() {
            Condition::InUse(None) => "ok".into(),
            Condition::InUse(Some(words)) => format!("ok; {words}"),
            Condition::ReadOnly(words) => format!("read only: {words}"),
            Condition::Broken(words) => format!("not in use: {words}"),
        }
    }

    /// Whether anything can be kept in it.
    #[must_use]
    pub(crate) fn is_in_use(&self) -> bool {
        matches!(self.shared.condition(), Condition::InUse(_))
    }

    /// Whether the daemon before this one ended without closing it.
    #[must_use]
    pub(crate) const fn was_killed(&self) -> bool {
        self.was_killed
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

    /// Lets the archive's thread do something.
    ///
    /// # Errors
    /// An archive that is not in use, a full queue, or what the job says.
    pub(crate) async fn call<T, F>(&self, job: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Archive) -> Result<T, ArchiveError> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        self.send(Box::new(move |archive| {
            let (done, failure) = match job(archive) {
                Ok(done) => (Ok(done), Ok(())),
                Err(error) => {
                    let error = Arc::new(error);
                    (Err(Error::from(Arc::clone(&error))), Err(error))
                }
            };
            // Nobody listens any more when the caller went away.
            drop(answer.send(done));
            failure
        }))?;
        answered.await.unwrap_or_else(|_| Err(Error::internal("the archive")))
    }

    /// The same for what is in memory too: without an archive nothing is done.
    ///
    /// # Errors
    /// As [`ArchiveThread::call`], but for an archive that is not in use.
    pub(crate) async fn note<F>(&self, job: F) -> Outcome<()>
    where
        F: FnOnce(&mut Archive) -> Result<(), ArchiveError> + Send + 'static,
    {
        if self.is_in_use() { self.call(job).await } else { Ok(()) }
    }

    /// Lets the archive's thread do something for which nobody waits.
    pub(crate) fn tell(&self, job: impl FnOnce(&mut Archive) -> Result<(), ArchiveError> + Send + 'static) {
        if let Err(error) = self.send(Box::new(move |archive| job(archive).map_err(Arc::new))) {
            tracing::warn!("not noted in the archive: {error}");
        }
    }

    /// The same for what matters only while the archive is in use.
    pub(crate) fn tell_if_in_use(&self, job: impl FnOnce(&mut Archive) -> Result<(), ArchiveError> + Send + 'static) {
        if self.is_in_use() {
            self.tell(job);
        }
    }

    /// The same, tried again while the archive has too much to do.
    pub(crate) async fn insist<F>(&self, job: F)
    where
        F: Fn(&mut Archive) -> Result<(), ArchiveError> + Clone + Send + 'static,
    {
        for _ in 0..TRIES {
            match self.note(job.clone()).await {
                Err(Error::Busy(_)) => tokio::time::sleep(PAUSE).await,
                Err(error) => return tracing::warn!("not noted in the archive: {error}"),
                Ok(()) => return,
            }
        }
        tracing::warn!("not noted in the archive, which has too much to do");
    }

    fn send(&self, job: Job) -> Outcome<()> {
        if !self.is_in_use() {
            return Err(Error::Unavailable(format!("the archive is {}", self.state())));
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

    /// Reads from the archive on a thread of its own, beside whatever is written.
    ///
    /// # Errors
    /// An archive that can't be read, or what the job says.
    pub(crate) async fn read<T, F>(&self, job: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: FnOnce(&Reader) -> Result<T, ArchiveError> + Send + 'static,
    {
        if let Condition::Broken(_) = self.shared.condition() {
            return Err(Error::Unavailable(format!("the archive is {}", self.state())));
        }
        let turn = Arc::clone(&self.shared.reading).acquire_owned().await.map_err(|_| stopping())?;
        let shared = Arc::clone(&self.shared);
        let read = move || {
            let done = shared.read(job);
            drop(turn);
            done
        };
        match tokio::task::spawn_blocking(read).await {
            Ok((_, Ok(done))) => Ok(done),
            Ok((epoch, Err(error))) => {
                let error = Arc::new(error);
                let words = Error::from(Arc::clone(&error));
                if error.is_damaged() {
                    // Its own thread sets it aside, unless another report was faster.
                    let shared = Arc::clone(&self.shared);
                    let report: Job = Box::new(move |_| if shared.epoch() == epoch { Err(error) } else { Ok(()) });
                    if let Err(error) = self.send(report) {
                        tracing::warn!("the damage of the archive is not reported: {error}");
                    }
                }
                Err(words)
            }
            Err(_) => Err(Error::internal("the archive")),
        }
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
}

impl Shared {
    fn condition(&self) -> Condition {
        self.condition.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Closes the connections that read, as far as that is done soon: the writer, as the
    /// last one, puts away the log, by which the next daemon would take this one for
    /// killed.
    fn end_reading(&self) {
        self.reading.close();
        for _ in 0..GOODBYES {
            if self.reading.available_permits() == READERS {
                break;
            }
            std::thread::sleep(GOODBYE);
        }
        self.readers().clear();
    }

    fn readers(&self) -> MutexGuard<'_, Vec<(u64, Reader)>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads with a connection that nobody uses, or a new one.
    fn read<T>(&self, job: impl FnOnce(&Reader) -> Result<T, ArchiveError>) -> (u64, Result<T, ArchiveError>) {
        let free = self.readers().pop();
        let (epoch, reader) = match free {
            Some(free) => free,
            None => {
                let epoch = self.epoch();
                let opened = if self.is_newer() { Archive::open_newer(&self.path) } else { Reader::open(&self.path) };
                match opened {
                    Ok(reader) => (epoch, reader),
                    Err(error) => return (epoch, Err(error)),
                }
            }
        };
        let done = job(&reader);
        let mut readers = self.readers();
        if epoch == self.epoch() {
            readers.push((epoch, reader));
        }
        (epoch, done)
    }

    fn is_newer(&self) -> bool {
        matches!(self.condition(), Condition::ReadOnly(_))
    }

    fn become_(&self, condition: Condition) {
        *self.condition.write().unwrap_or_else(PoisonError::into_inner) = condition;
    }
}

/// The archive of a home, and how far it can be used.
fn begin(path: &Path) -> (Option<Archive>, Condition) {
    // SQLite would make the file readable for others; its log and index take after
    // it.
    if let Err(error) = herma_disk::file::append_to(path) {
        return (None, broken(error.to_string()));
    }
    match Archive::open(path) {
        Ok(archive) => (Some(archive), Condition::InUse(None)),
        Err(error) if error.is_damaged() => begin_anew(path, &error),
        Err(error @ ArchiveError::Newer { .. }) => {
            tracing::error!("the archive is only read: {error}");
            (None, Condition::ReadOnly(error.to_string()))
        }
        Err(error) => (None, broken(format!("{}: {error}", path.display()))),
    }
}

/// Sets a damaged archive aside and begins a new one.
fn begin_anew(path: &Path, damage: &ArchiveError) -> (Option<Archive>, Condition) {
    let kept = match aside::set_aside(&[path.to_owned(), beside(path, "-wal"), beside(path, "-shm")]) {
        Ok(kept) => kept,
        Err(error) => return (None, broken(format!("{damage}; it could not be set aside: {error}"))),
    };
    let words = format!("a damaged archive was set aside as {}: {damage}", kept.display());
    tracing::error!("{words}");
    let opened = herma_disk::file::append_to(path).map_err(|error| error.to_string());
    match opened.and_then(|_| Archive::open(path).map_err(|error| error.to_string())) {
        Ok(archive) => (Some(archive), Condition::InUse(Some(words))),
        Err(error) => (None, broken(format!("{words}; no new one could be made: {error}"))),
    }
}

fn stopping() -> Error {
    Error::Unavailable("the daemon is stopping".into())
}

fn broken(words: String) -> Condition {
    tracing::error!("the archive is not in use: {words}");
    Condition::Broken(words)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether SQLite's log is there, which a closed database has not. An empty one
/// counts: a removal empties the log, and whoever only reads writes nothing to it.
fn has_log(path: &Path) -> bool {
    beside(path, "-wal").exists()
}

/// Does the jobs, and while there are none puts messages into the text index.
fn serve(archive: Archive, jobs: &Receiver<Job>, shared: &Shared, refill: &Refill) {
    let mut archive = archive;
    let mut behind = true;
    loop {
        let job = if behind {
            match jobs.try_recv() {
                Ok(job) => Some(job),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => return,
            }
        } else {
            match jobs.recv() {
                Ok(job) => Some(job),
                Err(_) => return,
            }
        };
        // The archive itself stays whole: SQLite rolls back a transaction whose
        // guard is dropped.
        let done = catch_unwind(AssertUnwindSafe(|| match job {
            Some(job) => job(&mut archive).map(|()| true),
            None => archive.index_pending(SLICE).map(|left| left > 0).map_err(Arc::new),
        }));
        match done {
            Ok(Ok(is_behind)) => behind = is_behind,
            Ok(Err(error)) if error.is_damaged() => match renewed(archive, shared, &error, refill) {
                Some(anew) => archive = anew,
                None => return,
            },
            Ok(Err(error)) => {
                behind = false;
                tracing::warn!("the archive: {error}");
            }
            Err(_) => {
                behind = false;
                tracing::error!("a job of the archive panicked");
            }
        }
    }
}

/// What takes the place of an archive that turned out to be damaged.
fn renewed(archive: Archive, shared: &Shared, damage: &ArchiveError, refill: &Refill) -> Option<Archive> {
    let mut readers = shared.readers();
    readers.clear();
    drop(archive);
    let (anew, condition) = begin_anew(&shared.path, damage);
    shared.become_(condition);
    shared.epoch.fetch_add(1, Ordering::AcqRel);
    drop(readers);
    let mut anew = anew?;
    refill(&mut anew);
    Some(anew)
}
