//! The thread that owns the connection, for a client blocks and a server must not.

use std::io;

use tokio::sync::{mpsc, oneshot};

use super::connection::Connection;

/// Calls that may wait for the thread; past it callers wait for room.
const WAITING: usize = 64;

/// Something to do with the connection.
type Work = Box<dyn FnOnce(&mut Connection) + Send>;

/// Asks the thread. Calls are done in their order, one at a time.
#[derive(Debug, Clone)]
pub(super) struct Link {
    works: mpsc::Sender<Work>,
}

/// The thread panicked.
#[derive(Debug, thiserror::Error)]
#[error("the connection's thread is gone")]
pub(super) struct Gone;

impl Link {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(super) fn start(mut connection: Connection) -> io::Result<Self> {
        let (works, mut waiting) = mpsc::channel::<Work>(WAITING);
        std::thread::Builder::new().name("connection".into()).spawn(move || {
            while let Some(work) = waiting.blocking_recv() {
                work(&mut connection);
            }
        })?;
        Ok(Self { works })
    }

    /// Does something with the connection and waits for what it comes to.
    ///
    /// # Errors
    /// Something before it, or this, panicked.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> Result<T, Gone> {
        let (tell, told) = oneshot::channel();
        // Nobody waits any more where the client gave the call up.
        let work = Box::new(move |connection: &mut Connection| drop(tell.send(work(connection))));
        self.works.send(work).await.map_err(|_| Gone)?;
        told.await.map_err(|_| Gone)
    }

    /// Does something with the connection without waiting for it, unless too much
    /// is waiting already.
    pub(super) fn begin(&self, work: impl FnOnce(&mut Connection) + Send + 'static) {
        // What is begun early is done with the next call otherwise.
        drop(self.works.try_send(Box::new(work)));
    }
}
