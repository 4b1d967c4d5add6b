//! The served memory files. One request at a time uses the files of a profile. When another program changes them, they
//! are read again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use herma_disk::folder;
use herma_disk::watch::Watch;
use herma_guard::Policy;
use herma_memory::files::{FileLimits, FileStore};
use tokio::runtime::Handle;
use tokio::sync::{Mutex as Turns, OwnedMutexGuard};

use super::blocking::blocking;
use super::events::Events;
use crate::data::config::Config;
use crate::data::error::{Error, Outcome};
use crate::data::event::{Event, FilesChange};
use crate::data::profiles::Profiles;

/// The number of profiles whose files are served at the same time.
const MOST: usize = 512;

/// The number of folders of a profile that are watched. A change in any other folder is seen at the next request.
const WATCHED: usize = 200;

/// How long changes by other programs are gathered before the files are read again.
const GATHER: Duration = Duration::from_millis(30);

/// The memory files of all profiles.
#[derive(Debug)]
pub(crate) struct MemoryFiles {
    profiles: Profiles,
    root: PathBuf,
    journals: PathBuf,
    limits: FileLimits,
    policy: Arc<Policy>,
    events: Events,
    served: Arc<Table>,
    watch: Arc<Watch>,
    /// The runtime for reads that no request started.
    runtime: Arc<OnceLock<Handle>>,
}

/// The served files, by profile.
type Table = Mutex<HashMap<String, Arc<Served>>>;

/// The files of a profile.
#[derive(Debug)]
struct Served {
    profile: String,
    root: PathBuf,
    /// A request that waits for its turn occupies no thread.
    store: Arc<Turns<Store>>,
    events: Events,
    watch: Arc<Watch>,
    /// Whether a read is already scheduled.
    is_due: AtomicBool,
}

/// The files, and whether an operation on them has begun and not finished.
#[derive(Debug)]
struct Store {
    files: FileStore,
    is_at_work: bool,
}

impl MemoryFiles {
    /// Creates the memory files of the configured home. Their changes are published.
    pub(crate) fn new(config: &Config, events: Events) -> Self {
        let served: Arc<Table> = Arc::default();
        let runtime: Arc<OnceLock<Handle>> = Arc::default();
        let (watched, looks) = (Arc::clone(&served), Arc::clone(&runtime));
        Self {
            profiles: Profiles::of(&config.home),
            root: config.home.join("herma/files"),
            journals: config.home.join("herma/journal"),
            limits: config.files.limits(config.memory.journal_revisions),
            policy: Arc::clone(&config.guard.severity),
            events,
            served,
            watch: Arc::new(Watch::new(move |path| hint(&watched, &looks, path))),
            runtime,
        }
    }

    /// Returns the limits of the files.
    pub(crate) const fn limits(&self) -> FileLimits {
        self.limits
    }

    /// Returns the guard's policy.
    pub(crate) const fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// Works with the files of a profile, on a thread where only other requests for the same files wait.
    pub(crate) async fn with<T: Send + 'static>(
        &self,
        profile: &str,
        work: impl FnOnce(&mut FileStore) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        self.runtime.get_or_init(Handle::current);
        self.get(profile)?.with(work).await
    }

    /// Serves the files of all profiles that have any, so that edits by other programs are noticed even before the
    /// first request.
    pub(crate) fn serve_all(&self) {
        self.runtime.get_or_init(Handle::current);
        for profile in folder::names(&self.root).unwrap_or_default() {
            if let Ok(served) = self.get(&profile) {
                self.watch.ensure(&served.root);
                hint(&self.served, &self.runtime, &served.root);
            }
        }
    }

    /// Notes in all journals that everything is in its place, except for files that are still in use.
    pub(crate) fn close(&self) {
        let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        served.values().for_each(|files| files.close());
    }

    fn get(&self, profile: &str) -> Outcome<Arc<Served>> {
        let existing = self.profiles.existing(profile);
        let mut table = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = existing {
            table.remove(profile);
            return Err(error);
        }
        if let Some(served) = table.get(profile) {
            return Ok(Arc::clone(served));
        }
        if table.len() >= MOST
            && let Some(idle) = table.values().find(|served| Arc::strong_count(served) == 1).cloned()
        {
            idle.close();
            table.remove(&idle.profile);
        }
        if table.len() >= MOST {
            return Err(Error::overloaded("the daemon, which serves as many profiles as it can,"));
        }
        let root = self.root.join(profile);
        let journal = self.journals.join(profile).join("files.jsonl");
        let store = FileStore::new(root.clone(), journal, self.limits, Arc::clone(&self.policy));
        let served = Arc::new(Served {
            profile: profile.to_owned(),
            root,
            store: Arc::new(Turns::new(Store { files: store, is_at_work: false })),
            events: self.events.clone(),
            watch: Arc::clone(&self.watch),
            is_due: AtomicBool::new(false),
        });
        table.insert(profile.to_owned(), Arc::clone(&served));
        Ok(served)
    }
}

impl Served {
    async fn with<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&mut FileStore) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let turn = Arc::clone(&self.store).lock_owned().await;
        blocking("files", move || self.work(turn, work)).await
    }

    fn work<T>(&self, mut turn: OwnedMutexGuard<Store>, work: impl FnOnce(&mut FileStore) -> Outcome<T>) -> Outcome<T> {
        let Store { files, is_at_work } = &mut *turn;
        if std::mem::replace(is_at_work, true) {
            // The previous operation panicked, so the state in memory may be incomplete.
            files.reset();
        }
        // From now on the watch reports changes, and earlier changes are found by reading.
        self.watch.ensure(&self.root);
        let done = work(files);
        self.tell(files);
        *is_at_work = false;
        done
    }

    fn close(&self) {
        if let Ok(mut store) = self.store.try_lock()
            && let Err(error) = store.files.flush()
        {
            tracing::warn!(profile = self.profile, "the journal of memory files is not closed: {error}");
        }
    }

    /// Publishes new revisions, and watches new folders.
    fn tell(&self, store: &mut FileStore) {
        let events = store.take_events();
        if !events.is_empty() {
            store.folders().iter().take(WATCHED).for_each(|folder| self.watch.ensure(folder));
        }
        for event in events {
            self.events.publish(Event::FilesChanged(Arc::new(FilesChange {
                profile: self.profile.clone(),
                revision: event.revision,
                action: event.action,
                paths: event.paths,
                session: event.session,
                agent: event.agent,
            })));
        }
    }
}

/// Schedules a read of the files that a change of this path concerns.
fn hint(table: &Arc<Table>, runtime: &OnceLock<Handle>, path: &Path) {
    let Some(runtime) = runtime.get() else { return };
    let concerned: Vec<Arc<Served>> = {
        let table = table.lock().unwrap_or_else(PoisonError::into_inner);
        table.values().filter(|served| path.starts_with(&served.root)).cloned().collect()
    };
    for served in concerned {
        if served.is_due.swap(true, Ordering::AcqRel) {
            continue;
        }
        drop(runtime.spawn(async move {
            tokio::time::sleep(GATHER).await;
            served.is_due.store(false, Ordering::Release);
            if let Err(error) = served.with(|store| store.view().map(drop).map_err(Error::from)).await {
                tracing::debug!("memory files that changed can't be looked at: {error}");
            }
        }));
    }
}
