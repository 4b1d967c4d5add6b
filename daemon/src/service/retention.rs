//! Removal of outputs: on request, from time to time, and when they exceed the quota.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use herma_spill::Outputs;
use herma_spill::outputs::{Collected, Expired};
use herma_spill::retention::{Clock, Retention, SessionState};

use super::archive_retention::ArchiveRetention;
use super::recall_index::IndexNotes;
use super::session::SessionTable;
use super::spilled_outputs::SpilledOutputs;
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::data::event::Event;
use crate::owners::archive::ArchiveHandle;
use crate::owners::blocking::blocking;
use crate::owners::events::Events;

/// How often outputs that are too old are removed.
const EVERY: Duration = Duration::from_mins(10);

/// How long after the start that happens for the first time.
const FIRST: Duration = Duration::from_mins(1);

/// Removed outputs that are not in the log yet. With a full quota every spill removes others, and a line for each of
/// them would fill the log.
#[derive(Debug, Default)]
pub(crate) struct RemovalLog {
    outputs: usize,
    bytes: u64,
    logged: Option<Instant>,
}

impl RemovalLog {
    fn add(&mut self, collected: &Collected) {
        self.outputs += collected.expired.len();
        self.bytes = self.bytes.saturating_add(collected.freed_bytes);
    }

    /// Returns the sums to log now and resets them; none within [`EVERY`] of the last line.
    fn due(&mut self, now: Instant) -> Option<(usize, u64)> {
        if self.outputs == 0 || self.logged.is_some_and(|logged| now.duration_since(logged) < EVERY) {
            return None;
        }
        let reset = Self { logged: Some(now), ..Self::default() };
        let Self { outputs, bytes, .. } = std::mem::replace(self, reset);
        Some((outputs, bytes))
    }
}

/// Removes outputs.
#[derive(Debug)]
pub(crate) struct RetentionService {
    pub limits: Retention,
    pub outputs: Arc<SpilledOutputs>,
    pub sessions: Arc<SessionTable>,
    pub archive: Arc<ArchiveHandle>,
    pub index: Arc<IndexNotes>,
    /// Removes closed sessions from the archive.
    pub archived: ArchiveRetention,
    pub events: Events,
    pub removals: Mutex<RemovalLog>,
    /// The time at which the daemon started.
    pub started: Instant,
    /// The same time by the wall clock, in Unix seconds.
    pub started_at: f64,
}

impl RetentionService {
    /// Removes leftovers of a killed daemon.
    pub(crate) async fn sweep(&self) {
        let outputs = Arc::clone(&self.outputs.kept);
        let swept = blocking("tidying up the outputs", move || outputs.sweep(unix_now()).map_err(Error::from));
        match swept.await {
            Ok(swept) => tracing::debug!(?swept, "the outputs are tidied up"),
            Err(error) => tracing::warn!("leftovers stay: {error}"),
        }
        self.log_notices();
    }

    /// Removes outputs from time to time, for as long as it is polled.
    pub(crate) async fn keep_looking(&self) {
        let mut pause = FIRST;
        loop {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.outputs.over_quota.notified() => {}
            }
            pause = EVERY;
            if let Err(error) = self.collect(false).await {
                tracing::warn!("outputs could not be cleared away: {error}");
            }
            self.log_removals(None);
            self.index.look_again();
            if let Err(error) = self.archived.collect(self.clock(&self.outputs.kept)).await {
                tracing::warn!("the archive could not be cleared: {error}");
            }
            if let Err(error) = self.archive.end_orphans().await {
                tracing::warn!("orphaned sessions stay open: {error}");
            }
        }
    }

    /// Removes outputs that are too old or too many. With `dry_run`, only returns them.
    pub(crate) async fn collect(&self, dry_run: bool) -> Outcome<Collected> {
        // Without the archive, it is unknown which sessions have ended.
        let endings = match self.archive.session_endings().await {
            Ok(endings) => Some(endings.into_iter().collect::<HashMap<String, Option<f64>>>()),
            Err(error) => {
                tracing::warn!("outputs of all sessions count as in use: {error}");
                None
            }
        };
        let (outputs, sessions) = (Arc::clone(&self.outputs.kept), Arc::clone(&self.sessions));
        let retention = self.limits;
        let clock = self.clock(&outputs);
        let collected = blocking("output.gc", move || {
            let session = |id: &str| match &endings {
                None => SessionState::Open,
                Some(_) if sessions.get(id).is_some() => SessionState::Open,
                Some(endings) => match endings.get(id) {
                    None => SessionState::Unknown,
                    Some(None) => SessionState::Open,
                    Some(Some(ended_at)) => SessionState::Closed { ended_at: *ended_at },
                },
            };
            outputs.collect(session, retention, clock, dry_run).map_err(Error::from)
        })
        .await?;
        self.log_notices();
        for failure in &collected.failures {
            tracing::warn!("an output stays although its time is over: {failure}");
        }
        if !dry_run && !collected.expired.is_empty() {
            self.log_removals(Some(&collected));
            let handles = collected.expired.iter().map(|gone| gone.handle.to_string()).collect();
            self.archive.post_forgotten_outputs(handles);
            publish_expired(&self.events, &collected.expired);
        }
        Ok(collected)
    }

    /// Logs the removed outputs of this run and of earlier ones that were not logged yet.
    fn log_removals(&self, collected: Option<&Collected>) {
        let mut removals = self.removals.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(collected) = collected {
            removals.add(collected);
        }
        if let Some((outputs, bytes)) = removals.due(Instant::now()) {
            tracing::info!(outputs, bytes, "outputs were cleared away");
        }
    }

    /// Logs the notices of the catalog of outputs.
    fn log_notices(&self) {
        for notice in self.outputs.kept.take_notices() {
            tracing::warn!("outputs: {notice}");
        }
    }

    fn clock(&self, outputs: &Outputs) -> Clock {
        Clock {
            wall: unix_now(),
            started_wall: self.started_at,
            monotonic_since_start: self.started.elapsed().as_secs_f64(),
            last_seen: outputs.last_seen(),
        }
    }
}

/// Publishes which outputs were removed.
pub(crate) fn publish_expired<'a>(events: &Events, expired: impl IntoIterator<Item = &'a Expired>) {
    for gone in expired {
        events.publish(Event::OutputExpired(Arc::new(gone.clone())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removals_are_logged_at_once_and_then_every_ten_minutes() {
        let (mut removals, began) = (RemovalLog::default(), Instant::now());
        let mut logged = Vec::new();
        assert_eq!(removals.due(began), None);
        for second in 0..2_000_u64 {
            removals.outputs += 1;
            removals.bytes += 10;
            logged.extend(removals.due(began + Duration::from_secs(second)));
        }
        assert_eq!(logged, [(1, 10), (600, 6_000), (600, 6_000), (600, 6_000)]);
        assert_eq!((removals.outputs, removals.bytes), (199, 1_990));
    }
}
