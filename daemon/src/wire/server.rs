//! Accepts connections until the daemon stops, then lets running requests finish.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use herma_protocol::jsonrpc;
use rustix::process::{Resource, getrlimit};
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;

use super::connection::{self, Admission};
use super::memory;
use super::services::Services;
use super::transport::{self, Listener, Stream};
use crate::data::config::Config;
use crate::data::numbers::to_usize;
use crate::data::profiles::DEFAULT_PROFILE;
use crate::owners::blocking::on_thread;
use crate::service::recall_index::IndexQueue;

/// How long requests have to finish, if no other time is given.
const DRAIN: Duration = Duration::from_secs(10);

/// How long a store has to close cleanly.
const SETTLE: Duration = Duration::from_secs(2);

/// The pause after a failed accept, so that a lack of file descriptors does not become a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The number of connections over the limit that may query the daemon or stop it.
const RESERVED: usize = 8;

/// The number of open files that the daemon needs in addition to connections. An idle daemon has about 25.
const OWN_FILES: usize = 40;

/// How long requests have to finish if another daemon may own the home already.
const LOST_DRAIN: Duration = Duration::from_millis(250);

/// The reason for a shutdown that no client requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// A signal arrived.
    Asked,
    /// The daemon no longer owns the home.
    HomeLost,
}

/// Serves the listener until `shutdown` is ready or a client requests the end. Then it accepts no more connections,
/// lets each connection finish its requests for at most the drain time, and closes the archive.
pub async fn run(mut config: Config, listener: Listener, shutdown: impl Future<Output = Shutdown>) {
    let files = getrlimit(Resource::Nofile).current.map_or(usize::MAX, to_usize);
    let most = most_connections(config.limits.connections, files);
    if most < config.limits.connections {
        tracing::warn!("{most} connections at one time, for this process may have {files} files open (ulimit -n)");
        config.limits.connections = most;
    }
    let (services, queue) = Services::new(config);
    let services = Arc::new(services);
    services.stores.serve(DEFAULT_PROFILE);
    if let Err(error) = services.archive.note_killed_daemon().await {
        tracing::warn!("what a killed daemon left open stays so: {error}");
    }
    services.memory.finish_leaving().await;
    let mut upkeep = tokio::spawn(upkeep(Arc::clone(&services), queue));
    let mut stop = services.connections.stop.subscribe();
    let mut connections = JoinSet::new();
    let mut number = 0;
    tokio::pin!(shutdown);
    loop {
        tokio::select! {
            biased;
            why = &mut shutdown => {
                if why == Shutdown::HomeLost {
                    services.connections.stop.send_replace(Some(LOST_DRAIN));
                }
                break;
            }
            () = async { drop(stop.wait_for(Option::is_some).await) } => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            accepted = transport::accept(&listener) => match accepted {
                Ok(stream) if !transport::may_use(&stream) => tracing::warn!("refused a peer of another user"),
                Ok(stream) if connections.len() >= most + RESERVED => drop(tokio::spawn(refuse(stream, most))),
                Ok(stream) => {
                    number += 1;
                    let services = Arc::clone(&services);
                    let admission = if connections.len() < most { Admission::Usual } else { Admission::Reserved };
                    services.connections.opened();
                    connections.spawn(async move {
                        connection::serve(Arc::clone(&services), stream, number, admission).await;
                        services.connections.closed();
                    });
                }
                Err(error) => {
                    tracing::warn!("failed to accept a connection: {error}");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    let drain = *services.connections.stop.borrow();
    let drain = drain.unwrap_or(DRAIN);
    services.connections.stop.send_replace(Some(drain));
    tracing::info!(connections = connections.len(), "stopping");
    let finished = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(drain, finished).await.is_err() {
        tracing::warn!(connections = connections.len(), "requests were cut off after {drain:?}");
        connections.abort_all();
        // A task that waits for a disk that hangs can't be ended.
        let ended = async { while connections.join_next().await.is_some() {} };
        drop(tokio::time::timeout(SETTLE, ended).await);
    }
    services.outputs.stop();
    match tokio::time::timeout(SETTLE, &mut upkeep).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) => tracing::error!("the upkeep panicked"),
        Err(_) => tracing::warn!("the upkeep was cut off"),
    }
    if let Err(error) = services.sharing.let_go(&services.archive).await {
        tracing::debug!("sessions stay with this host for a minute: {error}");
    }
    let closing = Arc::clone(&services);
    let closed = on_thread(move || {
        closing.stores.close(SETTLE);
        closing.files.files().close();
        closing.archive.close();
    });
    if closed.await.is_none() {
        tracing::error!("closing the stores and the archive panicked");
    }
    tracing::info!("stopped");
}

/// Returns the limit of connections in a process with this limit of open files. The daemon's own files and the reserved
/// connections are subtracted.
fn most_connections(configured: usize, files: usize) -> usize {
    configured.min(files.saturating_sub(OWN_FILES + RESERVED)).max(1)
}

/// Runs background work until the daemon stops: removes the leftovers of a killed daemon, keeps the text index up to
/// date, and removes expired outputs.
async fn upkeep(services: Arc<Services>, queue: IndexQueue) {
    services.retention.sweep().await;
    let mut stop = services.connections.stop.subscribe();
    let upkeep = async {
        tokio::join!(
            services.indexer.work(&services.events, queue),
            services.retention.keep_looking(),
            services.connections.buffers.keep_tidy(),
            services.connections.idempotency.keep_tidy(),
            memory::keep_small(&services),
            Arc::clone(&services.sharing).poll(),
            Arc::clone(&services.sharing).upload_messages(Arc::clone(&services.archive)),
            Arc::clone(&services.sharing)
                .bring_outputs(Arc::clone(&services.outputs.spilled.kept), Arc::clone(&services.archive)),
            Arc::clone(&services.sessions).keep_handing_over(),
            services.memory.process_queue(),
        );
    };
    tokio::select! {
        () = async { drop(stop.wait_for(Option::is_some).await) } => {}
        () = upkeep => {}
    }
}

/// Refuses a connection because there are too many. The codec of the peer is still unknown; a binary client recognises
/// the line, because it is not a frame.
async fn refuse(stream: Stream, most: usize) {
    let mut line = jsonrpc::write_reply("null", &Err(connection::busy(most)));
    line.push(b'\n');
    // The peer may no longer be reading.
    drop(tokio::time::timeout(Duration::from_secs(1), (&stream).write_all(&line)).await);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_daemon_keeps_files_for_itself() {
        for (configured, files, most) in
            [(1024, usize::MAX, 1024), (1024, 1024, 976), (1024, 64, 16), (8, 64, 8), (1024, 30, 1), (1024, 0, 1)]
        {
            assert_eq!(most_connections(configured, files), most, "{configured} {files}");
        }
    }
}
