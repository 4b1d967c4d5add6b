//! Keeps the order of the requests of one session on one connection.

use std::collections::HashMap;

use tokio::sync::oneshot::{self, error::TryRecvError};

/// Sessions that are remembered before finished ones are swept.
const SWEEP: usize = 128;

/// Which requests of a connection are still under way, by session.
#[derive(Debug, Default)]
pub(crate) struct Order {
    last: HashMap<String, oneshot::Receiver<()>>,
}

/// A request's place: it runs when the one before it is done.
#[derive(Debug)]
pub(crate) struct Place {
    before: Option<oneshot::Receiver<()>>,
    _done: Option<oneshot::Sender<()>>,
}

impl Place {
    /// Waits for the request before this one.
    pub(crate) async fn reached(&mut self) {
        if let Some(before) = self.before.take() {
            // An error says that the other end was dropped, which is how a
            // request tells that it is done.
            drop(before.await);
        }
    }
}

impl Order {
    /// Whether a request of this session would have to wait.
    pub(crate) fn is_busy(&mut self, key: Option<&str>) -> bool {
        key.and_then(|key| self.last.get_mut(key)).is_some_and(|last| last.try_recv() == Err(TryRecvError::Empty))
    }

    /// The place behind what was asked for this session before. Requests of no
    /// session wait for nothing.
    pub(crate) fn queue(&mut self, key: Option<&str>) -> Place {
        let Some(key) = key else { return Place { before: None, _done: None } };
        if self.last.len() >= SWEEP {
            self.last.retain(|_, last| last.try_recv() == Err(TryRecvError::Empty));
        }
        let (done, next) = oneshot::channel();
        let mut before = self.last.insert(key.to_owned(), next);
        // A receiver that has told its end must not be asked again.
        if before.as_mut().is_some_and(|before| before.try_recv() != Err(TryRecvError::Empty)) {
            before = None;
        }
        Place { before, _done: Some(done) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_waits_for_itself_only() {
        let mut order = Order::default();
        let first = order.queue(Some("s"));
        let mut second = order.queue(Some("s"));
        order.queue(Some("t")).reached().await;
        order.queue(None).reached().await;
        assert!(order.is_busy(Some("s")));
        assert!(!order.is_busy(Some("t")) && !order.is_busy(None));
        drop(first);
        second.reached().await;
        assert!(order.is_busy(Some("s")));
        drop(second);
        assert!(!order.is_busy(Some("s")));
        order.queue(Some("s")).reached().await;
    }
}
