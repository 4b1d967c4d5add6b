//! Connections over the limit, which can only query or stop a full daemon, and silent connections, which give way to
//! others.

use std::time::Duration;

use herma_protocol::{ErrorKind, Request, RpcError};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// How long a silent connection over the limit may last, and how long any other one may.
const SILENCE: Duration = Duration::from_secs(1);
const LIFE: Duration = Duration::from_secs(5);

/// The requests that a connection may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// All requests.
    Usual,
    /// Only requests for the state of the daemon or for its end, because the connection is over the limit.
    Reserved,
}

/// Returns the error for a connection over the limit.
pub(crate) fn busy(most: usize) -> RpcError {
    let words = format!("the daemon has {most} connections already; try again later");
    RpcError::new(ErrorKind::Busy, words)
}

/// Returns how long a connection over the limit may last.
pub(super) const fn longest(is_silent: bool) -> Duration {
    if is_silent { SILENCE } else { LIFE }
}

/// Whether a connection over the limit may make this request.
pub(super) fn is_administrative(request: &Request) -> bool {
    matches!(request, Request::Hello(_) | Request::Status(_) | Request::Shutdown(_))
}

/// Waits, from this time on, until the daemon has no place for other connections.
pub(super) async fn place_wanted(full: &mut watch::Receiver<bool>, since: Instant) {
    sleep_until(since).await;
    // The sender lives as long as the daemon.
    drop(full.wait_for(|full| *full).await);
}
