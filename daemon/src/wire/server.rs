//! Accepts connections until told to stop, then lets what is under way finish.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use herma_memory::Target;
use herma_protocol::{ErrorKind, RpcError, jsonrpc};
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;

use crate::data::clock::unix_now;
use crate::data::config::Config;
use crate::data::profiles::DEFAULT_PROFILE;
use crate::service::recall_index::{self, IndexQueue};
use crate::service::retention;
use crate::wire::connection;
use crate::wire::state::State;
use crate::wire::transport::{self, Listener, Stream};

/// How long requests have to finish when nothing else is said.
const DRAIN: Duration = Duration::from_secs(10);

/// How long a store has to be closed in peace.
const SETTLE: Duration = Duration::from_secs(2);

/// Pause after a failed accept, so that a lack of file descriptors doesn't turn
/// into a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves the listener until `shutdown` is ready or a client asks for it. Then
/// it accepts nothing more, lets every connection finish what it was asked,
/// waits for that no longer than the drain time, and closes the archive.
pub async fn run(config: Config, listener: Listener, shutdown: impl Future<Output = ()>) {
    let most = config.limits.connections;
    let (state, queue) = State::new(config);
    let state = Arc::new(state);
    for target in Target::ALL {
        if let Err(error) = state.store(DEFAULT_PROFILE, target) {
            tracing::error!(%target, "a store can't be served: {error}");
        }
    }
    clear_up(&state).await;
    let mut upkeep = tokio::spawn(upkeep(Arc::clone(&state), queue));
    let mut stop = state.stop.subscribe();
    let mut connections = JoinSet::new();
    let mut number = 0;
    tokio::pin!(shutdown);
    loop {
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            () = async { drop(stop.wait_for(Option::is_some).await) } => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            accepted = transport::accept(&listener) => match accepted {
                Ok(stream) if !transport::may_use(&stream) => tracing::warn!("refused a peer of another user"),
                Ok(stream) if connections.len() >= most => drop(tokio::spawn(refuse(stream, most))),
                Ok(stream) => {
                    number += 1;
                    let state = Arc::clone(&state);
                    state.connections.fetch_add(1, Ordering::Relaxed);
                    connections.spawn(async move {
                        connection::serve(Arc::clone(&state), stream, number).await;
                        state.connections.fetch_sub(1, Ordering::Relaxed);
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
    let drain = *state.stop.borrow();
    let drain = drain.unwrap_or(DRAIN);
    state.stop.send_replace(Some(drain));
    tracing::info!(connections = connections.len(), "stopping");
    let finished = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(drain, finished).await.is_err() {
        tracing::warn!(connections = connections.len(), "requests were cut off after {drain:?}");
        connections.abort_all();
        // One that waits for a disk that hangs can't be ended.
        let ended = async { while connections.join_next().await.is_some() {} };
        drop(tokio::time::timeout(SETTLE, ended).await);
    }
    state.outputs.stop();
    match tokio::time::timeout(SETTLE, &mut upkeep).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) => tracing::error!("the upkeep panicked"),
        Err(_) => tracing::warn!("the upkeep was cut off"),
    }
    let closing = Arc::clone(&state);
    let closed = tokio::task::spawn_blocking(move || {
        closing.settle_stores(SETTLE);
        closing.archive.close();
    });
    if closed.await.is_err() {
        tracing::error!("closing the stores and the archive panicked");
    }
    tracing::info!("stopped");
}

/// Notes in the archive what ended with a daemon that was killed, before anybody asks.
async fn clear_up(state: &State) {
    let was_killed = state.archive.was_killed();
    let noted = state.archive.note(move |archive| {
        archive.drop_unbound_locks()?;
        if was_killed { archive.mark_interrupted(unix_now()).map(drop) } else { Ok(()) }
    });
    if let Err(error) = noted.await {
        tracing::warn!("what a killed daemon left open stays so: {error}");
    }
}

/// What is done beside the requests, until the daemon stops: what a killed one left is
/// tidied up, the text index follows what is kept, and outputs go when it is time.
async fn upkeep(state: Arc<State>, queue: IndexQueue) {
    let sweeping = Arc::clone(&state);
    let swept = tokio::task::spawn_blocking(move || sweeping.outputs.sweep(unix_now()));
    match swept.await {
        Ok(Ok(swept)) => tracing::debug!(?swept, "the outputs are tidied up"),
        Ok(Err(error)) => tracing::warn!("leftovers stay: {error}"),
        Err(_) => tracing::error!("tidying up the outputs panicked"),
    }
    retention::tell_notices(&state);
    let busy = async {
        tokio::join!(recall_index::work(Arc::clone(&state), queue), retention::keep_looking(Arc::clone(&state)))
    };
    tokio::select! {
        ((), ()) = busy => {}
        () = state.buffers.keep_tidy() => {}
    }
}

/// Tells a peer that there are too many. Which codec it speaks is not known yet;
/// a binary client recognises the line, for it is no frame.
async fn refuse(stream: Stream, most: usize) {
    let words = format!("the daemon has {most} connections already; try again later");
    let mut line = jsonrpc::write_reply("null", &Err(RpcError::new(ErrorKind::Busy, words)));
    line.push(b'\n');
    // Whether the peer still reads is its own business.
    drop(tokio::time::timeout(Duration::from_secs(1), (&stream).write_all(&line)).await);
}
