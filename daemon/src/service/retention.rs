//! When outputs go: asked for, from time to time, and when they become too many.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use herma_protocol::notification::OutputExpired;
use herma_spill::facts::hex;
use herma_spill::outputs::{Collected, Expired};
use herma_spill::retention::{Clock, Retention, SessionState};

use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::wire::handler::wire_reason;
use crate::wire::state::State;

/// How often it is looked for outputs that are too old.
const EVERY: Duration = Duration::from_mins(10);

/// How long after the start it is looked for the first time.
const FIRST: Duration = Duration::from_mins(1);

/// Looks from time to time, until the daemon stops.
pub(crate) async fn keep_looking(state: Arc<State>) {
    let mut stop = state.stop.subscribe();
    let mut pause = FIRST;
    loop {
        tokio::select! {
            () = async { drop(stop.wait_for(Option::is_some).await) } => return,
            () = tokio::time::sleep(pause) => {}
            () = state.over_quota.notified() => {}
        }
        pause = EVERY;
        if let Err(error) = collect(&state, false).await {
            tracing::warn!("outputs could not be cleared away: {error}");
        }
        state.recall_indexer.look_again();
        if let Err(error) = state.archive.note(|archive| archive.end_orphans(unix_now()).map(drop)).await {
            tracing::warn!("orphaned sessions stay open: {error}");
        }
    }
}

/// Clears away the outputs that are too old or too many, or says which those are.
pub(crate) async fn collect(state: &Arc<State>, dry_run: bool) -> Outcome<Collected> {
    // Without an archive nobody knows which sessions have ended.
    let endings = match state.archive.read(|reader| reader.endings()).await {
        Ok(endings) => Some(endings.into_iter().collect::<HashMap<String, Option<f64>>>()),
        Err(error) => {
            tracing::warn!("outputs of all sessions count as in use: {error}");
            None
        }
    };
    let shared = Arc::clone(state);
    let work = move || {
        let retention =
            Retention { ttl_seconds: shared.config.output.ttl.as_secs_f64(), quota_bytes: shared.config.output.quota };
        let session = |id: &str| match &endings {
            None => SessionState::Open,
            Some(_) if shared.sessions.get(id).is_some() => SessionState::Open,
            Some(endings) => match endings.get(id) {
                None => SessionState::Unknown,
                Some(None) => SessionState::Open,
                Some(Some(ended_at)) => SessionState::Closed { ended_at: *ended_at },
            },
        };
        shared.outputs.collect(session, retention, clock(&shared), dry_run)
    };
    let collected =
        tokio::task::spawn_blocking(work).await.map_err(|_| Error::internal("output.gc"))?.map_err(Error::from)?;
    tell_notices(state);
    for failure in &collected.failures {
        tracing::warn!("an output stays although its time is over: {failure}");
    }
    if !dry_run && !collected.expired.is_empty() {
        tracing::info!(outputs = collected.expired.len(), bytes = collected.freed_bytes, "outputs were cleared away");
        let handles: Vec<String> = collected.expired.iter().map(|gone| gone.handle.to_string()).collect();
        state.archive.tell(move |archive| archive.forget_outputs(&handles));
        tell_expired(state, &collected.expired);
    }
    Ok(collected)
}

/// Tells whoever wants to know which outputs are gone.
pub(crate) fn tell_expired<'a>(state: &State, expired: impl IntoIterator<Item = &'a Expired>) {
    for gone in expired {
        state.events.output_expired(OutputExpired {
            handle: gone.handle.to_string(),
            session: gone.session.clone(),
            tool: gone.tool.clone(),
            id: gone.id.clone(),
            bytes: gone.bytes,
            sha256: hex(&gone.sha256),
            reason: wire_reason(gone.reason),
        });
    }
}

/// Puts into the log what the catalog of outputs has to tell.
pub(crate) fn tell_notices(state: &State) {
    for notice in state.outputs.take_notices() {
        tracing::warn!("outputs: {notice}");
    }
}

fn clock(state: &State) -> Clock {
    Clock {
        wall: unix_now(),
        started_wall: state.started_at,
        monotonic_since_start: state.started.elapsed().as_secs_f64(),
        last_seen: state.outputs.last_seen(),
    }
}
