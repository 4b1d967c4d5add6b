//! The jobs of a store's writer, and their order.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::data::config::SharedConfig;
use crate::data::error::Outcome;
use crate::owners::store::{Write, Written};

/// The largest number of writes that get their revisions together.
const GROUP: usize = 256;

/// The shortest time between two looks at other hosts' writes. A single change is seen at once; of a hundred in a row,
/// not each causes a request.
const CALM: Duration = Duration::from_millis(5);

/// A job of a store's writer.
#[derive(Debug)]
pub(in crate::owners::sharing) enum WriterJob {
    /// Gives a write a revision.
    Write(Box<QueuedWrite>),
    /// Adopts new revisions here, and gives revisions to edits of other programs. With a revision, only if that is
    /// newer than the known one.
    Sync(Option<u64>),
}

/// A write that waits.
#[derive(Debug)]
pub(in crate::owners::sharing) struct QueuedWrite {
    pub(super) write: Write,
    /// The permanent name of the write.
    pub(super) id: String,
    /// Whether it may have been done before.
    pub(super) is_again: bool,
    pub(super) answer: oneshot::Sender<Outcome<Written>>,
}

impl QueuedWrite {
    pub(in crate::owners::sharing) fn new(
        write: Write,
        id: Option<String>,
        config: &SharedConfig,
        answer: oneshot::Sender<Outcome<Written>>,
    ) -> Self {
        let is_again = id.is_some();
        Self { write, id: id.unwrap_or_else(|| new_id(config)), is_again, answer }
    }
}

/// Returns a name that no write had before.
pub(in crate::owners::sharing) fn new_id(config: &SharedConfig) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let random = RandomState::new().hash_one(since);
    format!("{}-{since:x}-{random:016x}", config.host)
}

/// The next work.
#[derive(Debug)]
pub(super) enum Next {
    /// These writes get their revisions together. A write that may have been done before is alone.
    Write(Vec<QueuedWrite>),
    /// Looks for other hosts' writes, up to at least this revision.
    Look(Option<u64>),
}

/// The queue of jobs, with those that were taken from it and are not done yet.
#[derive(Debug)]
pub(super) struct Jobs {
    queue: mpsc::Receiver<WriterJob>,
    /// A write that must be done alone.
    alone: Option<Box<QueuedWrite>>,
    /// Whether a look is wanted, and for which revision.
    hinted: Option<Option<u64>>,
    /// The time of the last look.
    looked: Option<Instant>,
}

impl Jobs {
    pub(super) const fn new(queue: mpsc::Receiver<WriterJob>) -> Self {
        Self { queue, alone: None, hinted: None, looked: None }
    }

    /// Waits for the next work; `None` if all senders are gone.
    pub(super) async fn next(&mut self) -> Option<Next> {
        loop {
            let asked = self.meanwhile(0);
            if !asked.is_empty() {
                return Some(Next::Write(asked));
            }
            if let Some(alone) = self.alone.take() {
                return Some(Next::Write(vec![*alone]));
            }
            let due = self.hinted.map(|_| self.looked.map_or_else(Instant::now, |last| last + CALM));
            let job = match due {
                None => self.queue.recv().await,
                Some(due) => match timeout_at(due, self.queue.recv()).await {
                    Ok(job) => job,
                    Err(_) => return self.hinted.take().map(Next::Look),
                },
            };
            match job? {
                WriterJob::Write(one) if one.is_again => self.alone = Some(one),
                WriterJob::Write(one) => {
                    let mut asked = vec![*one];
                    asked.extend(self.meanwhile(1));
                    return Some(Next::Write(asked));
                }
                WriterJob::Sync(hinted) => self.hint(hinted),
            }
        }
    }

    /// Returns waiting writes that can join this number of others.
    pub(super) fn meanwhile(&mut self, others: usize) -> Vec<QueuedWrite> {
        let mut asked = Vec::new();
        while self.alone.is_none() && others + asked.len() < GROUP {
            match self.queue.try_recv() {
                Ok(WriterJob::Write(one)) if one.is_again => self.alone = Some(one),
                Ok(WriterJob::Write(one)) => asked.push(*one),
                Ok(WriterJob::Sync(hinted)) => self.hint(hinted),
                Err(_) => break,
            }
        }
        asked
    }

    /// Notes that the writer looks now.
    pub(super) fn looked(&mut self) {
        self.looked = Some(Instant::now());
    }

    fn hint(&mut self, hinted: Option<u64>) {
        self.hinted = Some(match (self.hinted, hinted) {
            (Some(None), _) | (_, None) => None,
            (before, Some(revision)) => Some(before.flatten().map_or(revision, |before| before.max(revision))),
        });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use herma_memory::change::{Change, Changes, Drift};
    use herma_memory::{Author, Edit};

    use super::*;
    use crate::owners::commit_token::CommitToken;

    /// A write with this name. If the name begins with `again`, it may have been done before.
    fn write(name: &str) -> WriterJob {
        let changes = Changes::Single(Change::Add { content: name.to_owned() });
        let write = Write {
            edit: Edit::Change { changes, drift: Drift::Refused },
            author: Author::default(),
            expected_revision: None,
            token: CommitToken::default(),
        };
        let (answer, _) = oneshot::channel();
        let id = name.starts_with("again").then(|| name.to_owned());
        let asked = QueuedWrite::new(write, id, &SharedConfig::default(), answer);
        WriterJob::Write(Box::new(asked))
    }

    fn names(asked: Vec<QueuedWrite>) -> Vec<String> {
        let name = |one: QueuedWrite| match one.write.edit {
            Edit::Change { changes: Changes::Single(Change::Add { content }), .. } => content,
            other => panic!("{other:?}"),
        };
        asked.into_iter().map(name).collect()
    }

    /// Returns the work in its order, until the queue is empty and closed.
    async fn done(jobs: Vec<WriterJob>) -> Vec<String> {
        let (sender, queue) = mpsc::channel(1024);
        for job in jobs {
            sender.send(job).await.unwrap();
        }
        let (mut jobs, mut done) = (Jobs::new(queue), Vec::new());
        drop(sender);
        while let Some(next) = jobs.next().await {
            done.push(match next {
                Next::Write(asked) => names(asked).join("+"),
                Next::Look(hinted) => format!("{hinted:?}"),
            });
        }
        done
    }

    #[tokio::test]
    async fn what_waits_goes_together_and_what_is_tried_again_by_itself() {
        let of = |names: &[&str]| names.iter().map(|name| write(name)).collect::<Vec<_>>();
        assert_eq!(done(of(&["a", "b", "c"])).await, ["a+b+c"]);
        assert_eq!(done(of(&["a", "again b", "c", "d"])).await, ["a", "again b", "c+d"]);
        assert_eq!(done(of(&["again a", "again b", "c"])).await, ["again a", "again b", "c"]);
        let many: Vec<WriterJob> = (0..GROUP + 5).map(|at| write(&at.to_string())).collect();
        let sizes: Vec<usize> = done(many).await.iter().map(|names| names.split('+').count()).collect();
        assert_eq!(sizes, [GROUP, 5]);
    }

    #[tokio::test]
    async fn more_goes_along_up_to_what_has_to_go_alone() {
        let (sender, queue) = mpsc::channel(8);
        let mut jobs = Jobs::new(queue);
        for name in ["a", "again b", "c"] {
            sender.send(write(name)).await.unwrap();
        }
        assert_eq!(names(jobs.meanwhile(GROUP)), [""; 0], "there is no room");
        assert_eq!(names(jobs.meanwhile(1)), ["a"]);
        assert_eq!(names(jobs.meanwhile(1)), [""; 0], "the next one goes alone");
        for expected in ["again b", "c"] {
            let Some(Next::Write(asked)) = jobs.next().await else { panic!("{expected}") };
            assert_eq!(names(asked), [expected]);
        }
    }

    #[tokio::test]
    async fn hints_are_one_and_one_look_has_a_rest_behind_it() {
        for (hints, wanted) in
            [(&[Some(3), Some(5), Some(4)][..], Some(5)), (&[Some(3), None, Some(9)], None), (&[None, None], None)]
        {
            let (sender, queue) = mpsc::channel(8);
            let mut jobs = Jobs::new(queue);
            for hinted in hints {
                sender.send(WriterJob::Sync(*hinted)).await.unwrap();
            }
            let Some(Next::Look(hinted)) = jobs.next().await else { panic!("{hints:?}") };
            assert_eq!(hinted, wanted, "{hints:?}");
            let looked = Instant::now();
            jobs.looked();
            sender.send(WriterJob::Sync(Some(10))).await.unwrap();
            sender.send(write("a")).await.unwrap();
            // Writes do not wait for the pause between two looks.
            assert!(matches!(jobs.next().await, Some(Next::Write(_))));
            assert!(matches!(jobs.next().await, Some(Next::Look(Some(10)))));
            assert!(looked.elapsed() >= CALM);
        }
    }
}
