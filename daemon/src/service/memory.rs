//! The memories: conditional writes, writes that wait for approval, and the history.

mod approvals;
mod queue;
mod refusals;
mod shared;
mod staged;

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use herma_guard::{Finding, Policy};
use herma_memory::change::{Applied, Changes, Drift};
use herma_memory::{Author, Edit, LogQuery, Refusal, Target, View};
use herma_protocol::limits;

pub(crate) use self::approvals::{Chosen, Decided};
use self::queue::Queues;
use self::refusals::{RefusalCounter, Writer};
pub(crate) use self::shared::{JoinReport, SharedStore, SharedView};
use self::staged::Staged;
use super::caller::Caller;
use crate::data::error::{Error, Outcome};
use crate::data::event::{Event, RefusedWrite};
use crate::data::numbers::to_u64;
use crate::data::profiles::Profiles;
use crate::owners::events::Events;
use crate::owners::sharing::Sharing;
use crate::owners::store::{Log, Write, Written};
use crate::owners::stores::Stores;

/// The memories of all profiles.
#[derive(Debug)]
pub(crate) struct MemoryService {
    stores: Arc<Stores>,
    profiles: Profiles,
    policy: Arc<Policy>,
    /// Whether writes wait for a person's approval.
    asks_first: bool,
    staged: Arc<Staged>,
    refusals: RefusalCounter,
    sharing: Arc<Sharing>,
    queues: Queues,
    events: Events,
}

/// A requested change, and its conditions.
#[derive(Debug)]
pub(crate) struct WriteRequest {
    /// The store.
    pub target: Target,
    /// What to change.
    pub changes: Changes,
    /// Whether a file that another program has extended may be changed.
    pub drift: Drift,
    /// The revision that the caller saw.
    pub expected_revision: Option<u64>,
    /// The author of the change.
    pub author: Author,
}

/// The result of a write.
#[derive(Debug)]
pub(crate) enum WriteOutcome {
    /// The change is on the disk.
    Done {
        /// The store after it.
        view: Box<View>,
        /// The change that was made.
        applied: Box<Applied>,
        /// The hosts that have the change.
        reach: Reach,
    },
    /// The write is kept here until the shared database is back, and is judged then.
    Queued {
        /// The id of the write.
        id: String,
        /// The store, which is unchanged.
        target: Target,
        /// The guard's findings in the text.
        findings: Vec<Finding>,
        /// Why it was not done.
        why: String,
    },
    /// The write waits for a person's approval.
    Staged {
        /// The id of the write.
        id: String,
        /// The store, which is unchanged.
        target: Target,
        /// The guard's findings in the text.
        findings: Vec<Finding>,
    },
    /// The write breaks a rule of the store.
    Refused {
        /// The broken rule.
        refusal: Box<Refusal>,
        /// The store, if it was read.
        view: Option<Box<View>>,
    },
}

/// The hosts that have a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Only this host: its store is not shared.
    Alone,
    /// All hosts that share the store.
    Shared,
    /// Only this host: the entries never leave it.
    HostBound,
}

/// The report for a writer.
#[derive(Debug)]
pub(crate) struct WriteReport {
    /// The result of the write.
    pub outcome: WriteOutcome,
    /// Whether it was refused too often in a row, so that the writer should stop trying.
    pub is_final: bool,
    /// The number of the profile's writes that wait for approval; `None` if none does.
    pub pending: Option<u64>,
}

impl WriteOutcome {
    fn of(written: Written, reach: Reach) -> Self {
        let Written { view, outcome } = written;
        match outcome {
            Ok(applied) => Self::Done { view: Box::new(view), applied: Box::new(applied), reach },
            Err(refusal) => Self::refused(refusal, Some(view)),
        }
    }

    fn refused(refusal: Refusal, view: Option<View>) -> Self {
        Self::Refused { refusal: Box::new(refusal), view: view.map(Box::new) }
    }

    const fn is_success(&self) -> bool {
        !matches!(self, Self::Refused { .. })
    }
}

impl MemoryService {
    /// Creates the service for these stores. With `asks_first`, writes wait for approval.
    pub(crate) fn new(
        stores: Arc<Stores>,
        profiles: Profiles,
        policy: Arc<Policy>,
        asks_first: bool,
        sharing: Arc<Sharing>,
        events: Events,
        home: &Path,
    ) -> Self {
        let (staged, refusals, queues) = (Arc::default(), RefusalCounter::default(), Queues::of(home));
        Self { stores, profiles, policy, asks_first, staged, refusals, sharing, queues, events }
    }

    /// Does a write or, if the configuration requires approval, stages it for a person.
    pub(crate) async fn submit(&self, caller: &Caller, request: WriteRequest) -> Outcome<WriteReport> {
        check_length(&request.changes)?;
        let (author, target) = (request.author.clone(), Some(request.target));
        let outcome = if self.asks_first {
            self.stage(caller, request).await?
        } else {
            let edit = Edit::Change { changes: request.changes, drift: request.drift };
            self.write(caller, request.target, edit, request.expected_revision, request.author).await?
        };
        Ok(self.counted(caller, author, target, outcome))
    }

    /// Counts a call that could not be read as a refused write.
    pub(crate) fn refuse(&self, caller: &Caller, author: Author, refusal: Refusal) -> WriteReport {
        self.counted(caller, author, None, WriteOutcome::refused(refusal, None))
    }

    /// Restores an earlier text. This needs no approval, and its refusals are not counted.
    pub(crate) async fn put_back(
        &self,
        caller: &Caller,
        target: Target,
        edit: Edit,
        expected_revision: Option<u64>,
        author: Author,
    ) -> Outcome<WriteReport> {
        let outcome = self.write(caller, target, edit, expected_revision, author).await?;
        Ok(WriteReport { outcome, is_final: false, pending: self.pending_count(caller.profile()) })
    }

    /// Returns the contents of a store.
    pub(crate) async fn view(&self, profile: &str, target: Target) -> Outcome<View> {
        self.stores.get(profile, target)?.view().await
    }

    /// Returns a part of a store's history.
    pub(crate) async fn log(&self, profile: &str, target: Target, query: LogQuery) -> Outcome<Log> {
        self.stores.get(profile, target)?.log(query).await
    }

    /// Returns the number of a profile's writes that wait for approval; `None` if none does.
    pub(crate) fn pending_count(&self, profile: &str) -> Option<u64> {
        let folder = self.profiles.existing(profile).ok()?;
        let pending = self.staged.of(profile, &folder);
        // A writer that is just staging holds this lock while it waits for a disk.
        let count = match pending.try_lock() {
            Ok(mut pending) => {
                let count = pending.list(SystemTime::now()).ok()?.len();
                self.staged.counted(profile, count);
                count
            }
            Err(_) => self.staged.last_count(profile),
        };
        (count > 0).then(|| to_u64(count))
    }

    /// Returns the policy for showing entries.
    pub(crate) fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// Forgets the refusals of a connection that has ended.
    pub(crate) fn forget_connection(&self, connection: u64) {
        self.refusals.forget(&Writer::Connection(connection));
    }

    /// Changes a store now.
    async fn write(
        &self,
        caller: &Caller,
        target: Target,
        edit: Edit,
        expected_revision: Option<u64>,
        author: Author,
    ) -> Outcome<WriteOutcome> {
        let write = Write { edit, author, expected_revision, token: caller.token.clone() };
        if self.sharing.covers(caller.profile()) {
            return self.write_shared(caller, target, write).await;
        }
        let written = self.stores.get(caller.profile(), target)?.write(write).await?;
        Ok(WriteOutcome::of(written, Reach::Alone))
    }

    /// Counts refusals in a row, tells subscribers of them, and marks the report as final if there are too many.
    fn counted(&self, caller: &Caller, author: Author, target: Option<Target>, outcome: WriteOutcome) -> WriteReport {
        let writer = author.session.clone().map_or(Writer::Connection(caller.connection), Writer::Session);
        let is_final = if outcome.is_success() {
            self.refusals.forget(&writer);
            false
        } else {
            self.refusals.refused(writer)
        };
        if let WriteOutcome::Refused { refusal, .. } = &outcome {
            let (profile, refusal) = (caller.profile().to_owned(), Refusal::clone(refusal));
            let refused = RefusedWrite { profile, target, author, refusal };
            self.events.publish(Event::MemoryRefused(Arc::new(refused)));
        }
        WriteReport { outcome, is_final, pending: self.pending_count(caller.profile()) }
    }
}

/// Refuses texts that exceed any store, without scanning them.
fn check_length(changes: &Changes) -> Outcome<()> {
    let bytes = changes.bytes();
    if bytes > limits::ENTRY {
        let words = format!("the texts of a memory write have {bytes} bytes; at most {} are taken", limits::ENTRY);
        return Err(Error::TooLarge(words));
    }
    Ok(())
}
