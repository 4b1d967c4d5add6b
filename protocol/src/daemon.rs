//! Params and results of the daemon's own methods.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Params of `hello`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HelloParams {
    /// Name and version of the client, for the log.
    pub client: Option<String>,
    /// The protocol version that the client speaks; one that the daemon doesn't
    /// is refused with `invalid_params`.
    pub protocol: Option<u32>,
}

/// Result of `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HelloResult {
    /// Name and version of the daemon.
    pub server: String,
    /// The protocol version of the daemon.
    pub protocol: u32,
    /// The daemon's process id.
    pub pid: u32,
    /// The home that it serves.
    pub home: String,
    /// Every method that it answers.
    pub methods: Vec<String>,
    /// The limits in force.
    pub limits: WireLimits,
}

/// The limits that a client should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WireLimits {
    /// Largest frame or line in bytes.
    pub frame: u64,
    /// Bytes in flight of all connections.
    pub in_flight: u64,
    /// Connections at one time.
    pub connections: u64,
    /// Requests in flight per connection.
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
    /// Resident memory in bytes; 0 where the system doesn't tell.
    pub rss_bytes: u64,
    /// Connections open now.
    pub connections: u64,
    /// What was asked since the start.
    pub requests: RequestCounts,
    /// Sessions known to the archive.
    pub sessions: SessionCounts,
    /// One row for each store.
    pub stores: Vec<StoreStatus>,
    /// Spilled outputs on disk.
    pub outputs: OutputCounts,
    /// The archive.
    pub archive: ArchiveStatus,
    /// What writes summaries.
    pub summarizer: SummarizerStatus,
}

/// Requests since the daemon started.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RequestCounts {
    /// All requests.
    pub total: u64,
    /// Those that were answered with an error other than `not_found` and `conflict`.
    pub errors: u64,
    /// Per method that was asked at least once.
    pub by_method: BTreeMap<String, MethodCounts>,
}

/// Requests of one method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MethodCounts {
    /// How many.
    pub count: u64,
    /// Half of them took at most this many microseconds (to within 12 %).
    pub p50_us: f64,
    /// 99 % of them took at most this many microseconds (to within 12 %).
    pub p99_us: f64,
}

/// How many sessions there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SessionCounts {
    /// Not closed.
    pub open: u64,
    /// All.
    pub total: u64,
}

/// One store as it is now.
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
    /// Limit in chars.
    pub limit: u64,
    /// Revision.
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
    /// Readable, longer than its limit, though each entry fits.
    OverLimit,
    /// Can't be read; writes are refused.
    Unreadable,
    /// An entry is longer than the whole limit.
    Drifted,
}

/// Whether the journal of a store is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JournalState {
    /// It is.
    Ok,
    /// Some of its lines can't be read; they are left as they are.
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
    /// Most bytes that are kept.
    pub quota: u64,
}

/// State of the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ArchiveStatus {
    /// `ok`, or what is wrong with it.
    pub state: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// State of the summarizer that is asked first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SummarizerStatus {
    /// `extractive`, …
    pub kind: String,
    /// `ok`, or what is wrong with it.
    pub state: String,
}

/// Params of `shutdown`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShutdownParams {
    /// Milliseconds that requests in flight have to finish; 10,000 when absent.
    pub drain_ms: Option<u64>,
}

/// Result of `shutdown`: an empty object, sent before the daemon drains.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShutdownResult {}

/// Params of `subscribe`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SubscribeParams {
    /// What this connection wants to be told from now on, in place of what it
    /// wanted before; see [`Topic`](crate::notification::Topic). None ends it.
    pub topics: Vec<String>,
}

/// Result of `subscribe`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SubscribeResult {
    /// What this connection is told from now on.
    pub topics: Vec<String>,
}
