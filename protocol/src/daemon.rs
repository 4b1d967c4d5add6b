//! Params and results of the methods about the daemon itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Params of `hello`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HelloParams {
    /// Name and version of the client, for the log.
    pub client: Option<String>,
    /// The client's protocol version; the daemon's when absent. The daemon refuses one that is too old with
    /// `invalid_params`.
    pub protocol: Option<u32>,
}

/// Result of `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HelloResult {
    /// Name and version of the daemon.
    pub server: String,
    /// The protocol version to use: the client's, or the daemon's if that is older.
    pub protocol: u32,
    /// The daemon's process id.
    pub pid: u32,
    /// The home directory that it serves.
    pub home: String,
    /// All methods that it supports.
    pub methods: Vec<String>,
    /// The limits in force.
    pub limits: WireLimits,
}

/// The limits that a client should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WireLimits {
    /// The largest frame or line in bytes.
    pub frame: u64,
    /// The most bytes in flight on all connections together.
    pub in_flight: u64,
    /// The most open connections.
    pub connections: u64,
    /// The most requests in flight per connection.
    pub requests: u64,
}

/// Params of `ping`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PingParams {}

/// Result of `ping`: an empty object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PingResult {}

/// Params of `status`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusParams {}

/// Result of `status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusResult {
    /// Seconds since the daemon started.
    pub uptime_s: f64,
    /// Resident memory in bytes; 0 if the system doesn't report it.
    pub rss_bytes: u64,
    /// Number of open connections.
    pub connections: u64,
    /// Requests since the daemon started.
    pub requests: RequestCounts,
    /// Sessions in the archive.
    pub sessions: SessionCounts,
    /// One row for each store.
    pub stores: Vec<StoreStatus>,
    /// Spilled outputs on disk.
    pub outputs: OutputCounts,
    /// The archive.
    pub archive: ArchiveStatus,
    /// The summarizer.
    pub summarizer: SummarizerStatus,
}

/// Requests since the daemon started.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RequestCounts {
    /// All requests.
    pub total: u64,
    /// Requests that were answered with an error other than `not_found` and `conflict`.
    pub errors: u64,
    /// Counts for each method that was called at least once.
    pub by_method: BTreeMap<String, MethodCounts>,
}

/// Requests of one method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MethodCounts {
    /// Number of requests.
    pub count: u64,
    /// Median duration in microseconds (within 12 %).
    pub p50_us: f64,
    /// 99th percentile of the duration in microseconds (within 12 %).
    pub p99_us: f64,
}

/// The number of sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SessionCounts {
    /// Sessions that are not closed.
    pub open: u64,
    /// All sessions.
    pub total: u64,
}

/// The current state of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoreStatus {
    /// The profile.
    pub profile: String,
    /// `memory` or `user`.
    pub target: crate::memory::Target,
    /// Number of entries.
    pub entries: u64,
    /// Chars of the joined entries.
    pub chars: u64,
    /// The limit in chars.
    pub limit: u64,
    /// The current revision.
    pub revision: u64,
    /// Its state.
    pub state: StoreState,
    /// State of its journal.
    pub journal: JournalState,
}

/// Whether a store can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StoreState {
    /// Readable and within its limit.
    Ok,
    /// Readable and longer than its limit, but each entry fits.
    OverLimit,
    /// Can't be read; writes are refused.
    Unreadable,
    /// An entry alone is longer than the limit.
    Drifted,
}

/// The state of a store's journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JournalState {
    /// Every line is readable.
    Ok,
    /// Some lines can't be read; they are left unchanged.
    Damaged,
}

/// Spilled outputs on disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OutputCounts {
    /// Number of files.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// The most bytes that are kept.
    pub quota: u64,
}

/// State of the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ArchiveStatus {
    /// `ok`, or a description of the problem.
    pub state: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// State of the first summarizer of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SummarizerStatus {
    /// The kind, such as `extractive`.
    pub kind: String,
    /// `ok`, or a description of the problem.
    pub state: String,
}

/// Params of `shutdown`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShutdownParams {
    /// How long requests in flight have to finish, in milliseconds; 10,000 when absent.
    pub drain_ms: Option<u64>,
}

/// Result of `shutdown`: an empty object, sent before the daemon finishes the requests in flight.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShutdownResult {}

/// Params of `subscribe`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SubscribeParams {
    /// The topics that this connection subscribes to; see [`Topic`](crate::notification::Topic).
    /// They replace its earlier topics. An empty list ends the subscription.
    pub topics: Vec<String>,
}

/// Result of `subscribe`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SubscribeResult {
    /// The topics of this connection from now on.
    pub topics: Vec<String>,
}
