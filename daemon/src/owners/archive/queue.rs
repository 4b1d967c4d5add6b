//! The order in which the archive's thread does the waiting jobs.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use super::Job;
use super::transcripts::Append;

/// How long the queue must be idle after an append before messages are indexed.
pub(super) const QUIET: Duration = Duration::from_millis(20);

/// The weight of unindexed messages, by [`Append::weight`], at which indexing starts even if appends continue: 4,000
/// small messages, or 8 MiB. A search reads unindexed messages directly; with twice as many it waits for the index.
pub(super) const MOST_WAITING: usize = 4_000;

/// The largest number of appends that are synced together, and the size in bytes at which no more are added.
const MOST_TOGETHER: usize = 64;

/// See [`MOST_TOGETHER`].
const MOST_BYTES: usize = 4 << 20;

/// The waiting jobs.
pub(super) struct Queue<'a> {
    jobs: &'a Receiver<Job>,
    /// A job that was taken out of the channel too early.
    next: Option<Job>,
    /// The weight of the appends since the index was last complete, by [`Append::weight`].
    pub(super) waiting: usize,
    pub(super) last: LastWork,
}

/// The kind of the last work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastWork {
    /// Indexing of messages.
    Index,
    /// Appending of messages.
    Append,
    /// Another job.
    Alone,
}

impl<'a> Queue<'a> {
    pub(super) const fn of(jobs: &'a Receiver<Job>) -> Self {
        Self { jobs, next: None, waiting: 0, last: LastWork::Index }
    }

    /// Returns the next job; `None` if messages should be indexed now. `behind` says whether some are unindexed. A
    /// client that appended usually appends again soon, and would wait for a commit of the index. So indexing begins
    /// after an idle period, or if many messages wait. Then it gets every other turn until the index is complete.
    ///
    /// # Errors
    /// All senders are gone.
    pub(super) fn next(&mut self, behind: bool) -> Result<Option<Job>, Closed> {
        if let Some(job) = self.next.take() {
            return Ok(Some(self.taken(job)));
        }
        let job = match self.last {
            _ if !behind => self.jobs.recv().map_err(|_| Closed).map(Some),
            LastWork::Append if self.waiting >= MOST_WAITING => Ok(None),
            LastWork::Append => match self.jobs.recv_timeout(QUIET) {
                Ok(job) => Ok(Some(job)),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => Err(Closed),
            },
            LastWork::Index | LastWork::Alone => match self.jobs.try_recv() {
                Ok(job) => Ok(Some(job)),
                Err(TryRecvError::Empty) => Ok(None),
                Err(TryRecvError::Disconnected) => Err(Closed),
            },
        }?;
        if job.is_none() {
            self.last = LastWork::Index;
        }
        Ok(job.map(|job| self.taken(job)))
    }

    fn taken(&mut self, job: Job) -> Job {
        self.last = match &job {
            Job::Alone(..) => LastWork::Alone,
            Job::Append(append) => {
                self.waiting = self.waiting.saturating_add(append.weight());
                LastWork::Append
            }
            Job::Appended => LastWork::Append,
        };
        job
    }

    /// Notes that messages were indexed. `left` says whether some are still unindexed.
    pub(super) fn indexed(&mut self, left: bool) {
        if !left {
            self.waiting = 0;
        }
    }

    /// Returns an append together with the appends that directly follow it in the queue.
    pub(super) fn drain_batch(&mut self, first: Append) -> Vec<Append> {
        let mut bytes = first.bytes();
        let mut appends = vec![first];
        while appends.len() < MOST_TOGETHER && bytes < MOST_BYTES {
            match self.jobs.try_recv() {
                Ok(Job::Append(append)) => {
                    bytes += append.bytes();
                    self.waiting = self.waiting.saturating_add(append.weight());
                    appends.push(append);
                }
                Ok(other) => {
                    self.next = Some(other);
                    break;
                }
                Err(_) => break,
            }
        }
        appends
    }
}

/// All senders are gone.
pub(super) struct Closed;
