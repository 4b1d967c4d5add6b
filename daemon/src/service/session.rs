//! Sessions that are in use: what was frozen for them and what their engine remembers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use herma_archive::session::{SessionRow, SnapshotRow};
use herma_spill::name;
use tokio::sync::OwnedMutexGuard;

use super::engine_record::EngineRecord;
use super::growth::Growth;
use super::settings::SessionSettings;
use super::snapshot::Frozen;
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::data::summarizer_kind::Kind;
use crate::owners::archive::{ArchiveHandle, KeptSession};

/// Sessions that are kept in memory; past it those that nobody uses right now
/// are read from the archive again when they are asked for.
const IN_MEMORY: usize = 4096;

/// Seconds after which it is noted again that a session is in use.
const TOUCH_S: u64 = 60;

/// Hex digits that stand for a session in names.
const DIGITS: usize = 12;

/// One session.
#[derive(Debug)]
pub(crate) struct Session {
    /// Its id.
    pub id: String,
    /// The profile it belongs to.
    pub profile: String,
    /// What was frozen when it was opened or refreshed.
    snapshot: RwLock<Arc<Frozen>>,
    /// What was said of it so far.
    settings: Mutex<SessionSettings>,
    /// What its engine remembers.
    record: Mutex<EngineRecord>,
    /// Held while its settings are read, changed and kept.
    pub configuring: tokio::sync::Mutex<()>,
    /// Held while it is being compressed.
    compressing: Arc<tokio::sync::Mutex<()>>,
    generation: AtomicU64,
    /// When it was last noted that it is in use, in Unix seconds.
    touched: AtomicU64,
    /// How its transcript grows.
    growth: Mutex<Growth>,
    /// The host that took it, once one did.
    taken_by: OnceLock<String>,
}

/// Somebody appends to a session's transcript.
pub(crate) struct Appending<'a>(&'a Session);

impl Drop for Appending<'_> {
    fn drop(&mut self) {
        self.0.growth().end_append();
    }
}

impl Session {
    /// A session as it was kept.
    pub(crate) fn kept((row, engine): KeptSession) -> Self {
        Self::going_on(row, engine.map(EngineRecord::read).unwrap_or_default())
    }

    /// A session that goes on with what an engine remembers.
    pub(crate) fn going_on(row: SessionRow, record: EngineRecord) -> Self {
        Self {
            id: row.id,
            profile: row.profile,
            snapshot: RwLock::new(Arc::new(Frozen::new(row.snapshot))),
            settings: Mutex::new(row.settings.as_deref().map(SessionSettings::read).unwrap_or_default()),
            record: Mutex::new(record),
            configuring: tokio::sync::Mutex::default(),
            compressing: Arc::default(),
            generation: AtomicU64::new(row.generation),
            touched: AtomicU64::new(0),
            growth: Mutex::default(),
            taken_by: OnceLock::new(),
        }
    }

    /// As it is to be kept where the archive knows nothing of it.
    pub(crate) fn row(&self) -> KeptSession {
        let row = SessionRow {
            generation: self.generation(),
            settings: Some(self.settings().text()),
            snapshot: self.snapshot().blocks.clone(),
            ..SessionRow::new(self.id.clone(), self.profile.clone(), unix_now())
        };
        (row, Some(self.record().row()))
    }

    /// A session belongs to the profile that it was opened with.
    pub(crate) fn check_profile(&self, named: Option<&str>) -> Outcome<()> {
        check_profile(&self.id, &self.profile, named)
    }

    /// Notes that somebody appends to its transcript, until this is dropped.
    pub(crate) fn appending(&self) -> Appending<'_> {
        self.growth().begin_append();
        Appending(self)
    }

    /// How its transcript grows.
    pub(crate) fn growth(&self) -> MutexGuard<'_, Growth> {
        self.growth.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that it is in use; true when that was not noted for a while.
    pub(crate) fn is_touched(&self, now: f64) -> bool {
        let (now, before) = (whole(now), self.touched.load(Ordering::Relaxed));
        let is_due = now.abs_diff(before) >= TOUCH_S;
        is_due && self.touched.compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Whether nobody used it for so many seconds.
    pub(crate) fn is_idle(&self, now: f64, seconds: u64) -> bool {
        let touched = self.touched.load(Ordering::Relaxed);
        touched > 0 && whole(now).saturating_sub(touched) > seconds + TOUCH_S
    }

    /// Another host took it: nobody uses it here from now on.
    pub(crate) fn note_taken(&self, host: &str) {
        // The first one that is heard of is named.
        drop(self.taken_by.set(host.to_owned()));
    }

    /// The host that took it.
    pub(crate) fn taken_by(&self) -> Option<&str> {
        self.taken_by.get().map(String::as_str)
    }

    /// What stands for it in handles: another text for each host that had it, so that none gives a handle twice.
    pub(crate) fn mark(&self) -> String {
        match self.lock_settings().moves {
            Some(moves) => short_hash(&format!("{} {moves}", self.id)),
            None => short_hash(&self.id),
        }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    pub(crate) fn set_generation(&self, generation: u64) {
        self.generation.store(generation, Ordering::Release);
    }

    pub(crate) fn snapshot(&self) -> Arc<Frozen> {
        Arc::clone(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set_snapshot(&self, snapshot: SnapshotRow) {
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Frozen::new(snapshot));
    }

    pub(crate) fn settings(&self) -> SessionSettings {
        self.lock_settings().clone()
    }

    pub(crate) fn set_settings(&self, settings: SessionSettings) {
        *self.lock_settings() = settings;
    }

    /// The window that was said, in tokens.
    pub(crate) fn window(&self) -> Option<u64> {
        self.lock_settings().context_length
    }

    /// The summarizer that was set for it.
    pub(crate) fn summarizer(&self) -> Option<Kind> {
        self.lock_settings().summarizer.as_deref().and_then(Kind::parse)
    }

    /// What its engine remembers.
    pub(crate) fn record(&self) -> MutexGuard<'_, EngineRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the archive note what the engine remembers; nobody waits for it. The summary
    /// is noted with the compression that it belongs to.
    pub(crate) fn post_record(self: &Arc<Self>, archive: &ArchiveHandle) {
        let session = Arc::clone(self);
        archive.post_engine_figures(self.id.clone(), move || session.record().figures());
    }

    /// Its only compression, as long as the guard lives; `None` while another one is running.
    pub(crate) fn begin_compressing(&self) -> Option<OwnedMutexGuard<()>> {
        Arc::clone(&self.compressing).try_lock_owned().ok()
    }

    fn lock_settings(&self) -> MutexGuard<'_, SessionSettings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A time in whole seconds since 1970.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "no clock is before 1970 or goes that far")]
fn whole(time: f64) -> u64 {
    time as u64
}

/// Stands for a session in the names of what was made of it.
pub(super) fn short_hash(session: &str) -> String {
    name::hex(session.as_bytes()).chars().take(DIGITS).collect()
}

/// A session of one profile can't be used under the name of another.
pub(crate) fn check_profile(id: &str, own: &str, named: Option<&str>) -> Outcome<()> {
    match named {
        Some(named) if named != own => {
            Err(Error::Conflict(format!("session {id:?} belongs to the profile {own:?}, not {named:?}")))
        }
        _ => Ok(()),
    }
}

/// The sessions in memory.
#[derive(Debug, Default)]
pub(crate) struct SessionTable {
    known: RwLock<HashMap<String, Arc<Session>>>,
}

impl SessionTable {
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
