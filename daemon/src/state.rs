//! What all connections share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use herma_disk::folder;
use herma_memory::{Paths, Target};
use herma_protocol::{ErrorKind, RpcError};
use herma_spill::Outputs;
use tokio::sync::watch;

use crate::archivist::Archivist;
use crate::config::Config;
use crate::fail::{self, Outcome};
use crate::idempotency::Idempotency;
use crate::in_flight::InFlight;
use crate::metrics::Metrics;
use crate::owner::Owner;
use crate::session::Sessions;
use crate::streaks::Streaks;

/// Chars of a profile's name.
const PROFILE: usize = 64;

/// Stores that are served at one time; each has a thread.
const STORES: usize = 512;

/// The profile of a request that names none.
pub(crate) const DEFAULT_PROFILE: &str = "default";

/// What all connections share.
#[derive(Debug)]
pub(crate) struct State {
    pub config: Config,
    pub started: Instant,
    pub metrics: Metrics,
    pub in_flight: InFlight,
    pub idempotency: Idempotency,
    pub sessions: Sessions,
    pub streaks: Streaks,
    pub outputs: Outputs,
    pub archive: Archivist,
    pub connections: AtomicUsize,
    pub stop: watch::Sender<Option<Duration>>,
    stores: Mutex<HashMap<(String, Target), Owner>>,
}

impl State {
    pub(crate) fn new(config: Config) -> Self {
        let private = config.home.join("herma");
        Self {
            started: Instant::now(),
            metrics: Metrics::new(),
            in_flight: InFlight::new(config.limits.in_flight),
            idempotency: Idempotency::default(),
            sessions: Sessions::default(),
            streaks: Streaks::default(),
            outputs: Outputs::new(private.join("outputs")),
            archive: Archivist::open(private.join("archive.db")),
            connections: AtomicUsize::new(0),
            stop: watch::Sender::new(None),
            stores: Mutex::default(),
            config,
        }
    }

    /// The owner of a store. A profile that doesn't exist is not made here, for
    /// a typo in a write would make one.
    pub(crate) fn store(&self, profile: &str, target: Target) -> Outcome<Owner> {
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (profile.to_owned(), target);
        if let Some(owner) = stores.get(&key) {
            return Ok(owner.clone());
        }
        if stores.len() >= STORES {
            return Err(fail::busy("the daemon, which serves as many profiles as it can,"));
        }
        let folder = self.profile_folder(profile)?;
        if profile != DEFAULT_PROFILE && !folder.is_dir() {
            let words = format!("there is no profile {profile:?}; session.open with that profile makes it");
            return Err(RpcError::new(ErrorKind::NotFound, words));
        }
        let paths = Paths {
            file: folder.join(target.file_name()),
            revision: self.config.home.join("herma/journal").join(profile).join(format!("{target}.revision.json")),
        };
        let owner = Owner::start(paths, target, self.limit(target)).map_err(|error| {
            tracing::error!("no thread for a store: {error}");
            fail::internal("starting a store")
        })?;
        stores.insert(key, owner.clone());
        Ok(owner)
    }

    /// The stores that were used since the start, and those of the default
    /// profile.
    pub(crate) fn stores_in_use(&self) -> Vec<(String, Target)> {
        let stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let mut keys: Vec<(String, Target)> = stores.keys().cloned().collect();
        for target in Target::ALL {
            if !keys.iter().any(|key| key.0 == DEFAULT_PROFILE && key.1 == target) {
                keys.push((DEFAULT_PROFILE.into(), target));
            }
        }
        keys.sort_by(|one, other| (&one.0, one.1.name()).cmp(&(&other.0, other.1.name())));
        keys
    }

    /// Makes a profile's folder.
    pub(crate) fn create_profile(&self, profile: &str) -> Outcome<()> {
        folder::create(&self.profile_folder(profile)?).map_err(|error| fail::disk(&error))
    }

    fn profile_folder(&self, profile: &str) -> Outcome<PathBuf> {
        let plain = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
        if profile.is_empty() || profile.len() > PROFILE || !profile.chars().all(plain) {
            return Err(fail::invalid("profile", "a name of 1 to 64 letters, digits, `_` and `-` is needed"));
        }
        Ok(match profile {
            DEFAULT_PROFILE => self.config.home.join("memories"),
            named => self.config.home.join("profiles").join(named).join("memories"),
        })
    }

    pub(crate) const fn limit(&self, target: Target) -> usize {
        match target {
            Target::Memory => self.config.memory.memory_limit,
            Target::User => self.config.memory.user_limit,
        }
    }

    pub(crate) fn connections_now(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

/// Now, in Unix seconds.
pub(crate) fn unix_now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
