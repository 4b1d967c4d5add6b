//! Locks for the files that are being written or removed right now.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};

use crate::handle::Handle;

/// The locked files, with the names of their folders.
#[derive(Debug, Default)]
pub(crate) struct PathLocks {
    held: Mutex<HashMap<Handle, String>>,
    freed: Condvar,
}

/// A file that no other thread writes or removes until this is dropped.
#[derive(Debug)]
#[must_use = "the lock ends when this is dropped"]
pub(crate) struct PathLock<'a> {
    path_locks: &'a PathLocks,
    handle: Handle,
}

impl PathLocks {
    /// Waits until no other thread works on the file, then locks it.
    pub(crate) fn wait(&self, handle: Handle, folder: &str) -> PathLock<'_> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        while held.contains_key(&handle) {
            held = self.freed.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        held.insert(handle, folder.to_owned());
        PathLock { path_locks: self, handle }
    }

    /// Locks the file, if no other thread works on it.
    pub(crate) fn now(&self, handle: Handle, folder: &str) -> Option<PathLock<'_>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.contains_key(&handle) {
            return None;
        }
        held.insert(handle, folder.to_owned());
        Some(PathLock { path_locks: self, handle })
    }

    /// Runs `work` while no thread works on a file of this folder, or begins to. Returns `None` if one does.
    pub(crate) fn while_free<T>(&self, folder: &str, work: impl FnOnce() -> T) -> Option<T> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let is_busy = held.values().any(|held| held == folder);
        (!is_busy).then(work)
    }

    /// Whether a thread works on a file of this folder.
    pub(crate) fn is_busy(&self, folder: &str) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).values().any(|held| held == folder)
    }
}

impl Drop for PathLock<'_> {
    fn drop(&mut self) {
        self.path_locks.held.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.handle);
        self.path_locks.freed.notify_all();
    }
}
