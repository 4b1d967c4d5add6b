//! The root, which creates the services. Only the wire floor uses it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use herma_guard::Policy;
use herma_spill::Outputs;
use tokio::sync::watch;

use super::buffers::Buffers;
use super::idempotency::Idempotency;
use super::in_flight::InFlight;
use super::metrics::Metrics;
use crate::data::clock::unix_now;
use crate::data::config::{Config, LimitsConfig};
use crate::data::profiles::Profiles;
use crate::owners::archive::ArchiveHandle;
use crate::owners::events::Events;
use crate::owners::joined::SharedProfiles;
use crate::owners::memory_files::MemoryFiles;
use crate::owners::sharing::Sharing;
use crate::owners::stores::Stores;
use crate::owners::summarizer::Summarizers;
use crate::service::archive_retention::ArchiveRetention;
use crate::service::compression::{CompressionService, Health, PreparedRuns, Rewriters};
use crate::service::context::ContextService;
use crate::service::ledger::LedgerService;
use crate::service::memory::MemoryService;
use crate::service::memory_files::FilesService;
use crate::service::outputs::OutputService;
use crate::service::recall::RecallService;
use crate::service::recall_index::{Embedding, IndexNotes, IndexQueue, RecallIndexer};
use crate::service::retention::RetentionService;
use crate::service::scrub::ScrubService;
use crate::service::session::SessionTable;
use crate::service::session_locks::SessionLocks;
use crate::service::sessions::{SessionService, Turns};
use crate::service::settings::SessionDefaults;
use crate::service::spilled_outputs::SpilledOutputs;
use crate::service::trajectories::TrajectoryService;

/// The state that all connections share.
#[derive(Debug)]
pub(super) struct Services {
    pub config: Config,
    pub started: Instant,
    pub connections: Connections,
    pub events: Events,
    pub archive: Arc<ArchiveHandle>,
    pub stores: Arc<Stores>,
    pub profiles: Profiles,
    pub policy: Arc<Policy>,
    pub memory: Arc<MemoryService>,
    pub files: FilesService,
    pub sharing: Arc<Sharing>,
    pub sessions: Arc<SessionService>,
    pub session_locks: SessionLocks,
    pub outputs: OutputService,
    pub retention: RetentionService,
    pub scrub: ScrubService,
    pub indexer: Arc<RecallIndexer>,
    pub recall: RecallService,
    pub compression: Arc<CompressionService>,
    pub context: ContextService,
    pub ledger: LedgerService,
    pub trajectories: TrajectoryService,
}

/// The state for the connections themselves.
#[derive(Debug)]
pub(super) struct Connections {
    pub metrics: Metrics,
    pub in_flight: InFlight,
    pub buffers: Buffers,
    pub idempotency: Idempotency,
    /// How long requests may still run once the daemon stops; `None` until then.
    pub stop: watch::Sender<Option<Duration>>,
    /// Whether the limit of connections is reached, so that silent ones give way.
    pub full: watch::Sender<bool>,
    open: AtomicUsize,
    most: usize,
}

impl Services {
    /// Creates the services of a starting daemon, and the queue for its indexer.
    pub(super) fn new(config: Config) -> (Self, IndexQueue) {
        let private = config.home.join("herma");
        let events = Events::default();
        let profiles = Profiles::of(&config.home);
        let policy = Arc::clone(&config.guard.severity);
        let table: Arc<SessionTable> = Arc::default();
        let (notes, queue) = IndexNotes::new();
        let notes = Arc::new(notes);
        let joined = Arc::new(SharedProfiles::of(&config.home));
        let stores = Arc::new(Stores::new(&config, events.clone(), Arc::clone(&joined)));
        let sharing = Sharing::new(&config, Arc::clone(&stores), joined);
        let archive = Arc::new(open_archive(&config, &table, &notes));
        let summarizers = Arc::new(Summarizers::new(&config.summarizer));
        let kept = Arc::new(Outputs::open(private.join("outputs"), &private.join("outputs.jsonl")));
        let (started, started_at) = (Instant::now(), unix_now());
        let (home, quota) = (&config.home, config.output.quota);
        let spilled =
            Arc::new(SpilledOutputs::new(Arc::clone(&kept), home, quota, Arc::clone(&notes), Arc::clone(&sharing)));
        let defaults = SessionDefaults::of(&config);
        let compression = Arc::new(CompressionService {
            defaults,
            policy: Arc::clone(&policy),
            preview_tail_size: config.output.preview_tail_size,
            archive: Arc::clone(&archive),
            table: Arc::clone(&table),
            stores: Arc::clone(&stores),
            outputs: Arc::clone(&spilled),
            summarizers: Arc::clone(&summarizers),
            events: events.clone(),
            prepared: PreparedRuns::default(),
            rewriters: Rewriters::default(),
            health: Health::default(),
        });
        let sessions = Arc::new(SessionService {
            table: Arc::clone(&table),
            archive: Arc::clone(&archive),
            stores: Arc::clone(&stores),
            profiles: profiles.clone(),
            compression: Arc::clone(&compression),
            outputs: Arc::clone(&spilled),
            events: events.clone(),
            sharing: Arc::clone(&sharing),
            turns: Turns::default(),
            capture: herma_context::Capture { masks: config.archive.redact },
        });
        let indexer = Arc::new(RecallIndexer {
            notes: Arc::clone(&notes),
            archive: Arc::clone(&archive),
            outputs: Arc::clone(&kept),
            stores: Arc::clone(&stores),
            policy: Arc::clone(&policy),
            embedding: Embedding::configured(&config.recall, config.guard.redact),
        });
        let services = Self {
            started,
            files: FilesService::new(MemoryFiles::new(&config, events.clone())),
            connections: Connections::new(&config.limits),
            memory: Arc::new(MemoryService::new(
                Arc::clone(&stores),
                profiles.clone(),
                Arc::clone(&policy),
                config.memory.approval,
                Arc::clone(&sharing),
                events.clone(),
                &config.home,
            )),
            session_locks: SessionLocks::new(Arc::clone(&archive)),
            outputs: OutputService {
                spilled: Arc::clone(&spilled),
                sessions: Arc::clone(&sessions),
                archive: Arc::clone(&archive),
                events: events.clone(),
                budgets: config.output.budgets(),
                scale_with_window: config.output.scale_with_window,
            },
            scrub: ScrubService {
                archive: Arc::clone(&archive),
                compression: Arc::clone(&compression),
                outputs: Arc::clone(&spilled),
                stores: Arc::clone(&stores),
                profiles: profiles.clone(),
                home: config.home.clone(),
                found: Arc::default(),
                alone: tokio::sync::Mutex::default(),
            },
            retention: RetentionService {
                limits: config.output.retention(),
                outputs: Arc::clone(&spilled),
                archived: ArchiveRetention {
                    ttl: config.archive.ttl,
                    quota: config.archive.quota,
                    archive: Arc::clone(&archive),
                    sessions: Arc::clone(&table),
                    events: events.clone(),
                },
                sessions: table,
                archive: Arc::clone(&archive),
                index: notes,
                events: events.clone(),
                removals: Mutex::default(),
                started,
                started_at,
            },
            recall: RecallService {
                archive: Arc::clone(&archive),
                sessions: Arc::clone(&sessions),
                outputs: spilled,
                indexer: Arc::clone(&indexer),
                policy: Arc::clone(&policy),
                summarizers: Arc::clone(&summarizers),
                sharing: Arc::clone(&sharing),
                redact: config.guard.redact,
                at_prompt: config.recall.at_prompt,
                wait: config.recall.wait,
            },
            context: ContextService {
                defaults,
                sessions: Arc::clone(&sessions),
                compression: Arc::clone(&compression),
                archive: Arc::clone(&archive),
            },
            ledger: LedgerService {
                sessions: Arc::clone(&sessions),
                archive: Arc::clone(&archive),
                events: events.clone(),
                outputs: kept,
            },
            trajectories: TrajectoryService { summarizers },
            indexer,
            compression,
            sessions,
            policy,
            profiles,
            stores,
            sharing,
            archive,
            events,
            config,
        };
        (services, queue)
    }
}

/// Opens the archive of the home. An archive that replaces a damaged one gets the sessions that are in use, and its
/// index is rebuilt.
fn open_archive(config: &Config, table: &Arc<SessionTable>, notes: &Arc<IndexNotes>) -> ArchiveHandle {
    let (table, notes) = (Arc::clone(table), Arc::clone(notes));
    ArchiveHandle::open(config.home.join("herma/archive.db"), move || {
        notes.reset();
        table.all().iter().map(|session| session.row()).collect()
    })
}

impl Connections {
    fn new(limits: &LimitsConfig) -> Self {
        Self {
            metrics: Metrics::new(),
            in_flight: InFlight::new(limits.in_flight),
            buffers: Buffers::default(),
            idempotency: Idempotency::default(),
            stop: watch::Sender::new(None),
            full: watch::Sender::new(false),
            open: AtomicUsize::new(0),
            most: limits.connections,
        }
    }

    /// Counts an opened connection.
    pub(super) fn opened(&self) {
        self.now_open(self.open.fetch_add(1, Ordering::Relaxed) + 1);
    }

    /// Counts a closed connection.
    pub(super) fn closed(&self) {
        self.now_open(self.open.fetch_sub(1, Ordering::Relaxed) - 1);
    }

    fn now_open(&self, count: usize) {
        let is_full = count >= self.most;
        self.full.send_if_modified(|full| std::mem::replace(full, is_full) != is_full);
    }

    /// Returns the number of open connections.
    pub(super) fn count(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}
