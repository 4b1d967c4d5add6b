//! Keeps the order of the requests of one session on one connection.

use std::collections::HashMap;

use tokio::sync::watch;

/// Sessions that are remembered before finished ones are swept.
const SWEEP: usize = 128;

/// Which requests of a connection are still under way, by session. A request is
/// done when its sender is gone.
#[derive(Debug, Default)]
pub(crate) struct Order {
    last: HashMap<String, watch::Receiver<()>>,
}

/// A request's place in line. The next one's turn comes when this is given up
/// with [`Place::leave`], or dropped with its connection.
#[derive(Debug)]
#[must_use = "the next one's turn comes when this is dropped"]
pub(crate) struct Place {
    before: Turn,
    done: Option<watch::Sender<()>>,
}

/// When a request's turn comes.
#[derive(Debug, Clone)]
pub(crate) struct Turn(Option<watch::Receiver<()>>);

impl Turn {
    /// Waits for the request before.
    pub(crate) async fn come(&mut self) {
        if let Some(before) = &mut self.0 {
            while before.changed().await.is_ok() {}
        }
    }
}

impl Place {
    /// When its turn comes.
    pub(crate) fn turn(&self) -> Turn {
        self.before.clone()
    }

    /// Lets the next one have its turn, but not before this one's has come: a
    /// request that was given up in line lets nobody overtake.
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

    /// The place behind what was asked for this session before. Requests of no
    /// session wait for nothing.
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
