//! Notifications about changes in folders.
//!
//! An event is a hint to look, not a proof of a change: it may be late, get lost, or be about the
//! process's own write. So the receiver compares stamps.

use std::collections::HashMap;
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use notify::event::{EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

/// Watches folders.
pub struct Watch {
    changed: Arc<dyn Fn(&Path) + Send + Sync>,
    watcher: Mutex<Option<RecommendedWatcher>>,
    folders: Mutex<HashMap<PathBuf, Folder>>,
}

/// A folder to watch.
#[derive(Debug, Default)]
struct Folder {
    /// Its identity when it was last watched.
    watched: Option<Identity>,
    /// Number of active pauses.
    pauses: usize,
}

/// Device, inode and birth time: a folder that is created again often gets the inode of the old one.
type Identity = (u64, u64, Option<SystemTime>);

impl fmt::Debug for Watch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Watch").field("folders", &self.folders).finish_non_exhaustive()
    }
}

impl Watch {
    /// Calls `changed` with the path of every file that was written, renamed or removed, and with
    /// the path of a removed folder. If the system can't watch, it is never called for events.
    pub fn new(changed: impl Fn(&Path) + Send + Sync + 'static) -> Self {
        let changed: Arc<dyn Fn(&Path) + Send + Sync> = Arc::new(changed);
        let tell = Arc::clone(&changed);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| match event {
            Ok(event) if is_change(event.kind) => event.paths.iter().for_each(|path| tell(path)),
            Ok(_) => {}
            Err(error) => tracing::warn!("events of the file system are lost: {error}"),
        });
        if let Err(error) = &watcher {
            tracing::warn!("changes by other programs are seen at the next request only: {error}");
        }
        Self { changed, watcher: Mutex::new(watcher.ok()), folders: Mutex::default() }
    }

    /// Watches a folder from now on, unless it is already watched or paused. A folder that was
    /// removed and created again has to be watched again. A missing folder is not watched.
    pub fn ensure(&self, folder: &Path) {
        let Ok(metadata) = std::fs::metadata(folder) else { return };
        let identity = Some((metadata.dev(), metadata.ino(), metadata.created().ok()));
        let mut folders = lock(&self.folders);
        let state = folders.entry(folder.to_owned()).or_default();
        if state.watched == identity || state.pauses > 0 {
            return;
        }
        if let Some(watcher) = &mut *lock(&self.watcher) {
            // The old watch ended with the old folder, so there may be none to remove.
            drop(watcher.unwatch(folder));
            if let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive) {
                tracing::warn!("{} is not watched: {error}", folder.display());
            }
        }
        state.watched = identity;
    }

    /// Stops watching a folder until [`Watch::resume`] was called as often. A writer that keeps
    /// writing there checks the folder anyway, and events about its own writes would only cost
    /// time.
    pub fn pause(&self, folder: &Path) {
        let mut folders = lock(&self.folders);
        let state = folders.entry(folder.to_owned()).or_default();
        state.pauses += 1;
        if state.watched.take().is_some()
            && let Some(watcher) = &mut *lock(&self.watcher)
        {
            // A removed folder has no watch any more.
            drop(watcher.unwatch(folder));
        }
    }

    /// Watches a folder again, and reports that it may have changed meanwhile.
    pub fn resume(&self, folder: &Path) {
        let is_last = {
            let mut folders = lock(&self.folders);
            let state = folders.entry(folder.to_owned()).or_default();
            state.pauses = state.pauses.saturating_sub(1);
            state.pauses == 0
        };
        if is_last {
            self.ensure(folder);
            (self.changed)(folder);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ignores access events, which the process's own reads cause, and changes of modes and times.
const fn is_change(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use super::*;
    use crate::file::{Temporary, replace};

    fn wait_for(events: &Receiver<PathBuf>, path: &Path) {
        while events.recv_timeout(Duration::from_secs(10)).unwrap() != path {}
    }

    #[test]
    fn files_that_are_replaced_are_told_also_in_a_folder_that_was_made_anew() {
        let home = tempfile::tempdir().unwrap();
        let (folder, file) = (home.path().join("f"), home.path().join("f/MEMORY.md"));
        let (told, events) = channel();
        let watch = Watch::new(move |path| drop(told.send(path.to_owned())));
        watch.ensure(&folder);
        for text in ["one", "two"] {
            std::fs::create_dir(&folder).unwrap();
            watch.ensure(&folder);
            watch.ensure(&folder);
            replace(&file, text.as_bytes(), Temporary { prefix: ".t", suffix: "" }).unwrap();
            wait_for(&events, &file);
            while events.try_recv().is_ok() {}
            std::fs::remove_dir_all(&folder).unwrap();
            wait_for(&events, &file);
        }
    }

    #[test]
    fn a_pause_ends_with_a_hint() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("MEMORY.md");
        let write = |text: &str| replace(&file, text.as_bytes(), Temporary { prefix: ".t", suffix: "" }).unwrap();
        let (told, events) = channel();
        let watch = Watch::new(move |path| drop(told.send(path.to_owned())));
        watch.ensure(home.path());
        write("one");
        wait_for(&events, &file);
        watch.pause(home.path());
        watch.pause(home.path());
        while events.try_recv().is_ok() {}
        write("two");
        watch.resume(home.path());
        watch.ensure(home.path());
        assert_eq!(events.try_recv().ok(), None);
        watch.resume(home.path());
        assert_eq!(events.try_recv().ok().as_deref(), Some(home.path()));
        write("three");
        wait_for(&events, &file);
    }
}
