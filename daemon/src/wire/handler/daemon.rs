//! `hello`, `ping`, `status`, `shutdown`.

use std::sync::Arc;
use std::time::Duration;

use herma_protocol::daemon::{
    ArchiveStatus, HelloParams, HelloResult, JournalState, OutputCounts, PingResult, SessionCounts, ShutdownParams,
    ShutdownResult, StatusResult, StoreState, StoreStatus, SummarizerStatus, WireLimits,
};
use herma_protocol::{Method, limits, version};

use super::{check_name, memory, wide};
use crate::data::error::{Error, Outcome};
use crate::data::summarizer_kind::Kind;
use crate::wire::state::State;

/// Milliseconds that a shutdown waits when the caller doesn't say.
const DRAIN_MS: u64 = 10_000;

pub(super) const fn ping() -> PingResult {
    PingResult {}
}

pub(super) fn hello(state: &State, params: &HelloParams) -> Outcome<HelloResult> {
    if let Some(client) = &params.client {
        check_name("client", client)?;
    }
    let protocol = params.protocol.unwrap_or(version::PROTOCOL);
    if protocol < version::OLDEST {
        return Err(Error::param("protocol", version::mismatch(protocol, version::PROTOCOL)));
    }
    let configured = &state.config.limits;
    Ok(HelloResult {
        server: concat!("hermad ", env!("CARGO_PKG_VERSION")).into(),
        protocol: protocol.min(version::PROTOCOL),
        pid: std::process::id(),
        home: state.config.home.display().to_string(),
        methods: Method::ALL.iter().map(|method| method.name().to_owned()).collect(),
        limits: WireLimits {
            frame: wide(configured.frame),
            in_flight: wide(configured.in_flight),
            connections: wide(configured.connections),
            requests: wide(limits::REQUESTS),
        },
    })
}

pub(super) fn shutdown(state: &State, params: &ShutdownParams) -> ShutdownResult {
    let drain = Duration::from_millis(params.drain_ms.unwrap_or(DRAIN_MS).min(limits::DEADLINE_MS));
    state.stop.send_replace(Some(drain));
    ShutdownResult {}
}

pub(super) async fn status(state: &Arc<State>) -> Outcome<StatusResult> {
    let mut stores = Vec::new();
    for (profile, target) in state.stores_in_use() {
        let limit = wide(state.limit(&profile, target));
        let view = match state.store(&profile, target) {
            Ok(owner) => owner.view().await,
            Err(error) => Err(error),
        };
        let wire = memory::wire_target(target);
        stores.push(match view {
            Ok(view) => StoreStatus {
                profile,
                target: wire,
                entries: wide(view.entries.len()),
                chars: wide(view.usage().chars),
                limit,
                revision: view.revision,
                state: if view.drifted() {
                    StoreState::Drifted
                } else if view.over_limit() {
                    StoreState::OverLimit
                } else {
                    StoreState::Ok
                },
                journal: if view.damaged > 0 { JournalState::Damaged } else { JournalState::Ok },
            },
            Err(_) => StoreStatus {
                profile,
                target: wire,
                entries: 0,
                chars: 0,
                limit,
                revision: 0,
                state: StoreState::Unreadable,
                journal: JournalState::Ok,
            },
        });
    }
    let sessions = state.archive.read(|reader| reader.count_sessions()).await.unwrap_or_default();
    let (files, spilled) = state.outputs.usage();
    Ok(StatusResult {
        uptime_s: state.started.elapsed().as_secs_f64(),
        rss_bytes: herma_disk::process::resident_bytes(),
        connections: wide(state.connections_now()),
        requests: state.metrics.report(),
        sessions: SessionCounts { open: sessions.0, total: sessions.1 },
        stores,
        outputs: OutputCounts { files, bytes: spilled, quota: state.config.retention.quota },
        archive: ArchiveStatus { state: state.archive.state(), bytes: state.archive.bytes() },
        summarizer: summarizer(state),
    })
}

/// The first one of the chain: what is asked unless a session says otherwise.
fn summarizer(state: &State) -> SummarizerStatus {
    let kind = state.summarizers.chain().first().copied().unwrap_or(Kind::Extractive);
    SummarizerStatus { kind: kind.name().into(), state: state.compressions.health.state(kind) }
}
