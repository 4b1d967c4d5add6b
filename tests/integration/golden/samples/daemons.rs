//! Samples of the methods about the daemon itself.

use std::collections::BTreeMap;

use herma_protocol::{Reply, Request, daemon, memory};

pub(super) fn hello() -> (Request, Reply) {
    (Request::Hello(hello_params()), Reply::Hello(hello_result()))
}

pub(super) fn ping() -> (Request, Reply) {
    (Request::Ping(daemon::PingParams {}), Reply::Ping(daemon::PingResult {}))
}

pub(super) fn status() -> (Request, Reply) {
    (Request::Status(daemon::StatusParams {}), Reply::Status(status_result()))
}

pub(super) fn shutdown() -> (Request, Reply) {
    (Request::Shutdown(daemon::ShutdownParams { drain_ms: Some(1500) }), Reply::Shutdown(daemon::ShutdownResult {}))
}

pub(super) fn subscribe() -> (Request, Reply) {
    (
        Request::Subscribe(daemon::SubscribeParams { topics: vec!["memory.changed".into()] }),
        Reply::Subscribe(daemon::SubscribeResult { topics: vec!["memory.changed".into()] }),
    )
}

fn hello_params() -> daemon::HelloParams {
    daemon::HelloParams { client: Some("agent 1.2".into()), protocol: Some(1) }
}

fn hello_result() -> daemon::HelloResult {
    daemon::HelloResult {
        server: "hermad 0.1.0".into(),
        protocol: 1,
        pid: 70_000,
        home: "/home/me/.hermes".into(),
        methods: vec!["hello".into(), "ping".into()],
        limits: daemon::WireLimits { frame: 67_108_864, in_flight: 536_870_912, connections: 1024, requests: 64 },
    }
}

fn status_result() -> daemon::StatusResult {
    let counts = daemon::MethodCounts { count: 3, p50_us: 11.5, p99_us: 250.0 };
    daemon::StatusResult {
        uptime_s: 12.5,
        rss_bytes: 9_000_000,
        connections: 2,
        requests: daemon::RequestCounts { total: 4, errors: 1, by_method: BTreeMap::from([("ping".into(), counts)]) },
        sessions: daemon::SessionCounts { open: 1, total: 300 },
        stores: vec![daemon::StoreStatus {
            profile: "work".into(),
            target: memory::Target::User,
            entries: 2,
            chars: 1400,
            limit: 1375,
            revision: 17,
            state: daemon::StoreState::OverLimit,
            journal: daemon::JournalState::Damaged,
        }],
        outputs: daemon::OutputCounts { files: 1, bytes: 150_000, quota: 2_147_483_648 },
        archive: daemon::ArchiveStatus { state: "ok".into(), bytes: 45_056 },
        summarizer: daemon::SummarizerStatus { kind: "extractive".into(), state: "ok".into() },
    }
}
