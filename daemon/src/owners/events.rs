//! A bounded broadcast of events.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::data::event::Event;

/// How many events a subscriber may lag. A slower one misses the oldest, which it notices through the gap in the
/// revisions.
const BACKLOG: usize = 1024;

/// The sending end of the broadcast.
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
    /// Sends an event to all subscribers.
    pub(crate) fn publish(&self, event: Event) {
        // It is no error if there are no subscribers.
        drop(self.sender.send(event));
    }

    /// Returns a subscription to the events from now on.
    pub(crate) fn subscribe(&self) -> Subscription {
        Subscription { receiver: self.sender.subscribe() }
    }
}

/// The events since the subscription began.
#[derive(Debug)]
pub(crate) struct Subscription {
    receiver: broadcast::Receiver<Event>,
}

impl Subscription {
    /// Returns the next event, if there already is one.
    pub(crate) fn next_now(&mut self) -> Option<Event> {
        loop {
            match self.receiver.try_recv() {
                Ok(event) => return Some(event),
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
            }
        }
    }

    /// Waits for the next event; `None` once there will be no more.
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
