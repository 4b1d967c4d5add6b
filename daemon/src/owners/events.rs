//! Who is told what happens: a bounded broadcast.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::data::event::Event;

/// Events that a subscriber may be behind; one that is slower misses the oldest, which it
/// can tell by the gap in the revisions.
const BACKLOG: usize = 1024;

/// Where events go.
#[derive(Debug, Clone)]
pub(crate) struct Events {
    sender: broadcast::Sender<Event>,
}

impl Default for Events {
    fn default() -> Self {
        Self { sender: broadcast::Sender::new(BACKLOG) }
    }
}

impl Events {
    /// Tells all subscribers.
    pub(crate) fn publish(&self, event: Event) {
        // Nobody listening is no error.
        drop(self.sender.send(event));
    }

    /// Events from now on.
    pub(crate) fn subscribe(&self) -> Subscription {
        Subscription { receiver: self.sender.subscribe() }
    }
}

/// The events since one subscribed.
#[derive(Debug)]
pub(crate) struct Subscription {
    receiver: broadcast::Receiver<Event>,
}

impl Subscription {
    /// The next event, if there is one already.
    pub(crate) fn next_now(&mut self) -> Option<Event> {
        loop {
            match self.receiver.try_recv() {
                Ok(event) => return Some(event),
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
            }
        }
    }

    /// The next event; `None` when there will be none any more.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            match self.receiver.recv().await {
                Ok(event) => return Some(event),
                Err(RecvError::Lagged(missed)) => tracing::info!(missed, "a subscriber is too slow"),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
