//! The memories: writes with their conditions, what waits for approval, and the history.

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
use herma_memory::{Author, Edit, Refusal, Target, View};
use herma_protocol::limits;

pub(crate) use self::approvals::{Chosen, Decided};
use self::queue::Queues;
use self::refusals::{RefusalCounter, Writer};
pub(crate) use self::shared::{Brought, SharedStore, SharedView};
use self::staged::Staged;
use super::caller::Caller;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::wide;
use crate::data::profiles::Profiles;
use crate::owners::sharing::Sharing;
use crate::owners::store::{Log, Page, Write, Written};
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
}

/// A change that is asked for, and its conditions.
#[derive(Debug)]
pub(crate) struct WriteRequest {
    /// The store.
    pub target: Target,
    /// What to change.
    pub changes: Changes,
    /// Whether a file that grew elsewhere may be changed.
    pub drift: Drift,
    /// The revision that the caller saw.
    pub expected_revision: Option<u64>,
    /// Who wants it.
    pub author: Author,
}

/// What a write came to.
#[derive(Debug)]
pub(crate) enum WriteOutcome {
    /// It is on the disk.
    Done {
        /// The store after it.
        view: Box<View>,
        /// What was done.
        applied: Box<Applied>,
        /// Who has it.
        reach: Reach,
    },
    /// It is kept here until the shared database is back, and judged then.
    Queued {
        /// Names it.
        id: String,
        /// The store, which is unchanged.
        target: Target,
        /// What the guard has to say of it.
        findings: Vec<Finding>,
        /// Why it was not done.
        why: String,
    },
    /// It waits for a person.
    Staged {
        /// Names it.
        id: String,
        /// The store, which is unchanged.
        target: Target,
        /// What the guard has to say of it.
        findings: Vec<Finding>,
    },
    /// It breaks a rule of the store.
    Refused {
        /// Which one.
        refusal: Box<Refusal>,
        /// The store, where it was looked at.
        view: Option<Box<View>>,
    },
}

/// Who has what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// This host: its store is not shared.
    Alone,
    /// All hosts that share the store.
    Shared,
    /// This host: what was written never leaves it.
    HostBound,
}

/// What a writer is told.
#[derive(Debug)]
pub(crate) struct WriteReport {
    /// What the write came to.
    pub outcome: WriteOutcome,
    /// It was refused once too often: the writer should leave memory alone.
    pub is_final: bool,
    /// Writes of the profile that wait for approval; `None` when none does.
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
    /// The memories behind these stores. Where `asks_first`, writes wait for approval.
    pub(crate) fn new(
        stores: Arc<Stores>,
        profiles: Profiles,
        policy: Arc<Policy>,
        asks_first: bool,
        sharing: Arc<Sharing>,
        home: &Path,
    ) -> Self {
        let (staged, refusals, queues) = (Arc::default(), RefusalCounter::default(), Queues::of(home));
        Self { stores, profiles, policy, asks_first, staged, refusals, sharing, queues }
    }

    /// Writes, or keeps the write until a person approves it where the configuration says so.
    pub(crate) async fn submit(&self, caller: &Caller, request: WriteRequest) -> Outcome<WriteReport> {
        check_length(&request.changes)?;
        let author = request.author.clone();
        let outcome = if self.asks_first {
            self.stage(caller, request).await?
        } else {
            let edit = Edit::Change { changes: request.changes, drift: request.drift };
            self.write(caller, request.target, edit, request.expected_revision, request.author).await?
        };
        Ok(self.counted(caller, &author, outcome))
    }

    /// Counts a call that could not be read as a refused write.
    pub(crate) fn refuse(&self, caller: &Caller, author: &Author, refusal: Refusal) -> WriteReport {
        self.counted(caller, author, WriteOutcome::refused(refusal, None))
    }

    /// Puts an earlier text back; that waits for nobody's approval, and its refusals are not
    /// counted.
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

    /// What a store holds.
    pub(crate) async fn view(&self, profile: &str, target: Target) -> Outcome<View> {
        self.stores.get(profile, target)?.view().await
    }

    /// A part of a store's history.
    pub(crate) async fn log(&self, profile: &str, target: Target, page: Page) -> Outcome<Log> {
        self.stores.get(profile, target)?.log(page).await
    }

    /// How many writes of a profile wait for approval; `None` when none does.
    pub(crate) fn pending_count(&self, profile: &str) -> Option<u64> {
        let folder = self.profiles.existing(profile).ok()?;
        let pending = self.staged.of(profile, &folder);
        // A writer that stages just now holds it while a disk is waited for.
        let count = match pending.try_lock() {
            Ok(mut pending) => {
                let count = pending.list(SystemTime::now()).ok()?.len();
                self.staged.counted(profile, count);
                count
            }
            Err(_) => self.staged.last_count(profile),
        };
        (count > 0).then(|| wide(count))
    }

    /// What entries may be shown by.
    pub(crate) fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// A connection has ended; its refusals don't count any more.
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

    /// Counts refusals in a row, and makes one too many final.
    fn counted(&self, caller: &Caller, author: &Author, outcome: WriteOutcome) -> WriteReport {
        let writer = author.session.clone().map_or(Writer::Connection(caller.connection), Writer::Session);
        let is_final = if outcome.is_success() {
            self.refusals.forget(&writer);
            false
        } else {
            self.refusals.refused(writer)
        };
        WriteReport { outcome, is_final, pending: self.pending_count(caller.profile()) }
    }
}

/// Texts that are beyond every store are not even scanned.
fn check_length(changes: &Changes) -> Outcome<()> {
    let bytes = changes.bytes();
    if bytes > limits::ENTRY {
        let words = format!("the texts of a memory write have {bytes} bytes; at most {} are taken", limits::ENTRY);
        return Err(Error::TooLarge(words));
    }
    Ok(())
}
