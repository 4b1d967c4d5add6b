//! The thread that owns the archive.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use herma_archive::{Archive, ArchiveError};
use herma_protocol::{ErrorKind, RpcError};
use tokio::sync::oneshot;

use crate::fail;

/// Jobs that may wait.
const QUEUE: usize = 1024;

type Job = Box<dyn FnOnce(&mut Archive) + Send>;

/// Sends jobs to the archive's thread.
#[derive(Debug)]
pub struct Archivist {
    jobs: Mutex<Option<SyncSender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    state: Result<(), RpcError>,
}

impl Archivist {
    /// Opens the archive. One that can't be opened is reported by every call;
    /// the daemon goes on without it, and the file is left as it is.
    #[must_use]
    pub fn open(path: PathBuf) -> Self {
        // SQLite would make the file readable for others; its log and index take
        // after it.
        if let Err(error) = herma_disk::file::append_to(&path) {
            return Self::broken(error.to_string());
        }
        match Archive::open(&path) {
            Ok(archive) => {
                let (sender, receiver) = sync_channel(QUEUE);
                let thread =
                    std::thread::Builder::new().name("archive".into()).spawn(move || serve(archive, &receiver));
                match thread {
                    Ok(thread) => {
                        Self { jobs: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)), state: Ok(()) }
                    }
                    Err(error) => Self::broken(format!("no thread for the archive: {error}")),
                }
            }
            Err(error) => Self::broken(format!("{}: {error}", path.display())),
        }
    }

    fn broken(words: String) -> Self {
        tracing::error!("the archive is not in use: {words}");
        let error = RpcError::new(ErrorKind::Unavailable, format!("the archive is not in use: {words}"));
        Self { jobs: Mutex::new(None), thread: Mutex::new(None), state: Err(error) }
    }

    /// `ok`, or what is wrong with it.
    #[must_use]
    pub fn state(&self) -> String {
        self.state.as_ref().map_or_else(|error| error.message.clone(), |()| "ok".into())
    }

    /// Lets the archive's thread do something.
    ///
    /// # Errors
    /// An archive that is not in use, a full queue, or what the job says.
    pub async fn call<T, F>(&self, job: F) -> Result<T, RpcError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Archive) -> Result<T, ArchiveError> + Send + 'static,
    {
        self.state.clone()?;
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |archive| {
            // Nobody listens any more when the caller went away.
            drop(answer.send(job(archive)));
        });
        let sent = match &*self.jobs.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(jobs) => jobs.try_send(job),
            None => return Err(RpcError::new(ErrorKind::Unavailable, "the daemon is stopping")),
        };
        match sent {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(fail::busy("the archive")),
            Err(TrySendError::Disconnected(_)) => return Err(fail::internal("the archive")),
        }
        match answered.await {
            Ok(done) => done.map_err(|error| fail::archive(&error)),
            Err(_) => Err(fail::internal("the archive")),
        }
    }

    /// Lets the jobs that wait finish, then closes the file.
    pub fn close(&self) {
        drop(self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
            && thread.join().is_err()
        {
            tracing::error!("the archive's thread panicked");
        }
    }
}

fn serve(mut archive: Archive, jobs: &Receiver<Job>) {
    for job in jobs {
        // The archive itself stays whole: SQLite rolls back a transaction whose
        // guard is dropped.
        if catch_unwind(AssertUnwindSafe(|| job(&mut archive))).is_err() {
            tracing::error!("a job of the archive panicked");
        }
    }
}
