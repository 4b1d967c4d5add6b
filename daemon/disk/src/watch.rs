//! Tells when something in a folder changed.
//!
//! An event is a hint to look, never a reason to believe: events can be late, be
//! lost, or be about one's own writes. So whoever is told compares stamps.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use notify::event::{EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

/// Watches folders.
#[derive(Debug)]
pub struct Watch {
    watcher: Mutex<Option<RecommendedWatcher>>,
    /// The folders and which device and inode they were when they were last watched.
    watched: Mutex<HashMap<PathBuf, (u64, u64)>>,
}

impl Watch {
    /// Calls `changed` with the path of every file that was written, renamed or
    /// removed, and of its folder when that is gone. Where the system can't watch,
    /// nothing is ever told.
    pub fn new(changed: impl Fn(&Path) + Send + 'static) -> Self {
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| match event {
            Ok(event) if is_change(event.kind) => event.paths.iter().for_each(|path| changed(path)),
            Ok(_) => {}
            Err(error) => tracing::warn!("events of the file system are lost: {error}"),
        });
        if let Err(error) = &watcher {
            tracing::warn!("changes by other programs are seen at the next request only: {error}");
        }
        Self { watcher: Mutex::new(watcher.ok()), watched: Mutex::default() }
    }

    /// Watches a folder from now on, unless it is watched already. One that was
    /// removed and made again has to be watched again. A missing one is not
    /// watched.
    pub fn ensure(&self, folder: &Path) {
        let Ok(metadata) = std::fs::metadata(folder) else { return };
        let identity = (metadata.dev(), metadata.ino());
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.get(folder) == Some(&identity) {
            return;
        }
        if let Some(watcher) = &mut *self.watcher.lock().unwrap_or_else(PoisonError::into_inner) {
            // The old watch went with the old folder; there may be none to take off.
            drop(watcher.unwatch(folder));
            if let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive) {
                tracing::warn!("{} is not watched: {error}", folder.display());
            }
        }
        watched.insert(folder.to_owned(), identity);
    }
}

/// One's own reading raises access events; modes and times are no content.
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
}
