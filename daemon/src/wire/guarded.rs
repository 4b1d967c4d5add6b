//! Limits a panic to the future in which it happened.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future that turns a panic into an error.
#[derive(Debug)]
pub(crate) struct Guarded<F>(Pin<Box<F>>);

impl<F: Future> Guarded<F> {
    pub(crate) fn new(work: F) -> Self {
        Self(Box::pin(work))
    }
}

impl<F: Future> Future for Guarded<F> {
    type Output = Result<F::Output, Box<dyn Any + Send>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let work = self.0.as_mut();
        // After a panic the future is only dropped, never polled again.
        match catch_unwind(AssertUnwindSafe(|| work.poll(context))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_error() {
        assert_eq!(Guarded::new(async { 7 }).await.ok(), Some(7));
        let panics = Guarded::new(async { panic!("boom") });
        assert!(panics.await.is_err_and(|panic: Box<dyn Any + Send>| panic.is::<&str>()));
    }
}
