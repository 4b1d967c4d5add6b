//! Returns unused memory to the system when the daemon is idle.

use std::time::Duration;

use herma_disk::process::{cpu_time, resident_bytes};
use tokio::time::sleep;

use super::services::Services;
use crate::owners::blocking::on_thread;

/// How often the memory is measured.
const LOOK: Duration = Duration::from_secs(2);

/// The resident size below which nothing is done, in bytes.
const LITTLE: u64 = 16 << 20;

/// The largest difference between two measurements of an idle daemon, in bytes.
const STEADY: u64 = 1 << 20;

/// The largest processor time between two measurements of an idle daemon.
const LITTLE_WORK: Duration = Duration::from_millis(100);

/// The smallest growth since memory was last returned, in bytes.
const GROWN: u64 = 4 << 20;

/// Returns memory after work that needed much, for as long as it is polled.
pub(super) async fn keep_small(services: &Services) {
    let mut after = 0;
    let mut before = 0;
    let mut used = cpu_time();
    loop {
        sleep(LOOK).await;
        let now = resident_bytes();
        // During work, also that of the index, the size keeps changing or the processor is busy.
        let busy = cpu_time().saturating_sub(used);
        let is_calm = now.abs_diff(before) < STEADY && busy < LITTLE_WORK && services.connections.in_flight.is_empty();
        before = now;
        used += busy;
        after = after.min(now);
        if is_worth_it(now, after) && is_calm {
            services.archive.release_cached_memory().await;
            let _: Option<()> = on_thread(trim).await;
            after = resident_bytes();
            before = after;
            used = cpu_time();
            tracing::debug!(before = now, after, "memory was given back");
        }
    }
}

fn trim() {
    herma_context::free_search_caches();
    herma_heap::trim();
}

/// Whether the resident size is worth the work, given the size that remained the last time.
fn is_worth_it(now: u64, after: u64) -> bool {
    now > LITTLE && now >= after.saturating_add(GROWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_left_alone_and_so_is_what_would_not_shrink() {
        for (now, after, expected) in [
            (LITTLE, 0, false),
            (LITTLE + 1, 0, true),
            (40 << 20, 38 << 20, false),
            (40 << 20, 36 << 20, true),
            (40 << 20, 60 << 20, false),
        ] {
            assert_eq!(is_worth_it(now, after), expected, "{now} {after}");
        }
    }
}
