//! Connections beyond the limit, for who asks how a full daemon is, and silent ones that
//! give way to others.

use std::time::Duration;

use herma_protocol::{ErrorKind, Request, RpcError};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// How long a connection beyond the limit may say nothing, and how long it may last.
const SILENCE: Duration = Duration::from_secs(1);
const LIFE: Duration = Duration::from_secs(5);

/// What a connection may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Everything.
    Usual,
    /// It is one beyond the limit: for asking how the daemon is, and for ending it.
    Reserved,
}

/// What is told who is one too many.
pub(crate) fn busy(most: usize) -> RpcError {
    let words = format!("the daemon has {most} connections already; try again later");
    RpcError::new(ErrorKind::Busy, words)
}

/// How long a connection beyond the limit may last.
pub(super) const fn longest(is_silent: bool) -> Duration {
    if is_silent { SILENCE } else { LIFE }
}

/// Whether a connection beyond the limit may ask this.
pub(super) fn is_administrative(request: &Request) -> bool {
    matches!(request, Request::Hello(_) | Request::Status(_) | Request::Shutdown(_))
}

/// Waits until there is no place for others, from this time on.
pub(super) async fn place_wanted(full: &mut watch::Receiver<bool>, since: Instant) {
    sleep_until(since).await;
    // The sender is as old as the daemon.
    drop(full.wait_for(|full| *full).await);
}
