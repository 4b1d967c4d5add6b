//! Removal of closed sessions from the archive: when they are too old, or too large together.

use std::sync::Arc;
use std::time::Duration;

use herma_spill::Reason;
use herma_spill::retention::Clock;

use super::session::SessionTable;
use crate::data::error::Outcome;
use crate::data::event::{Event, GoneSession};
use crate::owners::archive::{ArchiveHandle, ClosedSession};
use crate::owners::events::Events;

/// The largest number of bytes that the archive needs per byte of a message, index included. It is 3.4 if all words
/// differ, and less for prose.
const BYTES_FOR_BYTE: u64 = 4;

/// Removes closed sessions from the archive.
#[derive(Debug)]
pub(crate) struct ArchiveRetention {
    /// How long closed sessions are kept; zero means for ever.
    pub ttl: Duration,
    /// The largest size of all sessions, in bytes; 0 means no limit.
    pub quota: u64,
    pub archive: Arc<ArchiveHandle>,
    pub sessions: Arc<SessionTable>,
    /// The receiver of events about removed sessions.
    pub events: Events,
}

/// The sessions removed from the archive in one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Gone {
    sessions: u64,
    messages: u64,
    bytes: u64,
}

impl ArchiveRetention {
    /// Removes whole sessions, those closed first in front. Never removes an open session, or one that an open session
    /// continues.
    pub(crate) async fn collect(&self, clock: Clock) -> Outcome<()> {
        if self.archive.is_in_use() {
            // Finishes the removal that a killed daemon began.
            self.archive.forget_removed().await?;
        }
        if self.ttl.is_zero() && self.quota == 0 {
            return Ok(());
        }
        let mut gone = Gone::default();
        let outcome = self.clear(clock, &mut gone).await;
        if gone.sessions > 0 {
            self.archive.forget_removed().await?;
            let Gone { sessions, messages, bytes } = gone;
            tracing::info!(sessions, messages, bytes, "closed sessions were cleared out of the archive");
        }
        outcome
    }

    async fn clear(&self, clock: Clock, gone: &mut Gone) -> Outcome<()> {
        let closed = self.archive.closed_sessions().await?;
        let closed = closed.into_iter().filter(|session| self.sessions.get(&session.id).is_none());
        // A clock that was set forward must not remove data kept for months.
        let is_old = |session: &ClosedSession| {
            !self.ttl.is_zero() && !clock.is_doubtful() && clock.now() - session.ended_at > self.ttl.as_secs_f64()
        };
        let (old, young): (Vec<_>, Vec<_>) = closed.partition(is_old);
        for session in old {
            self.remove(session, Reason::Ttl, gone).await?;
        }
        let mut young = young.into_iter().peekable();
        while self.quota > 0 && young.peek().is_some() {
            // The words of removed sessions are in the index until they are forgotten.
            self.archive.forget_removed().await?;
            let excess = self.archive.used_bytes().await?.saturating_sub(self.quota);
            if excess == 0 {
                break;
            }
            let mut freed = 0_u64;
            while freed < excess
                && let Some(session) = young.next()
            {
                let removed = self.remove(session, Reason::Quota, gone).await?;
                // The index size of a session's outputs, or of a session without messages, is only known after the next
                // measurement.
                let Some(bytes) = removed.filter(|bytes| *bytes > 0) else { break };
                freed = freed.saturating_add(bytes.saturating_mul(BYTES_FOR_BYTE));
            }
        }
        Ok(())
    }

    /// Removes a session. Returns the bytes of its messages, if it had nothing else.
    async fn remove(&self, session: ClosedSession, reason: Reason, gone: &mut Gone) -> Outcome<Option<u64>> {
        let id = session.id.clone();
        let Some(removed) = self.archive.remove_closed(session).await? else { return Ok(None) };
        gone.sessions += 1;
        gone.messages += removed.messages;
        gone.bytes += removed.bytes;
        let (messages, bytes) = (removed.messages, removed.bytes);
        publish_gone(&self.events, GoneSession { session: id, messages, bytes, reason });
        Ok(removed.output_handles.is_empty().then_some(bytes))
    }
}

/// Publishes that a session was removed.
pub(crate) fn publish_gone(events: &Events, gone: GoneSession) {
    events.publish(Event::SessionExpired(Arc::new(gone)));
}
