//! Stores that several hosts share: their state, and moving a profile to the database and back.

use std::sync::Arc;
use std::time::SystemTime;

use herma_memory::change::{Change, Changes, Drift};
use herma_memory::pending::StagedCall;
use herma_memory::tool::Call;
use herma_memory::{Author, Edit, Target};
use herma_shared::SharedError;

use super::staged::lock;
use super::{MemoryService, Reach, WriteOutcome};
use crate::data::config::{Offline, SharedConfig};
use crate::data::error::{Error, Outcome};
use crate::owners::blocking::blocking;
use crate::owners::sharing::{JoinedStore, LinkState};
use crate::owners::store::{HostBoundWrite, Write};
use crate::service::caller::Caller;

/// The shared stores of this host, and their state.
#[derive(Debug)]
pub(crate) struct SharedView {
    /// The configuration, if there is one.
    pub config: Option<SharedConfig>,
    /// The address of the database, without the password; or why it can't be used.
    pub database: Option<Result<String, String>>,
    /// Whether others on the network could read the traffic.
    pub is_open: bool,
    /// The state of the connection to the database.
    pub link: LinkState,
    /// The stores of all profiles that share, or are configured to.
    pub stores: Vec<SharedStore>,
}

/// A store that is shared, or is configured to be.
#[derive(Debug)]
pub(crate) struct SharedStore {
    /// The profile.
    pub profile: String,
    /// The store.
    pub target: Target,
    /// Whether it was moved to the database.
    pub has_joined: bool,
    /// Its revision on this host.
    pub revision: u64,
    /// Its revision in the database, as last seen.
    pub shared_revision: Option<u64>,
    /// Seconds since both were last known to be equal.
    pub stale_s: Option<f64>,
    /// Whether another program made an edit here that other hosts don't have yet.
    pub holds_an_edit: bool,
    /// The number of its writes that wait for the database.
    pub queued: usize,
    /// Why it can't be written, regardless of the state of the database.
    pub trouble: Option<SharedError>,
}

/// The result of moving a profile's store to the database.
#[derive(Debug)]
pub(crate) struct JoinReport {
    /// The store.
    pub store: JoinedStore,
    /// For each entry that did not fit, in order: the id of the write that waits for a person, or why there is none.
    pub waiting: Vec<Result<String, String>>,
}

impl MemoryService {
    /// Writes to a store whose revisions the database gives.
    pub(super) async fn write_shared(&self, caller: &Caller, target: Target, write: Write) -> Outcome<WriteOutcome> {
        let profile = caller.profile();
        // Entries that never leave this host need not wait for other hosts.
        let write = match self.stores.get(profile, target)?.write_bound(write).await? {
            HostBoundWrite::Done(written) => return Ok(WriteOutcome::of(*written, Reach::HostBound)),
            HostBoundWrite::Not(write) => *write,
        };
        let offline = self.sharing.config().offline;
        let kept = match (&write.edit, offline) {
            (Edit::Change { changes, drift }, Offline::Queue) => Some(StagedCall {
                call: Call { target, changes: changes.clone() },
                drift: *drift,
                expected_revision: write.expected_revision,
                is_exact: false,
            }),
            _ => None,
        };
        let author = write.author.clone();
        // Queued writes come first: a later write must not overtake them.
        let waits = match &kept {
            Some(_) => self.queued_count(profile, target).await? > 0,
            None => false,
        };
        let error = if waits {
            None
        } else {
            match self.sharing.write(profile, target, write, None).await {
                Ok(written) => return Ok(WriteOutcome::of(written, Reach::Shared)),
                Err(Error::Shared(error @ SharedError::Unreachable(_))) => Some(error),
                Err(error) => return Err(error),
            }
        };
        match (kept.filter(|_| self.sharing.has_joined(profile)), error) {
            (Some(call), error) => {
                let earlier = || "earlier writes of this store wait for the shared database".to_owned();
                self.queue(caller, call, author, error.map_or_else(earlier, |error| error.to_string())).await
            }
            (None, Some(error)) => Err(Error::Shared(error)),
            (None, None) => Err(Error::overloaded("the shared store")),
        }
    }

    /// Returns the seconds since a shared store was last known to equal that of the database. The outer `None` means
    /// that it is not shared.
    pub(crate) fn stale_s(&self, profile: &str, target: Target) -> Option<Option<f64>> {
        self.sharing.has_joined(profile).then(|| self.sharing.stale_s(profile, target))
    }

    /// Returns the state of all shared stores.
    pub(crate) async fn shared(&self) -> Outcome<SharedView> {
        let config = self.sharing.is_configured().then(|| self.sharing.config().clone());
        let database = config.is_some().then(|| self.sharing.database());
        let is_open = matches!(&database, Some(Ok(database)) if database.address().is_open());
        let database = database.map(|database| match database {
            Ok(database) => Ok(database.address().to_string()),
            Err(error) => Err(error.to_string()),
        });
        let mut profiles = config.as_ref().map(|config| config.profiles.clone()).unwrap_or_default();
        profiles.extend(self.sharing.joined_profiles());
        profiles.sort();
        profiles.dedup();
        let mut stores = Vec::new();
        for (profile, target) in profiles.iter().flat_map(|profile| Target::ALL.map(|target| (profile, target))) {
            let Ok(store) = self.stores.get(profile, target) else { continue };
            let standing = self.sharing.standing(profile, target);
            stores.push(SharedStore {
                profile: profile.clone(),
                target,
                has_joined: self.sharing.has_joined(profile),
                revision: store.view().await?.revision,
                shared_revision: standing.map(|standing| standing.revision),
                stale_s: self.sharing.stale_s(profile, target),
                holds_an_edit: store.holds_an_edit().await?,
                queued: self.queued_count(profile, target).await?,
                trouble: self.sharing.trouble(profile, target),
            });
        }
        Ok(SharedView { config, database, is_open, link: self.sharing.link(), stores })
    }

    /// Creates or updates the tables. Returns the version that was found; 0 for none.
    pub(crate) async fn init_shared(
        &self,
        url: Option<&str>,
        password: Option<String>,
        role: Option<&str>,
    ) -> Outcome<i32> {
        self.sharing.init(url, password, role).await
    }

    /// Moves a profile's stores to the database. Entries that do not fit wait for a person.
    pub(crate) async fn join(&self, caller: &Caller) -> Outcome<Vec<JoinReport>> {
        let profile = caller.profile();
        let mut brought = Vec::new();
        for store in self.sharing.join(profile).await? {
            let mut waiting = Vec::new();
            for left_out in &store.left_out {
                let changes = Changes::Single(Change::Add { content: left_out.entry.to_string() });
                let call = Call { target: store.target, changes };
                let call = StagedCall { call, drift: Drift::Refused, expected_revision: None, is_exact: false };
                let staged = self.stage_call(profile, call, Author::default()).await;
                waiting.push(staged.map_err(|error| error.to_string()));
            }
            brought.push(JoinReport { store, waiting });
        }
        Ok(brought)
    }

    /// Returns why messages can't be uploaded to the database. The outer `None` means that uploads are off.
    pub(crate) fn outbox_trouble(&self) -> Option<Option<SharedError>> {
        let is_on = self.sharing.is_configured() && self.sharing.config().messages;
        is_on.then(|| self.sharing.outbox_trouble())
    }

    /// Ends the sharing of a profile's stores. Writes that waited for the database now wait for a person.
    pub(crate) async fn leave(&self, caller: &Caller) -> Outcome<usize> {
        let profile = caller.profile();
        // A daemon that stopped during an earlier leave may have left queued writes.
        let left = if self.sharing.may_share(profile) { Vec::new() } else { self.queued(profile).await? };
        if left.is_empty() {
            self.sharing.leave(profile).await?;
        }
        self.queue_to_person(profile).await
    }

    /// Stages a call for a person, whatever its result would be.
    pub(super) async fn stage_call(&self, profile: &str, call: StagedCall, author: Author) -> Outcome<String> {
        let folder = self.profiles.existing(profile)?;
        let waiting = Arc::clone(&self.staged.of(profile, &folder));
        blocking("staging a write", move || {
            lock(&waiting).stage(&call, &author, SystemTime::now()).map_err(|error| match error {
                herma_memory::pending::StageError::Disk(error) => Error::from(error),
                full @ herma_memory::pending::StageError::Full => Error::Busy(full.to_string()),
            })
        })
        .await
    }
}
