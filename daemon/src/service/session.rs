//! Sessions in use: their snapshots and their engines' records.

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

/// The number of sessions that are kept in memory. Above it, sessions not in use are dropped, and read from the archive
/// at the next request.
const IN_MEMORY: usize = 4096;

/// The interval at which the use of a session is noted again, in seconds.
const TOUCH_S: u64 = 60;

/// The number of hex digits that identify a session in names.
const DIGITS: usize = 12;

/// One session.
#[derive(Debug)]
pub(crate) struct Session {
    /// Its id.
    pub id: String,
    /// The profile it belongs to.
    pub profile: String,
    /// The snapshot from when it was opened or last refreshed.
    snapshot: RwLock<Arc<Frozen>>,
    /// Its current settings.
    settings: Mutex<SessionSettings>,
    /// The record of its engine.
    record: Mutex<EngineRecord>,
    /// Held while its settings are read, changed and stored.
    pub configuring: tokio::sync::Mutex<()>,
    /// Held during a compression.
    compressing: Arc<tokio::sync::Mutex<()>>,
    generation: AtomicU64,
    /// The last noted time of use, in Unix seconds.
    touched: AtomicU64,
    /// The growth of its transcript.
    growth: Mutex<Growth>,
    /// The host that took it over, once one did.
    taken_by: OnceLock<String>,
}

/// An append to a session's transcript in progress.
pub(crate) struct Appending<'a>(&'a Session);

impl Drop for Appending<'_> {
    fn drop(&mut self) {
        self.0.growth().end_append();
    }
}

impl Session {
    /// Creates a session from its stored form.
    pub(crate) fn kept((row, engine): KeptSession) -> Self {
        Self::going_on(row, engine.map(EngineRecord::read).unwrap_or_default())
    }

    /// Creates a session that continues with this engine record.
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

    /// Returns its stored form, for an archive that does not have it.
    pub(crate) fn row(&self) -> KeptSession {
        let row = SessionRow {
            generation: self.generation(),
            settings: Some(self.settings().text()),
            snapshot: self.snapshot().blocks.clone(),
            ..SessionRow::new(self.id.clone(), self.profile.clone(), unix_now())
        };
        (row, Some(self.record().row()))
    }

    /// Checks the profile of a request. A session belongs to the profile with which it was opened.
    pub(crate) fn check_profile(&self, named: Option<&str>) -> Outcome<()> {
        check_profile(&self.id, &self.profile, named)
    }

    /// Notes that an append is in progress until the guard is dropped.
    pub(crate) fn appending(&self) -> Appending<'_> {
        self.growth().begin_append();
        Appending(self)
    }

    /// Returns the growth of its transcript.
    pub(crate) fn growth(&self) -> MutexGuard<'_, Growth> {
        self.growth.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that it is in use. Returns true if that was not noted for a while.
    pub(crate) fn is_touched(&self, now: f64) -> bool {
        let (now, before) = (whole(now), self.touched.load(Ordering::Relaxed));
        let is_due = now.abs_diff(before) >= TOUCH_S;
        is_due && self.touched.compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Whether it was not used for this number of seconds.
    pub(crate) fn is_idle(&self, now: f64, seconds: u64) -> bool {
        let touched = self.touched.load(Ordering::Relaxed);
        touched > 0 && whole(now).saturating_sub(touched) > seconds + TOUCH_S
    }

    /// Notes that another host took it over. It must not be used here from now on.
    pub(crate) fn note_taken(&self, host: &str) {
        // The first known host is kept.
        drop(self.taken_by.set(host.to_owned()));
    }

    /// Returns the host that took it over.
    pub(crate) fn taken_by(&self) -> Option<&str> {
        self.taken_by.get().map(String::as_str)
    }

    /// Returns its mark in handles. It differs on each host that had the session, so that no handle is given twice.
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

    /// Returns its configured window, in tokens.
    pub(crate) fn window(&self) -> Option<u64> {
        self.lock_settings().context_length
    }

    /// Returns its configured summarizer.
    pub(crate) fn summarizer(&self) -> Option<Kind> {
        self.lock_settings().summarizer.as_deref().and_then(Kind::parse)
    }

    /// Returns the record of its engine.
    pub(crate) fn record(&self) -> MutexGuard<'_, EngineRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the engine's record in the archive without waiting. The summary is stored with its compression instead.
    pub(crate) fn post_record(self: &Arc<Self>, archive: &ArchiveHandle) {
        let session = Arc::clone(self);
        archive.post_engine_figures(self.id.clone(), move || session.record().figures());
    }

    /// Begins its only compression, which lasts until the guard is dropped; `None` while another one is running.
    pub(crate) fn begin_compressing(&self) -> Option<OwnedMutexGuard<()>> {
        Arc::clone(&self.compressing).try_lock_owned().ok()
    }

    fn lock_settings(&self) -> MutexGuard<'_, SessionSettings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a time in whole seconds since 1970.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "no clock is before 1970 or goes that far")]
fn whole(time: f64) -> u64 {
    time as u64
}

/// Returns a short hash of a session, for the names of its artifacts.
pub(super) fn short_hash(session: &str) -> String {
    name::hex(session.as_bytes()).chars().take(DIGITS).collect()
}

/// Checks the profile of a request. A session of one profile can't be used under the name of another.
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

    /// Adds a session, unless one with its id exists. Returns the one in the table.
    pub(crate) fn insert(&self, session: Session) -> Arc<Session> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= IN_MEMORY {
            known.retain(|_, session| Arc::strong_count(session) > 1);
        }
        Arc::clone(known.entry(session.id.clone()).or_insert_with(|| Arc::new(session)))
    }

    /// Returns all sessions.
    pub(crate) fn all(&self) -> Vec<Arc<Session>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    pub(crate) fn forget(&self, id: &str) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}
