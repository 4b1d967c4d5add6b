//! Reads of the archive, through their own connections, in parallel to the thread that writes.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use herma_archive::{Archive, ArchiveError, Reader};

use super::{ArchiveHandle, Condition, Job, Shared, stopping};
use crate::data::error::{Error, Outcome};
use crate::owners::blocking::on_thread;
use crate::owners::slot::slot;

/// The number of connections that read at the same time: one more than there can be searches, which may take long.
pub(super) const READERS: usize = 4;

/// How often shutdown checks whether the readers have finished, and the pause between two checks.
const GOODBYES: usize = 200;
const GOODBYE: Duration = Duration::from_millis(10);

/// A read with a connection. Its result goes to a slot.
type ReadJob = Box<dyn FnOnce(&Reader) -> Result<(), ArchiveError> + Send>;

impl ArchiveHandle {
    /// Reads from the archive on its own thread, in parallel to any write.
    pub(super) async fn read<T, F>(&self, job: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: FnOnce(&Reader) -> Result<T, ArchiveError> + Send + 'static,
    {
        let (filler, done) = slot();
        self.run_reading(Box::new(move |reader| job(reader).map(|value| filler.fill(value)))).await?;
        done.take().ok_or_else(|| Error::internal("the archive"))
    }

    async fn run_reading(&self, job: ReadJob) -> Outcome<()> {
        if let Err(error) = self.take_over().await {
            tracing::debug!("the archive is read without what was appended last: {error}");
        }
        if let Condition::Broken(_) | Condition::Unreadable(_) = self.shared.condition() {
            return Err(self.unavailable());
        }
        let turn = Arc::clone(&self.shared.reading).acquire_owned().await.map_err(|_| stopping())?;
        let shared = Arc::clone(&self.shared);
        let read = move || {
            let done = shared.read(job);
            drop(turn);
            done
        };
        match on_thread(read).await {
            Some((_, Ok(()))) => Ok(()),
            Some((epoch, Err(error))) => {
                let error = Arc::new(error);
                if error.is_damaged() {
                    self.report_damage(epoch, Arc::clone(&error));
                    // The caller may ask again at once, and must then find the new archive.
                    self.look().await;
                }
                Err(error.into())
            }
            None => Err(Error::internal("the archive")),
        }
    }

    /// Makes the archive's thread set a damaged file aside, unless another report already did.
    fn report_damage(&self, epoch: u64, error: Arc<ArchiveError>) {
        let shared = Arc::clone(&self.shared);
        let report =
            move |_: Result<&mut Archive, _>| if shared.epoch() == epoch { Err(error).into() } else { Ok(()).into() };
        if let Err(error) = self.send(Job::Alone(Box::new(report), Instant::now())) {
            tracing::warn!("the damage of the archive is not reported: {error}");
        }
    }
}

impl Shared {
    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Closes the read connections, after a short wait for those in use. The writer must close last, because then
    /// SQLite removes its log. If the log remained, the next daemon would assume that this one was killed.
    pub(super) fn end_reading(&self) {
        self.reading.close();
        for _ in 0..GOODBYES {
            if self.reading.available_permits() == READERS {
                break;
            }
            std::thread::sleep(GOODBYE);
        }
        self.readers().clear();
    }

    pub(super) fn readers(&self) -> MutexGuard<'_, Vec<(u64, Reader)>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads with an idle connection, or a new one.
    fn read(&self, job: ReadJob) -> (u64, Result<(), ArchiveError>) {
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

    /// Switches the readers to another file: connections to the old one are not used again.
    pub(super) fn begin_epoch(&self) {
        let mut readers = self.readers();
        readers.clear();
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }
}
