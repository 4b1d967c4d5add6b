//! The thread that owns the connection. Calls of the client block, and the server must not.

use std::io;

use tokio::sync::{mpsc, oneshot};

use super::connection::Connection;

/// The calls that may wait for the thread. If there are more, callers wait for room.
const WAITING: usize = 64;

/// A call that uses the connection.
type Work = Box<dyn FnOnce(&mut Connection) + Send>;

/// A handle to the thread. It does calls in their order, one at a time.
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
    /// The system can't start a thread.
    pub(super) fn start(mut connection: Connection) -> io::Result<Self> {
        let (works, mut waiting) = mpsc::channel::<Work>(WAITING);
        std::thread::Builder::new().name("connection".into()).spawn(move || {
            while let Some(work) = waiting.blocking_recv() {
                work(&mut connection);
            }
        })?;
        Ok(Self { works })
    }

    /// Runs a call on the thread and waits for its result.
    ///
    /// # Errors
    /// This call or an earlier one panicked.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> Result<T, Gone> {
        let (report, answer) = oneshot::channel();
        // If the MCP client cancelled the call, nobody receives the result.
        let work = Box::new(move |connection: &mut Connection| drop(report.send(work(connection))));
        self.works.send(work).await.map_err(|_| Gone)?;
        answer.await.map_err(|_| Gone)
    }

    /// Starts a call without waiting for it. The call is dropped if too many calls are waiting.
    pub(super) fn begin(&self, work: impl FnOnce(&mut Connection) + Send + 'static) {
        // A dropped call is no loss: the next call does its work.
        drop(self.works.try_send(Box::new(work)));
    }
}
