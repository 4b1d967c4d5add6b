//! Gives the writes of one store their revisions. Writes that wait together get them together. The first attempt
//! assumes that the local copy of the store is current. If it was not, or its success is unknown, the next attempt
//! holds the store, reads the new revisions and builds on them. While other hosts write too, every first attempt would
//! fail. So then the store is held at once, and all writes that wait by that time are included.

mod jobs;

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use herma_memory::change::{Applied, Done};
use herma_memory::{Author, Row};
use herma_shared::stores::{Given, StoreKey, Wanted};
use herma_shared::{Database, SharedError};
use tokio::sync::{mpsc, oneshot};

use self::jobs::{Jobs, Next};
pub(super) use self::jobs::{QueuedWrite, WriterJob, new_id};
use super::{Sharing, goes_on};
use crate::data::error::{Error, Outcome};
use crate::owners::store::{Proposed, StoreHandle, Write, Written};

/// The pause before the database is asked again for the result of a change.
const PAUSE: Duration = Duration::from_millis(50);

/// The number of revisions after which the history is shortened.
const PRUNED: u64 = 64;

/// Serves a store until all senders are gone.
pub(super) async fn serve(sharing: Arc<Sharing>, store: StoreHandle, key: StoreKey, jobs: mpsc::Receiver<WriterJob>) {
    let Ok(database) = sharing.database().cloned() else { return };
    let mut writer = Writer { sharing, database, store, key, pruned: 0, newest: 0, is_contended: false };
    let mut jobs = Jobs::new(jobs);
    while let Some(next) = jobs.next().await {
        match next {
            Next::Write(asked) => writer.write(asked, &mut jobs).await,
            Next::Look(hinted) if hinted.is_none_or(|revision| revision > writer.newest) => {
                jobs.looked();
                writer.sync(&mut jobs).await;
            }
            Next::Look(_) => {}
        }
    }
}

struct Writer {
    sharing: Arc<Sharing>,
    database: Arc<Database>,
    store: StoreHandle,
    key: StoreKey,
    /// The revision up to which the history was last shortened.
    pruned: u64,
    /// The newest revision that this writer has seen.
    newest: u64,
    /// Whether other hosts write to the store too, so that an attempt with the local copy would fail.
    is_contended: bool,
}

/// A finished attempt: the results of the writes, and the revisions that are new here.
struct FittedTurn {
    proposed: Proposed,
    rows: Vec<Row>,
}

/// The waiting callers, in the order of their writes.
#[derive(Default)]
struct Waiting {
    ids: Vec<String>,
    answers: Vec<oneshot::Sender<Outcome<Written>>>,
}

impl Waiting {
    /// Adds callers. Skips writes that were given up because of a timeout or a lost client.
    fn join(&mut self, asked: impl IntoIterator<Item = QueuedWrite>) -> Vec<Write> {
        let wanted = asked.into_iter().filter(|one| one.write.token.take()).map(|one| {
            self.ids.push(one.id);
            self.answers.push(one.answer);
            one.write
        });
        wanted.collect()
    }
}

impl Writer {
    async fn write(&mut self, asked: Vec<QueuedWrite>, jobs: &mut Jobs) {
        let is_doubtful = asked.iter().any(|one| one.is_again);
        let mut waiting = Waiting::default();
        let writes = waiting.join(asked);
        let settled = self.settle(writes, &mut waiting, is_doubtful, jobs).await;
        match settled {
            Ok(FittedTurn { proposed, rows }) => {
                // Requests to the store from now on are queued after this.
                let revision = rows.last().map(|row| row.revision);
                let adopting = (!rows.is_empty()).then(|| self.store.adopt(rows));
                for ((_, written, _), answer) in proposed.writes.into_iter().zip(waiting.answers) {
                    drop(answer.send(written));
                }
                if let (Some(adopting), Some(revision)) = (adopting, revision) {
                    self.adopted(adopting.await, revision);
                    self.prune(revision).await;
                }
            }
            Err(error) => {
                for answer in waiting.answers {
                    drop(answer.send(Err(error.clone())));
                }
            }
        }
    }

    /// Adopts new revisions here, and gives revisions to edits of other programs.
    async fn sync(&mut self, jobs: &mut Jobs) {
        if self.store.holds_an_edit().await.unwrap_or(false) {
            return self.write(Vec::new(), jobs).await;
        }
        match self.sharing.pull(&self.database, &self.store, &self.key).await {
            Ok(rows) if rows.is_empty() => {
                if let Ok(view) = self.store.view().await {
                    self.sharing.link.is_same(&self.key.profile, self.key.target, view.revision);
                }
            }
            Ok(rows) => {
                let revision = rows.last().map_or(0, |row| row.revision);
                let adopted = self.store.adopt(rows).await;
                self.adopted(adopted, revision);
            }
            Err(error) => {
                tracing::debug!("{}'s {} is not brought up to date: {error}", self.key.profile, self.key.target)
            }
        }
    }

    /// Returns the birth mark of the store that this host joined.
    fn birth_id(&self) -> String {
        self.sharing.joined.birth_id(&self.key.profile, self.key.target).unwrap_or_default()
    }

    fn adopted(&mut self, adopted: Outcome<()>, revision: u64) {
        match adopted {
            Ok(()) => {
                self.newest = self.newest.max(revision);
                self.sharing.link.is_same(&self.key.profile, self.key.target, revision);
            }
            // The given revisions stay valid, and are adopted at the next look.
            Err(error) => {
                tracing::debug!("{}'s {} does not take what was given: {error}", self.key.profile, self.key.target);
            }
        }
    }

    /// Tries until the writes have their revisions, or it is certain that they have none.
    async fn settle(
        &mut self,
        writes: Vec<Write>,
        waiting: &mut Waiting,
        is_doubtful: bool,
        jobs: &mut Jobs,
    ) -> Outcome<FittedTurn> {
        let here = Author { host: Some(self.sharing.config.host.clone()), ..Author::default() };
        let mut doubtful = is_doubtful;
        let mut proposed = self.store.propose(Vec::new(), writes, here.clone()).await?;
        if !doubtful && !self.is_contended {
            let wanted = wanted(&proposed, &waiting.ids);
            let given = if wanted.is_empty() {
                // There is nothing to give, but the result must still be current.
                match self.sharing.pull(&self.database, &self.store, &self.key).await {
                    Ok(rows) if rows.is_empty() => return Ok(FittedTurn { proposed, rows }),
                    Ok(_) => Ok(Given::Late),
                    Err(Error::Shared(error)) => Err(error),
                    Err(error) => return Err(error),
                }
            } else {
                let born = self.birth_id();
                self.sharing.note_result(self.database.commit(&self.key, (proposed.base, &born), &wanted).await)
            };
            match given {
                Ok(Given::At(time)) => return Ok(FittedTurn { proposed, rows: timed(wanted, time) }),
                Ok(Given::Late) => self.is_contended = true,
                Err(SharedError::Unsettled(_)) => doubtful = true,
                Err(SharedError::Contended(_)) => self.is_contended = true,
                Err(error) => return Err(Error::Shared(error)),
            }
        }
        let until = Instant::now() + self.sharing.config.timeout;
        loop {
            match self.try_held(proposed, waiting, doubtful, &here, jobs).await? {
                Tried::FittedTurn(settled) => return Ok(*settled),
                Tried::Again { last, error, is_doubtful } => {
                    doubtful |= is_doubtful;
                    if Instant::now() >= until {
                        let error = if doubtful { unsettled(&error) } else { error };
                        return Err(Error::Shared(error));
                    }
                    proposed = *last;
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// Holds the store and tries again, based on its new revisions.
    async fn try_held(
        &mut self,
        last: Proposed,
        waiting: &mut Waiting,
        doubtful: bool,
        here: &Author,
        jobs: &mut Jobs,
    ) -> Outcome<Tried> {
        let asks: &[String] = if doubtful { &waiting.ids } else { &[] };
        // Includes the newest known revision, which must be equal in the database.
        let behind = last.known.saturating_sub(1);
        let held = self.database.hold(&self.key, behind, self.sharing.revisions, asks, false).await;
        let mut held = match self.sharing.note_result(held) {
            Ok(held) => held,
            Err(error @ SharedError::Contended(_)) => {
                return Ok(Tried::Again { last: Box::new(last), error, is_doubtful: false });
            }
            Err(error) if error.is_passing() && doubtful => {
                return Ok(Tried::Again { last: Box::new(last), error, is_doubtful: false });
            }
            // The request contained no change that could have been done.
            Err(error) => {
                self.is_contended = false;
                return Err(Error::Shared(error));
            }
        };
        let is_mine = held.born == self.birth_id() && held.revision >= last.known;
        if !is_mine || !goes_on(last.known, &last.entries, &mut held.rows) {
            return Err(Error::Shared(self.sharing.is_another(&self.key)));
        }
        if !held.written.is_empty() {
            // Changes that are given together succeed as a whole.
            let rows = held.rows;
            let proposed = if last.writes.iter().any(|(_, _, row)| row.is_some()) {
                last
            } else {
                Proposed { writes: last.writes.into_iter().map(done_before).collect(), ..last }
            };
            return Ok(Tried::FittedTurn(Box::new(FittedTurn { proposed, rows })));
        }
        let given = held.rows.clone();
        self.is_contended = !given.is_empty();
        let mut writes: Vec<Write> = last.writes.into_iter().map(|(write, _, _)| write).collect();
        if !doubtful {
            writes.extend(waiting.join(jobs.meanwhile(writes.len())));
        }
        let proposed = self.store.propose(given.clone(), writes, here.clone()).await?;
        let wanted = wanted(&proposed, &waiting.ids);
        match self.sharing.note_result(held.commit(&wanted).await) {
            Ok(Given::At(time)) => {
                let rows = given.into_iter().chain(timed(wanted, time)).collect();
                Ok(Tried::FittedTurn(Box::new(FittedTurn { proposed, rows })))
            }
            Ok(Given::Late) => {
                let error = SharedError::Unreachable("another host was faster, again and again".to_owned());
                Ok(Tried::Again { last: Box::new(proposed), error, is_doubtful: true })
            }
            Err(error @ SharedError::Contended(_)) => {
                Ok(Tried::Again { last: Box::new(proposed), error, is_doubtful: false })
            }
            Err(error) if error.is_passing() => Ok(Tried::Again { last: Box::new(proposed), error, is_doubtful: true }),
            Err(error) => Err(Error::Shared(error)),
        }
    }

    /// Shortens the history from time to time.
    async fn prune(&mut self, revision: u64) {
        let keep = u64::try_from(self.sharing.revisions).unwrap_or(u64::MAX);
        if revision < self.pruned + PRUNED || revision <= keep {
            return;
        }
        self.pruned = revision;
        if let Err(error) = self.database.prune(&self.key, revision - keep).await {
            tracing::debug!("the shared history stays long: {error}");
        }
    }
}

enum Tried {
    FittedTurn(Box<FittedTurn>),
    Again { last: Box<Proposed>, error: SharedError, is_doubtful: bool },
}

/// Returns the result of a write that an earlier attempt already did.
fn done_before(tried: (Write, Outcome<Written>, Option<Row>)) -> (Write, Outcome<Written>, Option<Row>) {
    let (write, written, row) = tried;
    let written = written.map(|Written { view, .. }| {
        let applied = Applied { entries: view.entries.to_vec(), done: Done::AlreadyThere, warnings: Vec::new() };
        Written { view, outcome: Ok(applied) }
    });
    (write, written, row)
}

/// Returns the changes that need revisions, oldest first, each with the name of its write.
fn wanted(proposed: &Proposed, ids: &[String]) -> Vec<Wanted> {
    let named = proposed.writes.iter().zip(ids).filter_map(|((_, _, row), id)| Some((id.clone(), row.clone()?)));
    let edit = proposed.edit.clone().map(|row| {
        // The name of an edit by another program depends on its content: the same edit on the same text is only one.
        let host = row.author.host.clone().unwrap_or_default();
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((&row.before, &row.after));
        (format!("{host}-edit-{}-{hash:016x}", row.revision), row)
    });
    edit.into_iter().chain(named).map(|(write_id, row)| Wanted::new(write_id, row)).collect()
}

fn timed(wanted: Vec<Wanted>, time: f64) -> Vec<Row> {
    wanted.into_iter().map(|Wanted { row, .. }| Row { time, ..row }).collect()
}

fn unsettled(error: &SharedError) -> SharedError {
    match error {
        SharedError::Unreachable(words) => SharedError::Unsettled(words.clone()),
        other => other.clone(),
    }
}
