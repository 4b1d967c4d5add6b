//! What connections are told without asking.

use std::collections::BTreeSet;

use herma_memory::{Action, Event, Target};
use herma_protocol::Topic;
use herma_protocol::notification::{
    Cause, CompressionDone, CompressionProgress, MemoryChanged, Notification, OutputExpired,
};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::wire::handler::wire_target;

/// Notifications that a connection may be behind; one that is slower misses the
/// oldest, which it can tell by the gap in the revisions.
const BACKLOG: usize = 1024;

/// Where notifications go.
#[derive(Debug, Clone)]
pub(crate) struct Events {
    sender: broadcast::Sender<Notification>,
}

impl Default for Events {
    fn default() -> Self {
        Self { sender: broadcast::Sender::new(BACKLOG) }
    }
}

impl Events {
    /// Tells whoever wants to know that a store has a new revision.
    pub(crate) fn memory_changed(&self, profile: &str, target: Target, event: Event) {
        let changed = MemoryChanged {
            profile: profile.to_owned(),
            target: wire_target(target),
            revision: event.revision,
            cause: match event.action {
                Action::External => Cause::External,
                Action::Undo => Cause::Undo,
                Action::Restore => Cause::Restore,
                _ => Cause::Write,
            },
            session: event.session,
        };
        // Nobody listening is no error.
        drop(self.sender.send(Notification::MemoryChanged(changed)));
    }

    /// Tells whoever wants to know that an output is gone.
    pub(crate) fn output_expired(&self, expired: OutputExpired) {
        drop(self.sender.send(Notification::OutputExpired(expired)));
    }

    /// Tells whoever wants to know how far a compression is.
    pub(crate) fn compression_progress(&self, progress: CompressionProgress) {
        drop(self.sender.send(Notification::CompressionProgress(progress)));
    }

    /// Tells whoever wants to know that a compression is over.
    pub(crate) fn compression_done(&self, done: CompressionDone) {
        drop(self.sender.send(Notification::CompressionDone(Box::new(done))));
    }

    /// Notifications of these topics from now on.
    pub(crate) fn subscribe(&self, topics: BTreeSet<Topic>) -> Subscription {
        Subscription { topics, receiver: self.sender.subscribe() }
    }
}

/// What one connection wants to be told.
#[derive(Debug)]
pub(crate) struct Subscription {
    topics: BTreeSet<Topic>,
    receiver: broadcast::Receiver<Notification>,
}

impl Subscription {
    /// The next notification, if there is one already.
    pub(crate) fn next_now(&mut self) -> Option<Notification> {
        loop {
            match self.receiver.try_recv() {
                Ok(notification) if self.topics.contains(&notification.topic()) => return Some(notification),
                Ok(_) | Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
            }
        }
    }

    /// The next notification; `None` when there will be none any more.
    pub(crate) async fn next(&mut self) -> Option<Notification> {
        loop {
            match self.receiver.recv().await {
                Ok(notification) if self.topics.contains(&notification.topic()) => return Some(notification),
                Ok(_) => {}
                Err(RecvError::Lagged(missed)) => tracing::info!(missed, "a subscriber is too slow"),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
