//! Params and results of the methods for stores that several hosts share.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::memory::Target;

/// Params of `shared.status`: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusParams {}

/// Result of `shared.status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusResult {
    /// Whether the configuration names a database.
    pub configured: bool,
    /// The name of this host in the shared database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The part of the database that this host uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// The address of the database without the password: `user@host:port/database`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// Whether the connection to the database can be intercepted: another machine without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<bool>,
    /// The state of the database: `off`, `unknown` before the first query, `up` or `down`.
    pub state: State,
    /// Since when it has been in this state, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<f64>,
    /// Why the database is down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What happens to a write while the database is down: `refuse` or `queue`.
    pub offline: String,
    /// The stores that are shared, or will be.
    pub stores: Vec<Store>,
    /// The progress of uploading messages to the database; absent if messages are not shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Messages>,
    /// Where the texts of outputs are stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Outputs>,
    /// The progress of publishing sessions to other hosts; absent if no session is shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Sessions>,
    /// Errors in unusable database rows that were ignored since the daemon started; at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// The progress of publishing this host's sessions to other hosts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SharedSessions"))]
pub struct Sessions {
    /// Sessions of shared profiles with changes that are not published yet.
    pub waiting: u64,
    /// Why they can't be published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Where the texts of outputs are stored, so that every host can open them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SharedOutputs"))]
pub struct Outputs {
    /// The URL of the object store. Absent if there is none: texts up to 256 KiB are then in the
    /// database, and longer ones stay on this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Why texts are not uploaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The progress of uploading messages to the database.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SharedMessages"))]
pub struct Messages {
    /// Messages of shared profiles that are not uploaded yet.
    pub waiting: u64,
    /// Why they are not uploaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The state of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SharedState"))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing is shared.
    Off,
    /// It was not queried yet.
    Unknown,
    /// The last query succeeded.
    Up,
    /// The last query failed.
    Down,
}

/// A store that is shared, or will be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SharedStore"))]
pub struct Store {
    /// The profile.
    pub profile: String,
    /// The store.
    pub target: Target,
    /// Whether `shared.join` has added it to the database; until then it can't be written.
    pub joined: bool,
    /// Its revision on this host.
    pub revision: u64,
    /// Its revision in the database, as last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_revision: Option<u64>,
    /// Seconds since both were last known to be equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_s: Option<f64>,
    /// Whether another program changed the file on this host and the change is not in the database yet.
    pub edited: bool,
    /// Number of writes that wait for the database.
    pub queued: u64,
    /// Why it can't be written on this host, regardless of the state of the database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Params of `shared.init`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InitParams {
    /// The address of the database for its owner; the configured one when absent.
    pub url: Option<String>,
    /// The owner's password.
    pub password: Option<String>,
    /// A role to grant access to the space.
    pub role: Option<String>,
    /// Whether to only return the SQL and change nothing.
    pub print: Option<bool>,
}

/// Omits the password.
impl fmt::Debug for InitParams {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, password, role, print } = self;
        let password = password.as_ref().map(|_| "…");
        let mut shown = formatter.debug_struct("InitParams");
        shown.field("url", url).field("password", &password).field("role", role).field("print", print).finish()
    }
}

/// Result of `shared.init`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InitResult {
    /// The version of the existing tables; 0 if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<u64>,
    /// The version that this daemon needs.
    pub version: u64,
    /// The SQL that would be run; only with `print`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
}

/// Params of `shared.join`: none. The profile is that of the request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JoinParams {}

/// Result of `shared.join`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JoinResult {
    /// The profile.
    pub profile: String,
    /// The outcome for each store.
    pub stores: Vec<JoinedStore>,
}

/// A store that was added to the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SharedJoinedStore"))]
pub struct JoinedStore {
    /// The store.
    pub target: Target,
    /// Its revision, on this host and in the database.
    pub revision: u64,
    /// Number of entries that the database had already.
    pub found: u64,
    /// Entries of this host that were added to the database.
    pub brought: Vec<String>,
    /// Entries of this host for which there was no room.
    pub left_out: Vec<LeftOut>,
}

/// An entry for which there was no room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SharedLeftOut"))]
pub struct LeftOut {
    /// The entry.
    pub entry: String,
    /// Why there was no room.
    pub why: String,
    /// The id for `memory.approve`, once there is room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_id: Option<String>,
}

/// Params of `shared.leave`: none. The profile is that of the request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeaveParams {}

/// Result of `shared.leave`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeaveResult {
    /// The profile; its stores stay on this host unchanged.
    pub profile: String,
    /// Number of writes that waited for the database and now wait for approval.
    pub pending: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        let params = InitParams { password: Some("hunter2".into()), ..InitParams::default() };
        let shown = format!("{params:?}");
        assert!(!shown.contains("hunter2") && shown.contains("password: Some"), "{shown}");
    }
}
