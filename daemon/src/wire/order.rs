//! Keeps the order of the requests of one session on one connection.

use std::collections::HashMap;

use tokio::sync::watch;

/// The number of remembered sessions at which finished ones are removed.
const SWEEP: usize = 128;

/// The last request of each session on a connection. A request is done when its sender is dropped.
#[derive(Debug, Default)]
pub(crate) struct Order {
    last: HashMap<String, watch::Receiver<()>>,
}

/// A request's place in line. The next request's turn comes when the place is given up with [`Place::leave`], or
/// dropped with its connection.
#[derive(Debug)]
#[must_use = "the next one's turn comes when this is dropped"]
pub(crate) struct Place {
    before: Turn,
    done: Option<watch::Sender<()>>,
}

/// The turn of a request, to wait for.
#[derive(Debug, Clone)]
pub(crate) struct Turn(Option<watch::Receiver<()>>);

impl Turn {
    /// Waits for the previous request.
    pub(crate) async fn come(&mut self) {
        if let Some(before) = &mut self.0 {
            while before.changed().await.is_ok() {}
        }
    }
}

impl Place {
    /// Returns the turn of this place.
    pub(crate) fn turn(&self) -> Turn {
        self.before.clone()
    }

    /// Lets the next request have its turn, but only after this one's turn has come. So no request overtakes others
    /// because one was given up in line.
    pub(crate) async fn leave(mut self) {
        self.before.come().await;
        drop(self.done.take());
    }
}

impl Order {
    /// Whether a request of this session would have to wait.
    pub(crate) fn is_busy(&self, key: Option<&str>) -> bool {
        key.and_then(|key| self.last.get(key)).is_some_and(is_under_way)
    }

    /// Returns the place after the earlier requests of this session. Requests without a session do not wait.
    pub(crate) fn queue(&mut self, key: Option<&str>) -> Place {
        let Some(key) = key else { return Place { before: Turn(None), done: None } };
        if self.last.len() >= SWEEP {
            self.last.retain(|_, last| is_under_way(last));
        }
        let (done, next) = watch::channel(());
        let before = self.last.insert(key.to_owned(), next);
        Place { before: Turn(before), done: Some(done) }
    }
}

fn is_under_way(request: &watch::Receiver<()>) -> bool {
    request.has_changed().is_ok()
}

#[cfg(all(test, feature = "shuttle"))]
mod schedules;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_waits_for_itself_only() {
        let mut order = Order::default();
        let first = order.queue(Some("s"));
        let second = order.queue(Some("s"));
        order.queue(Some("t")).turn().come().await;
        order.queue(None).turn().come().await;
        assert!(order.is_busy(Some("s")));
        assert!(!order.is_busy(Some("t")) && !order.is_busy(None));
        first.leave().await;
        second.turn().come().await;
        assert!(order.is_busy(Some("s")));
        second.leave().await;
        assert!(!order.is_busy(Some("s")));
        order.queue(Some("s")).turn().come().await;
    }

    #[tokio::test]
    async fn who_leaves_early_lets_nobody_overtake() {
        let mut order = Order::default();
        let (first, second, third) = (order.queue(Some("s")), order.queue(Some("s")), order.queue(Some("s")));
        let early = tokio::spawn(second.leave());
        tokio::task::yield_now().await;
        assert!(!early.is_finished());
        first.leave().await;
        assert!(early.await.is_ok());
        third.turn().come().await;
    }
}
