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
    /// What this machine is called among those that share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The part of the database that is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// Where the database is, without the password: `user@host:port/database`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// Whether anybody on the way could read what is sent: another machine without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<bool>,
    /// How the database is: `off`, `unknown` before it was asked, `up` or `down`.
    pub state: State,
    /// Since when it is so, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<f64>,
    /// Why it is down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What becomes of a write while it is down: `refuse` or `queue`.
    pub offline: String,
    /// The stores that are shared, or are to be.
    pub stores: Vec<Store>,
    /// How far messages are brought to the database; null where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Messages>,
    /// Where texts of outputs go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Outputs>,
    /// How far the others know of sessions; absent where none goes to another host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Sessions>,
    /// Rows of the database that can't be taken and are left out, as far as they were met since the daemon started; at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// How far the others know of the sessions of this host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SharedSessions"))]
pub struct Sessions {
    /// Sessions of profiles that share which changed since the others were told.
    pub waiting: u64,
    /// Why they can't be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Where texts of outputs go, so that they open on every host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SharedOutputs"))]
pub struct Outputs {
    /// The URL of the object store; null where those up to 256 KiB go to the database, and longer ones stay here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Why they are not brought there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How far messages are brought to the database.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SharedMessages"))]
pub struct Messages {
    /// Messages of profiles that share which are still to be brought.
    pub waiting: u64,
    /// Why they are not brought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How the database is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SharedState"))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing is shared.
    Off,
    /// It was not asked yet.
    Unknown,
    /// It answered last.
    Up,
    /// It did not.
    Down,
}

/// A store that is shared, or is to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SharedStore"))]
pub struct Store {
    /// The profile.
    pub profile: String,
    /// The store.
    pub target: Target,
    /// Whether `shared.join` brought it to the database; until then it can't be written.
    pub joined: bool,
    /// Its revision here.
    pub revision: u64,
    /// Its revision in the database, as it was seen last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_revision: Option<u64>,
    /// Seconds since both were known to be the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_s: Option<f64>,
    /// Whether another program wrote something into the file here that the others don't have yet.
    pub edited: bool,
    /// Writes that wait for the database.
    pub queued: u64,
    /// Why it can't be written here whatever becomes of the database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Params of `shared.init`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InitParams {
    /// The database as its owner reaches it; that of the configuration when absent.
    pub url: Option<String>,
    /// The owner's password.
    pub password: Option<String>,
    /// A role that may use the space from then on.
    pub role: Option<String>,
    /// Only gives the SQL, and does nothing.
    pub print: Option<bool>,
}

/// Without the password.
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
    /// The version of the tables that was found; 0 for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<u64>,
    /// The version that this program needs.
    pub version: u64,
    /// What would be done, as SQL; with `print` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
}

/// Params of `shared.join`: none; the profile is the request's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JoinParams {}

/// Result of `shared.join`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JoinResult {
    /// The profile.
    pub profile: String,
    /// What became of each store.
    pub stores: Vec<JoinedStore>,
}

/// What became of a store that was brought to the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SharedJoinedStore"))]
pub struct JoinedStore {
    /// The store.
    pub target: Target,
    /// Its revision, here and there.
    pub revision: u64,
    /// How many entries were there.
    pub found: u64,
    /// Entries of this host that were not there, and are now.
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
    /// Why.
    pub why: String,
    /// What `memory.approve` calls it, once there is room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_id: Option<String>,
}

/// Params of `shared.leave`: none; the profile is the request's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeaveParams {}

/// Result of `shared.leave`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeaveResult {
    /// The profile; its stores stay here as they are.
    pub profile: String,
    /// Writes that waited for the database and wait for approval now.
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
