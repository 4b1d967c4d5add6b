//! `hello`, `ping`, `status`, `shutdown`.

use std::time::Duration;

use herma_protocol::daemon::{
    ArchiveStatus, HelloParams, HelloResult, JournalState, OutputCounts, PingResult, SessionCounts, ShutdownParams,
    ShutdownResult, StatusResult, StoreState, StoreStatus, SummarizerStatus, WireLimits,
};
use herma_protocol::{Method, limits, version};

use super::memory;
use crate::data::error::{Error, Outcome};
use crate::data::names;
use crate::data::numbers::to_u64;
use crate::wire::services::Services;

/// The default drain time of a shutdown, in milliseconds.
const DRAIN_MS: u64 = 10_000;

pub(super) const fn ping() -> PingResult {
    PingResult {}
}

pub(super) fn hello(services: &Services, params: &HelloParams) -> Outcome<HelloResult> {
    if let Some(client) = &params.client {
        names::check("client", client)?;
    }
    let protocol = params.protocol.unwrap_or(version::PROTOCOL);
    if protocol < version::OLDEST {
        return Err(Error::param("protocol", version::mismatch(protocol, version::PROTOCOL)));
    }
    let configured = &services.config.limits;
    Ok(HelloResult {
        server: concat!("hermad ", env!("CARGO_PKG_VERSION")).into(),
        protocol: protocol.min(version::PROTOCOL),
        pid: std::process::id(),
        home: services.config.home.display().to_string(),
        methods: Method::ALL.iter().map(|method| method.name().to_owned()).collect(),
        limits: WireLimits {
            frame: to_u64(configured.frame),
            in_flight: to_u64(configured.in_flight),
            connections: to_u64(configured.connections),
            requests: to_u64(limits::REQUESTS),
        },
    })
}

pub(super) fn shutdown(services: &Services, params: &ShutdownParams) -> ShutdownResult {
    let drain = Duration::from_millis(params.drain_ms.unwrap_or(DRAIN_MS).min(limits::DEADLINE_MS));
    services.connections.stop.send_replace(Some(drain));
    ShutdownResult {}
}

pub(super) async fn status(services: &Services) -> Outcome<StatusResult> {
    let mut stores = Vec::new();
    for (profile, target) in services.stores.in_use() {
        let limit = to_u64(services.stores.limit(&profile, target));
        let view = services.memory.view(&profile, target).await;
        let wire = memory::wire_target(target);
        stores.push(match view {
            Ok(view) => StoreStatus {
                profile,
                target: wire,
                entries: to_u64(view.entries.len()),
                chars: to_u64(view.usage().chars),
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
    services.archive.look().await;
    let sessions = services.archive.count_sessions().await.unwrap_or_default();
    let (files, spilled) = services.outputs.usage();
    Ok(StatusResult {
        uptime_s: services.started.elapsed().as_secs_f64(),
        rss_bytes: herma_disk::process::resident_bytes(),
        connections: to_u64(services.connections.count()),
        requests: services.connections.metrics.report(),
        sessions: SessionCounts { open: sessions.0, total: sessions.1 },
        stores,
        outputs: OutputCounts { files, bytes: spilled, quota: services.config.output.quota },
        archive: ArchiveStatus { state: services.archive.state(), bytes: services.archive.bytes() },
        summarizer: summarizer(services),
    })
}

/// Returns the first configured summarizer.
fn summarizer(services: &Services) -> SummarizerStatus {
    let (kind, state) = services.compression.health();
    SummarizerStatus { kind: kind.name().into(), state }
}
