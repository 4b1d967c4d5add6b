//! A bounded broadcast of events.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::data::event::Event;

/// How many events a subscriber may lag. A slower one misses the oldest, which it notices through the gap in the
/// revisions.
const BACKLOG: usize = 1024;

/// The sending end of the broadcast.
///
/// Appends of messages are as frequent as everything else together. They have a channel of their own, so that they wake
/// nobody who did not ask for them.
#[derive(Debug, Clone)]
pub(crate) struct Events {
    changes: broadcast::Sender<Event>,
    appends: broadcast::Sender<Event>,
}

impl Default for Events {
    fn default() -> Self {
        Self { changes: broadcast::Sender::new(BACKLOG), appends: broadcast::Sender::new(BACKLOG) }
    }
}

impl Events {
    /// Sends an event to all subscribers.
    pub(crate) fn publish(&self, event: Event) {
        // It is no error if there are no subscribers.
        drop(self.changes.send(event));
    }

    /// Sends the event of an append to those who asked for appends. It is made only for them.
    pub(crate) fn publish_append(&self, event: impl FnOnce() -> Event) {
        if self.appends.receiver_count() > 0 {
            drop(self.appends.send(event()));
        }
    }

    /// Returns a subscription to the events from now on, without appends.
    pub(crate) fn subscribe(&self) -> Subscription {
        Subscription { changes: self.changes.subscribe(), appends: None }
    }

    /// Returns a subscription to all events from now on.
    pub(crate) fn subscribe_with_appends(&self) -> Subscription {
        Subscription { changes: self.changes.subscribe(), appends: Some(self.appends.subscribe()) }
    }
}

/// The events since the subscription began.
#[derive(Debug)]
pub(crate) struct Subscription {
    changes: broadcast::Receiver<Event>,
    appends: Option<broadcast::Receiver<Event>>,
}

impl Subscription {
    /// Returns the next event, if there already is one.
    pub(crate) fn next_now(&mut self) -> Option<Event> {
        next_now(&mut self.changes).or_else(|| self.appends.as_mut().and_then(next_now))
    }

    /// Waits for the next event; `None` once there will be no more.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            let received = match &mut self.appends {
                Some(appends) => tokio::select! {
                    biased;
                    change = self.changes.recv() => change,
                    append = appends.recv() => append,
                },
                None => self.changes.recv().await,
            };
            match received {
                Ok(event) => return Some(event),
                Err(RecvError::Lagged(missed)) => tracing::info!(missed, "a subscriber is too slow"),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

fn next_now(receiver: &mut broadcast::Receiver<Event>) -> Option<Event> {
    loop {
        match receiver.try_recv() {
            Ok(event) => return Some(event),
            Err(TryRecvError::Lagged(_)) => {}
            Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
        }
    }
}
