//! Sessions that are in use: what was frozen for them and what their engine
//! remembers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use herma_protocol::Json;
use herma_protocol::context::Settings;
use herma_protocol::session::Snapshot;

use crate::data::summarizer_kind::Kind;
use crate::service::compression::kept::Kept;
use crate::wire::state::State;

/// Sessions that are kept in memory; past it those that nobody uses right now
/// are read from the archive again when they are asked for.
const IN_MEMORY: usize = 4096;

/// Seconds after which it is noted again that a session is in use.
const TOUCH_S: u64 = 60;

/// One session.
#[derive(Debug)]
pub(crate) struct Session {
    /// Its id.
    pub id: String,
    /// The profile it belongs to.
    pub profile: String,
    /// What was frozen when it was opened or refreshed.
    snapshot: RwLock<Frozen>,
    /// What `context.configure` said so far.
    pub settings: Mutex<Settings>,
    /// What its engine remembers.
    kept: Mutex<Kept>,
    /// Held while its settings are read, changed and kept.
    pub configuring: tokio::sync::Mutex<()>,
    /// Held while it is being compressed.
    pub compressing: Arc<tokio::sync::Mutex<()>>,
    generation: AtomicU64,
    /// When it was last noted that it is in use, in Unix seconds.
    touched: AtomicU64,
}

impl Session {
    pub(crate) fn new(
        id: String,
        profile: String,
        snapshot: Snapshot,
        settings: Settings,
        generation: u64,
        kept: Kept,
    ) -> Self {
        Self {
            id,
            profile,
            snapshot: RwLock::new(Frozen::new(snapshot)),
            settings: Mutex::new(settings),
            kept: Mutex::new(kept),
            configuring: tokio::sync::Mutex::default(),
            compressing: Arc::default(),
            generation: AtomicU64::new(generation),
            touched: AtomicU64::new(0),
        }
    }

    /// Notes that it is in use; true when that was not noted for a while.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole seconds since 1970")]
    pub(crate) fn is_touched(&self, now: f64) -> bool {
        let (now, before) = (now as u64, self.touched.load(Ordering::Relaxed));
        let is_due = now.abs_diff(before) >= TOUCH_S;
        is_due && self.touched.compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    pub(crate) fn set_generation(&self, generation: u64) {
        self.generation.store(generation, Ordering::Release);
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner).snapshot)
    }

    /// The snapshot as its answer is; `None` when it has no JSON form.
    pub(crate) fn snapshot_json(&self) -> Option<Arc<Json>> {
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner).json.clone()
    }

    pub(crate) fn set_snapshot(&self, snapshot: Snapshot) {
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = Frozen::new(snapshot);
    }

    pub(crate) fn settings(&self) -> Settings {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The summarizer that was set for it.
    pub(crate) fn summarizer(&self) -> Option<Kind> {
        let settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        settings.summarizer.as_deref().and_then(Kind::parse)
    }

    pub(crate) fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the archive note what the engine remembers; nobody waits for it. The summary
    /// is noted with the compression that it belongs to.
    pub(crate) fn keep(self: &Arc<Self>, state: &State) {
        let session = Arc::clone(self);
        state.archive.tell_if_in_use(move |archive| {
            // What it is by then: a later change must not be overtaken by an earlier one.
            let figures = session.kept().figures();
            archive.save_engine_state(&session.id, &figures)
        });
    }
}

/// A snapshot and its JSON, which is made once: it is asked for before every turn.
#[derive(Debug)]
struct Frozen {
    snapshot: Arc<Snapshot>,
    json: Option<Arc<Json>>,
}

impl Frozen {
    fn new(snapshot: Snapshot) -> Self {
        let json = Json::from_value(&snapshot).ok().map(Arc::new);
        Self { snapshot: Arc::new(snapshot), json }
    }
}

/// The sessions in memory.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    known: RwLock<HashMap<String, Arc<Session>>>,
}

impl Sessions {
    pub(crate) fn get(&self, id: &str) -> Option<Arc<Session>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Keeps a session; the one that was there first wins.
    pub(crate) fn insert(&self, session: Session) -> Arc<Session> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= IN_MEMORY {
            known.retain(|_, session| Arc::strong_count(session) > 1);
        }
        Arc::clone(known.entry(session.id.clone()).or_insert_with(|| Arc::new(session)))
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Arc<Session>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    pub(crate) fn forget(&self, id: &str) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}
