//! A place for one value, which one thread fills and another takes when the work is done.
//!
//! Work for another thread puts its result here and is then a closure without a type of its own. A channel for each
//! type of result would be compiled, with the tasks that wait for it, more than a hundred times.

use std::sync::{Arc, Mutex, PoisonError};

/// An empty slot: the end that fills it, and the end that takes.
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

/// What takes the value out of a slot.
#[derive(Debug)]
pub(super) struct Slot<T>(Arc<Mutex<Option<T>>>);

impl<T> Slot<T> {
    /// The value; `None` where the work ended before it had one.
    pub(super) fn take(self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
