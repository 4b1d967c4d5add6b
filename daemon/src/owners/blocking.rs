//! Threads for long work, beside those that serve connections.

use tokio::sync::{Semaphore, oneshot};

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
    let work = move || {
        let done = work();
        drop(turn);
        done
    };
    on_thread(work).await.unwrap_or_else(|| {
        tracing::error!(method = what, "a request panicked");
        Err(Error::internal(what))
    })
}

/// Does work on a thread that may wait for the disk, whether or not anybody waits for it; `None`
/// where it panicked.
pub(crate) async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, done) = oneshot::channel();
    // In a box, so that the runtime's part is compiled once, and not for each kind of work.
    let work: Box<dyn FnOnce() + Send> = Box::new(move || drop(sender.send(work())));
    drop(tokio::task::spawn_blocking(work));
    done.await.ok()
}
