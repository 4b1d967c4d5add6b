//! Limits the bytes that all connections hold together.
//!
//! A frame that is larger than a small one takes its whole possible size at once, before the rest is read, and waits
//! until that much is free. If it took its size step by step, two half-read frames could wait for each other for ever.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The free bytes.
#[derive(Debug, Clone)]
pub(crate) struct InFlight {
    kilobytes: Arc<Semaphore>,
    total: u32,
}

/// The share of one frame, until it is answered.
pub(crate) type Share = OwnedSemaphorePermit;

impl InFlight {
    /// Creates a limit of this number of bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let total = kilobytes(bytes);
        Self { kilobytes: Arc::new(Semaphore::new(total as usize)), total }
    }

    /// Whether no large frame is being read or processed.
    pub(crate) fn is_empty(&self) -> bool {
        self.kilobytes.available_permits() >= self.total as usize
    }

    /// Waits for room for a frame of up to `bytes`.
    pub(crate) async fn take(&self, bytes: usize) -> Option<Share> {
        Arc::clone(&self.kilobytes).acquire_many_owned(kilobytes(bytes).min(self.total)).await.ok()
    }
}

/// Returns the part of a share that the frame did not need.
pub(crate) fn shrink(share: &mut Share, bytes: usize) {
    let surplus = share.num_permits().saturating_sub(kilobytes(bytes) as usize);
    drop(share.split(surplus));
}

fn kilobytes(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX >> 4)
}
