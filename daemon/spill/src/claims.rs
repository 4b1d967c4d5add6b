//! Which files are being made or removed right now, so that nobody else does.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};

use crate::handle::Handle;

/// The files that somebody works on, by their folder's name.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    held: Mutex<HashMap<Handle, String>>,
    freed: Condvar,
}

/// A file that nobody else makes or removes until this is dropped.
#[derive(Debug)]
#[must_use = "the claim ends when this is dropped"]
pub(crate) struct Claim<'a> {
    claims: &'a Claims,
    handle: Handle,
}

impl Claims {
    /// Waits until nobody works on the file, then claims it.
    pub(crate) fn wait(&self, handle: Handle, folder: &str) -> Claim<'_> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        while held.contains_key(&handle) {
            held = self.freed.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        held.insert(handle, folder.to_owned());
        Claim { claims: self, handle }
    }

    /// Claims the file, if nobody works on it.
    pub(crate) fn now(&self, handle: Handle, folder: &str) -> Option<Claim<'_>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.contains_key(&handle) {
            return None;
        }
        held.insert(handle, folder.to_owned());
        Some(Claim { claims: self, handle })
    }

    /// Whether somebody works on a file of this folder.
    pub(crate) fn is_busy(&self, folder: &str) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).values().any(|held| held == folder)
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.claims.held.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.handle);
        self.claims.freed.notify_all();
    }
}
