//! A slot for one value. One thread fills it, and another takes the value when the work is done.
//!
//! Work for another thread puts its result here, so that its closure needs no type of its own. Otherwise a channel for
//! each type of result, with the tasks that wait for it, would be compiled more than a hundred times.

use std::sync::{Arc, Mutex, PoisonError};

/// Creates an empty slot. Returns the end that fills it, and the end that takes the value.
pub(super) fn slot<T>() -> (Filler<T>, Slot<T>) {
    let value = Arc::new(Mutex::new(None));
    (Filler(Arc::clone(&value)), Slot(value))
}

/// Fills a slot once.
#[derive(Debug)]
pub(super) struct Filler<T>(Arc<Mutex<Option<T>>>);

impl<T> Filler<T> {
    pub(super) fn fill(self, value: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }
}

/// Takes the value out of a slot.
#[derive(Debug)]
pub(super) struct Slot<T>(Arc<Mutex<Option<T>>>);

impl<T> Slot<T> {
    /// Returns the value; `None` if the work ended without one.
    pub(super) fn take(self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
