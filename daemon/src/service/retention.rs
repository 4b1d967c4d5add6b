//! When outputs go: asked for, from time to time, and when they become too many.

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

/// How often it is looked for outputs that are too old.
const EVERY: Duration = Duration::from_mins(10);

/// How long after the start it is looked for the first time.
const FIRST: Duration = Duration::from_mins(1);

/// Outputs that went since the log was told. With a full quota each spill has others go: a line for each would fill the log.
#[derive(Debug, Default)]
pub(crate) struct Gone {
    sums: Mutex<Sums>,
}

#[derive(Debug, Default)]
struct Sums {
    outputs: usize,
    bytes: u64,
    told: Option<Instant>,
}

impl Gone {
    fn add(&self, collected: &Collected) {
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        sums.outputs += collected.expired.len();
        sums.bytes = sums.bytes.saturating_add(collected.freed_bytes);
    }

    /// Tells the log, unless it was told just now; what is added meanwhile is told the next time.
    fn tell(&self) {
        let due = self.sums.lock().unwrap_or_else(PoisonError::into_inner).due(Instant::now());
        if let Some((outputs, bytes)) = due {
            tracing::info!(outputs, bytes, "outputs were cleared away");
        }
    }
}

impl Sums {
    /// What is to be told now, which begins new sums.
    fn due(&mut self, now: Instant) -> Option<(usize, u64)> {
        if self.outputs == 0 || self.told.is_some_and(|told| now.duration_since(told) < EVERY) {
            return None;
        }
        let told = Self { told: Some(now), ..Self::default() };
        let Self { outputs, bytes, .. } = std::mem::replace(self, told);
        Some((outputs, bytes))
    }
}

/// Clears away outputs.
#[derive(Debug)]
pub(crate) struct RetentionService {
    pub limits: Retention,
    pub outputs: Arc<SpilledOutputs>,
    pub sessions: Arc<SessionTable>,
    pub archive: Arc<ArchiveHandle>,
    pub index: Arc<IndexNotes>,
    /// The same for the archive.
    pub archived: ArchiveRetention,
    pub events: Events,
    /// What the log is still to be told.
    pub gone: Gone,
    /// When the daemon started.
    pub started: Instant,
    /// The same by the clock on the wall, in Unix seconds.
    pub started_at: f64,
}

impl RetentionService {
    /// Tidies up what a killed daemon left.
    pub(crate) async fn sweep(&self) {
        let outputs = Arc::clone(&self.outputs.kept);
        let swept = blocking("tidying up the outputs", move || outputs.sweep(unix_now()).map_err(Error::from));
        match swept.await {
            Ok(swept) => tracing::debug!(?swept, "the outputs are tidied up"),
            Err(error) => tracing::warn!("leftovers stay: {error}"),
        }
        self.log_notices();
    }

    /// Looks from time to time, for as long as it is polled.
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
            self.gone.tell();
            self.index.look_again();
            if let Err(error) = self.archived.collect(self.clock(&self.outputs.kept)).await {
                tracing::warn!("the archive could not be cleared: {error}");
            }
            if let Err(error) = self.archive.end_orphans().await {
                tracing::warn!("orphaned sessions stay open: {error}");
            }
        }
    }

    /// Clears away the outputs that are too old or too many, or says which those are.
    pub(crate) async fn collect(&self, dry_run: bool) -> Outcome<Collected> {
        // Without an archive nobody knows which sessions have ended.
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
            self.gone.add(&collected);
            self.gone.tell();
            let handles = collected.expired.iter().map(|gone| gone.handle.to_string()).collect();
            self.archive.post_forgotten_outputs(handles);
            publish_expired(&self.events, &collected.expired);
        }
        Ok(collected)
    }

    /// Puts into the log what the catalog of outputs has to say.
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

/// Tells subscribers which outputs are gone.
pub(crate) fn publish_expired<'a>(events: &Events, expired: impl IntoIterator<Item = &'a Expired>) {
    for gone in expired {
        events.publish(Event::OutputExpired(Arc::new(gone.clone())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_told_at_once_and_then_from_time_to_time() {
        let (mut sums, began) = (Sums::default(), Instant::now());
        let mut told = Vec::new();
        assert_eq!(sums.due(began), None);
        for second in 0..2_000_u64 {
            sums.outputs += 1;
            sums.bytes += 10;
            told.extend(sums.due(began + Duration::from_secs(second)));
        }
        assert_eq!(told, [(1, 10), (600, 6_000), (600, 6_000), (600, 6_000)]);
        assert_eq!((sums.outputs, sums.bytes), (199, 1_990));
    }
}
