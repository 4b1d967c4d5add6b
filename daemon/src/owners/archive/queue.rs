//! In which order the thread of the archive does what waits.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use super::Job;
use super::transcripts::Append;

/// How long nobody may ask for anything after an append before messages are put into the text index.
pub(super) const QUIET: Duration = Duration::from_millis(20);

/// Appended messages that wait for that, by [`Append::weight`], from which on it is done however soon the next append
/// comes: 4,000 small ones, or 8 MiB. A search reads what waits; for twice as many messages it waits for the index.
pub(super) const MOST_WAITING: usize = 4_000;

/// Appends that are synced together at most, and bytes of their messages from which no more are added.
const MOST_TOGETHER: usize = 64;

/// See [`MOST_TOGETHER`].
const MOST_BYTES: usize = 4 << 20;

/// The jobs that wait.
pub(super) struct Queue<'a> {
    jobs: &'a Receiver<Job>,
    /// One that was taken out of turn.
    next: Option<Job>,
    /// What was appended since the index had all, by [`Append::weight`].
    pub(super) waiting: usize,
    pub(super) last: Last,
}

/// What was done last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// Messages were put into the index.
    Index,
    /// Messages were appended.
    Append,
    /// Something else.
    Alone,
}

impl<'a> Queue<'a> {
    pub(super) const fn of(jobs: &'a Receiver<Job>) -> Self {
        Self { jobs, next: None, waiting: 0, last: Last::Index }
    }

    /// The next job; none where messages should be indexed now, if some wait for that. Who appends soon
    /// appends again, and would wait for a commit of the index: so it is not begun before nobody asked
    /// for a while, or many wait; then it has every other turn until it has all.
    ///
    /// # Errors
    /// Nobody will ask any more.
    pub(super) fn next(&mut self, behind: bool) -> Result<Option<Job>, Closed> {
        if let Some(job) = self.next.take() {
            return Ok(Some(self.taken(job)));
        }
        let job = match self.last {
            _ if !behind => self.jobs.recv().map_err(|_| Closed).map(Some),
            Last::Append if self.waiting >= MOST_WAITING => Ok(None),
            Last::Append => match self.jobs.recv_timeout(QUIET) {
                Ok(job) => Ok(Some(job)),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => Err(Closed),
            },
            Last::Index | Last::Alone => match self.jobs.try_recv() {
                Ok(job) => Ok(Some(job)),
                Err(TryRecvError::Empty) => Ok(None),
                Err(TryRecvError::Disconnected) => Err(Closed),
            },
        }?;
        if job.is_none() {
            self.last = Last::Index;
        }
        Ok(job.map(|job| self.taken(job)))
    }

    fn taken(&mut self, job: Job) -> Job {
        self.last = match &job {
            Job::Alone(..) => Last::Alone,
            Job::Append(append) => {
                self.waiting = self.waiting.saturating_add(append.weight());
                Last::Append
            }
            Job::Appended => Last::Append,
        };
        job
    }

    /// Messages were put into the index; whether some are left.
    pub(super) fn indexed(&mut self, left: bool) {
        if !left {
            self.waiting = 0;
        }
    }

    /// An append with those that wait right behind it.
    pub(super) fn with_those_behind(&mut self, first: Append) -> Vec<Append> {
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

/// Nobody will ask any more.
pub(super) struct Closed;
