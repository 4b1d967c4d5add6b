//! The limit of lines in progress.

use std::sync::{Condvar, Mutex, PoisonError};

/// The most bytes of lines in progress. A single line is always allowed.
const BYTES: usize = 256 << 20;

/// The lines in progress: read and not yet written, in any order.
#[derive(Debug)]
pub(super) struct Window {
    most: usize,
    held: Mutex<Held>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Held {
    lines: usize,
    bytes: usize,
    is_closed: bool,
}

impl Window {
    /// Creates a window for so many lines.
    pub(super) fn new(most: usize) -> Self {
        Self { most, held: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits until a line may enter. Returns false if the window is closed.
    pub(super) fn enter(&self, bytes: usize) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |held: &mut Held| {
            !held.is_closed && held.lines > 0 && (held.lines >= self.most || held.bytes + bytes > BYTES)
        };
        let mut held = self.changed.wait_while(held, is_full).unwrap_or_else(PoisonError::into_inner);
        held.lines += 1;
        held.bytes += bytes;
        !held.is_closed
    }

    /// Removes a line that was written.
    pub(super) fn leave(&self, bytes: usize) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.lines = held.lines.saturating_sub(1);
        held.bytes = held.bytes.saturating_sub(bytes);
        drop(held);
        self.changed.notify_all();
    }

    /// Closes the window, so that no line may enter.
    pub(super) fn close(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).is_closed = true;
        self.changed.notify_all();
    }
}
