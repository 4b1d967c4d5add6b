//! The served stores. Each has a worker, which starts at the first request.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use herma_disk::watch::Watch;
use herma_guard::Policy;
use herma_memory::{Limits, Paths, Target};

use super::events::Events;
use super::joined::SharedProfiles;
use super::store::{StoreContext, StoreHandle};
use crate::data::config::{Config, MemoryConfig};
use crate::data::error::{Error, Outcome};
use crate::data::profiles::{DEFAULT_PROFILE, Profiles};

/// The largest number of stores served at the same time. Each has a thread.
const MOST: usize = 512;

/// All stores of a home.
#[derive(Debug)]
pub(crate) struct Stores {
    profiles: Profiles,
    journals: PathBuf,
    config: MemoryConfig,
    policy: Arc<Policy>,
    events: Events,
    served: Arc<Table>,
    watch: Arc<Watch>,
    joined: Arc<SharedProfiles>,
}

/// The served stores, by profile and target.
type Table = Mutex<HashMap<(String, Target), Served>>;

/// A served store.
#[derive(Debug)]
struct Served {
    file: PathBuf,
    handle: StoreHandle,
}

impl Stores {
    /// Returns the policy for texts that are kept from models.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Creates the stores of the configured home. Their changes are published.
    pub(crate) fn new(config: &Config, events: Events, joined: Arc<SharedProfiles>) -> Self {
        let served: Arc<Table> = Arc::default();
        let watched = Arc::clone(&served);
        Self {
            profiles: Profiles::of(&config.home),
            journals: config.home.join("herma/journal"),
            config: config.memory.clone(),
            policy: Arc::clone(&config.guard.severity),
            events,
            served,
            joined,
            watch: Arc::new(Watch::new(move |path| hint(&watched, path))),
        }
    }

    /// Returns the handle of a store. Does not create a missing profile, because a typo in a write would create one.
    pub(crate) fn get(&self, profile: &str, target: Target) -> Outcome<StoreHandle> {
        let profile_folder = self.profiles.existing(profile);
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (profile.to_owned(), target);
        let folder = match profile_folder {
            Ok(folder) => folder.join("memories"),
            Err(error) => {
                served.remove(&key);
                return Err(error);
            }
        };
        if let Some(store) = served.get(&key) {
            return Ok(store.handle.clone());
        }
        if served.len() >= MOST {
            return Err(Error::overloaded("the daemon, which serves as many profiles as it can,"));
        }
        let file = folder.join(target.file_name());
        let context = StoreContext {
            profile: profile.to_owned(),
            target,
            paths: Paths { file: file.clone(), journal: self.journals.join(profile).join(format!("{target}.jsonl")) },
            limits: Limits { chars: self.limit(profile, target), revisions: self.config.journal_revisions },
            policy: Arc::clone(&self.policy),
            events: self.events.clone(),
            watch: Arc::clone(&self.watch),
            is_shared: self.joined.has(profile) || self.joined.unknown.is_some(),
        };
        let handle = StoreHandle::start(context).map_err(|error| {
            tracing::error!("no thread for a store: {error}");
            Error::internal("starting a store")
        })?;
        served.insert(key, Served { file, handle: handle.clone() });
        Ok(handle)
    }

    /// Returns the stores that were used since the start, and those of the default profile.
    pub(crate) fn in_use(&self) -> Vec<(String, Target)> {
        let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        let mut keys: Vec<(String, Target)> = served.keys().cloned().collect();
        for target in Target::ALL {
            if !keys.iter().any(|key| key.0 == DEFAULT_PROFILE && key.1 == target) {
                keys.push((DEFAULT_PROFILE.into(), target));
            }
        }
        keys.sort_by(|one, other| (&one.0, one.1.name()).cmp(&(&other.0, other.1.name())));
        keys
    }

    /// Serves the stores of all profiles, so that edits by other programs are noticed even before the first request.
    pub(crate) fn serve_all(&self) {
        for profile in self.profiles.all().unwrap_or_default() {
            self.serve(&profile);
        }
    }

    /// Serves both stores of a profile.
    pub(crate) fn serve(&self, profile: &str) {
        for target in Target::ALL {
            if let Err(error) = self.get(profile, target) {
                tracing::warn!(profile, %target, "a store can't be served: {error}");
            }
        }
    }

    /// Closes all stores cleanly, waiting up to `patience` for each.
    pub(crate) fn close(&self, patience: Duration) {
        let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        let handles: Vec<StoreHandle> = served.values().map(|store| store.handle.clone()).collect();
        // A store's thread may need the table before it has finished.
        drop(served);
        handles.iter().for_each(|handle| handle.flush(patience));
    }

    /// Returns the limit of a store, in chars.
    pub(crate) fn limit(&self, profile: &str, target: Target) -> usize {
        self.config.limit(profile, target)
    }
}

/// Makes the stores that a change of this path may concern read their files.
fn hint(served: &Table, path: &Path) {
    let served = served.lock().unwrap_or_else(PoisonError::into_inner);
    let concerned = served.values().filter(|store| store.file == path || store.file.parent() == Some(path));
    concerned.for_each(|store| store.handle.hint());
}
