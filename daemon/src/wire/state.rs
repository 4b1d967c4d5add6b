//! What all connections share.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use herma_disk::watch::Watch;
use herma_memory::{Limits, Paths, Target};
use herma_spill::Outputs;
use tokio::sync::{Notify, watch};

use crate::data::clock::unix_now;
use crate::data::config::Config;
use crate::data::error::{Error, Outcome};
use crate::data::profiles::{DEFAULT_PROFILE, Profiles};
use crate::owners::archive::ArchiveThread;
use crate::owners::events::Events;
use crate::owners::store::{StoreContext, StoreHandle};
use crate::owners::summarizer::Summarizers;
use crate::service::approvals::Approvals;
use crate::service::compression::Compressions;
use crate::service::connection_locks::ConnectionLocks;
use crate::service::recall_index::{IndexQueue, RecallIndexer};
use crate::service::refusals::RefusalCounter;
use crate::service::session::Sessions;
use crate::wire::buffers::Buffers;
use crate::wire::handler;
use crate::wire::idempotency::Idempotency;
use crate::wire::in_flight::InFlight;
use crate::wire::metrics::Metrics;

/// Stores that are served at one time; each has a thread.
const STORES: usize = 512;

/// What all connections share.
#[derive(Debug)]
pub(crate) struct State {
    pub config: Config,
    pub started: Instant,
    /// The same by the clock on the wall, in Unix seconds.
    pub started_at: f64,
    pub metrics: Metrics,
    pub in_flight: InFlight,
    pub buffers: Buffers,
    pub idempotency: Idempotency,
    pub sessions: Arc<Sessions>,
    pub connection_locks: ConnectionLocks,
    pub refusals: RefusalCounter,
    pub events: Events,
    pub approvals: Approvals,
    pub outputs: Outputs,
    /// Somebody should look whether outputs must go.
    pub over_quota: Notify,
    pub archive: ArchiveThread,
    pub compressions: Compressions,
    pub recall_indexer: Arc<RecallIndexer>,
    pub summarizers: Summarizers,
    pub profiles: Profiles,
    pub connections: AtomicUsize,
    pub stop: watch::Sender<Option<Duration>>,
    stores: Arc<Stores>,
    watch: Arc<Watch>,
}

/// The stores that are served, by profile and target.
type Stores = Mutex<HashMap<(String, Target), Served>>;

/// A store that is served.
#[derive(Debug)]
struct Served {
    file: PathBuf,
    owner: StoreHandle,
}

impl State {
    /// What follows from it that an output was spilled: it can be recalled, and others may have to
    /// go.
    pub(crate) fn spilled(&self, handle: &herma_spill::Handle) {
        self.recall_indexer.note(&handle.to_string());
        if self.outputs.usage().1 > self.config.output.quota {
            self.over_quota.notify_one();
        }
    }

    /// The state of a daemon that starts, and what its recall_indexer will work on.
    pub(crate) fn new(config: Config) -> (Self, IndexQueue) {
        let private = config.home.join("herma");
        let sessions: Arc<Sessions> = Arc::default();
        let in_use = Arc::clone(&sessions);
        let (recall_indexer, queue) = RecallIndexer::new();
        let recall_indexer = Arc::new(recall_indexer);
        let told = Arc::clone(&recall_indexer);
        let stores: Arc<Stores> = Arc::default();
        let served = Arc::clone(&stores);
        let state = Self {
            started: Instant::now(),
            started_at: unix_now(),
            metrics: Metrics::new(),
            in_flight: InFlight::new(config.limits.in_flight),
            buffers: Buffers::default(),
            idempotency: Idempotency::default(),
            sessions,
            connection_locks: ConnectionLocks::default(),
            refusals: RefusalCounter::default(),
            events: Events::default(),
            approvals: Approvals::default(),
            outputs: Outputs::open(private.join("outputs"), &private.join("outputs.jsonl")),
            over_quota: Notify::new(),
            archive: ArchiveThread::open(private.join("archive.db"), move |archive| {
                handler::keep_again(&in_use, archive);
                told.begin_anew();
            }),
            compressions: Compressions::default(),
            recall_indexer,
            summarizers: Summarizers::new(&config.summarizer),
            profiles: Profiles::of(&config.home),
            connections: AtomicUsize::new(0),
            stop: watch::Sender::new(None),
            stores,
            watch: Arc::new(Watch::new(move |path| look(&served, path))),
            config,
        };
        (state, queue)
    }

    /// The owner of a store. A profile that doesn't exist is not made here, for
    /// a typo in a write would make one.
    pub(crate) fn store(&self, profile: &str, target: Target) -> Outcome<StoreHandle> {
        let profile_folder = self.profiles.existing(profile);
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (profile.to_owned(), target);
        let folder = match profile_folder {
            Ok(folder) => folder.join("memories"),
            Err(error) => {
                stores.remove(&key);
                return Err(error);
            }
        };
        if let Some(served) = stores.get(&key) {
            return Ok(served.owner.clone());
        }
        if stores.len() >= STORES {
            return Err(Error::overloaded("the daemon, which serves as many profiles as it can,"));
        }
        let file = folder.join(target.file_name());
        let context = StoreContext {
            profile: profile.to_owned(),
            target,
            paths: Paths {
                file: file.clone(),
                journal: self.config.home.join("herma/journal").join(profile).join(format!("{target}.jsonl")),
            },
            limits: Limits { chars: self.limit(profile, target), revisions: self.config.memory.journal_revisions },
            policy: Arc::clone(&self.config.guard.severity),
            events: self.events.clone(),
            watch: Arc::clone(&self.watch),
        };
        let owner = StoreHandle::start(context).map_err(|error| {
            tracing::error!("no thread for a store: {error}");
            Error::internal("starting a store")
        })?;
        stores.insert(key, Served { file, owner: owner.clone() });
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

    /// Serves the stores of all profiles, so that edits by other programs are seen in
    /// those too that nobody asked for yet.
    pub(crate) fn serve_all(&self) {
        for profile in self.profiles.all().unwrap_or_default() {
            for target in Target::ALL {
                if let Err(error) = self.store(&profile, target) {
                    tracing::warn!(profile, %target, "edits by others are not told: {error}");
                }
            }
        }
    }

    /// Closes all stores in peace, as far as that is done within `patience` each.
    pub(crate) fn settle_stores(&self, patience: Duration) {
        let stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let owners: Vec<StoreHandle> = stores.values().map(|served| served.owner.clone()).collect();
        // A store's thread may need the list while it is waited for.
        drop(stores);
        owners.iter().for_each(|owner| owner.settle(patience));
    }

    /// Chars that a store may have.
    pub(crate) fn limit(&self, profile: &str, target: Target) -> usize {
        self.config.memory.limit(profile, target)
    }

    pub(crate) fn connections_now(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

/// Has the stores look that a change of this path may concern.
fn look(stores: &Stores, path: &Path) {
    let stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
    let concerned = stores.values().filter(|served| served.file == path || served.file.parent() == Some(path));
    concerned.for_each(|served| served.owner.hint());
}
