//! Locks on sessions, for agents that compress their own conversations.

use serde::{Deserialize, Serialize};

/// Params of `session.lock`. The session doesn't have to be open.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LockParams {
    /// The session's id.
    pub session: String,
    /// The holder that requests the lock.
    pub holder: String,
    /// Seconds until the lock expires; 300 when absent. With 0 it ends with the connection that took it.
    pub ttl_s: Option<f64>,
}

/// Params of `session.unlock`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnlockParams {
    /// The session's id.
    pub session: String,
    /// The holder of the lock.
    pub holder: String,
}

/// Result of `session.lock` and `session.unlock`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LockResult {
    /// Whether the lock was taken or released.
    pub ok: bool,
}

/// Params of `session.lock_holder`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LockHolderParams {
    /// The session's id.
    pub session: String,
}

/// Result of `session.lock_holder`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LockHolderResult {
    /// The holder of the lock; null if it is free.
    pub holder: Option<String>,
}
