//! Threads for long work, beside those that serve connections.

use tokio::sync::Semaphore;

use crate::data::error::{Error, Outcome};

/// Work that may run at one time. What waits for its turn waits with its request, and ends
/// with it.
static AT_WORK: Semaphore = Semaphore::const_new(24);

/// Does long work where it keeps nobody waiting. `what` names it where it fails.
pub(crate) async fn blocking<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let turn = AT_WORK.acquire().await.map_err(|_| Error::internal(what))?;
    let work = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(turn);
        done
    });
    work.await.unwrap_or_else(|_| {
        tracing::error!(method = what, "a request panicked");
        Err(Error::internal(what))
    })
}
