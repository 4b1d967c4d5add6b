//! Threads for long work, separate from those that serve connections.

use tokio::sync::{Semaphore, oneshot};

use super::slot::slot;
use crate::data::error::{Error, Outcome};

/// How many pieces of work may run at the same time.
const TURNS: usize = 24;

/// Waiting work waits with its request, and ends with it.
static AT_WORK: Semaphore = Semaphore::const_new(TURNS);

/// Work without the type of its result, so that the code that runs it is compiled once.
type Work = Box<dyn FnOnce() + Send>;

/// Runs long work on a thread where it blocks nobody else. `what` names it in an error.
pub(crate) async fn blocking<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let (filler, done) = slot();
    run_in_turn(what, Box::new(move || filler.fill(work()))).await?;
    done.take().unwrap_or_else(|| Err(Error::internal(what)))
}

async fn run_in_turn(what: &str, work: Work) -> Outcome<()> {
    let turn = AT_WORK.acquire().await.map_err(|_| Error::internal(what))?;
    let work = Box::new(move || {
        work();
        drop(turn);
    });
    if run(work).await {
        return Ok(());
    }
    tracing::error!(method = what, "a request panicked");
    Err(Error::internal(what))
}

/// Runs work on a thread that may wait for the disk, even if the caller goes away; `None` if it panicked.
pub(crate) async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (filler, done) = slot();
    run(Box::new(move || filler.fill(work()))).await;
    done.take()
}

/// Runs work on its own thread and returns whether it finished.
async fn run(work: Work) -> bool {
    let (sender, done) = oneshot::channel();
    let work: Work = Box::new(move || {
        work();
        // The caller may have gone away.
        let _ = sender.send(());
    });
    drop(tokio::task::spawn_blocking(work));
    done.await.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_result_comes_back_whole() {
        assert_eq!(on_thread(|| vec![1, 2, 3]).await, Some(vec![1, 2, 3]));
        assert!(matches!(blocking("test", || Ok("done")).await, Ok("done")));
        let refused = blocking::<()>("test", || Err(Error::overloaded("it"))).await;
        assert!(matches!(refused, Err(Error::Busy(_))), "{refused:?}");
    }

    #[tokio::test]
    async fn work_that_panics_has_no_result_and_gives_its_turn_back() {
        assert_eq!(on_thread(|| -> u8 { panic!("on purpose") }).await, None);
        // This is more often than there are turns: if one was lost, the last call would wait for ever.
        for _ in 0..=TURNS {
            let panicked = blocking::<u8>("test", || panic!("on purpose")).await;
            assert!(panicked.is_err_and(|error| error.to_string() == Error::internal("test").to_string()));
        }
        assert!(blocking("test", || Ok(())).await.is_ok());
    }
}
