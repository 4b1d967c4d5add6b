//! Locks on sessions, for agents that compress by themselves.

use serde::{Deserialize, Serialize};

/// Params of `session.lock`. The session need not have been opened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LockParams {
    /// The session's id.
    pub session: String,
    /// Who wants it.
    pub holder: String,
    /// Seconds after which the lock ends by itself; 300 when absent. With 0 it
    /// ends with the connection that took it.
    pub ttl_s: Option<f64>,
}

/// Params of `session.unlock`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnlockParams {
    /// The session's id.
    pub session: String,
    /// Who has it.
    pub holder: String,
}

/// Result of `session.lock` and `session.unlock`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LockResult {
    /// Whether it was taken or released.
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
    /// Who has it; null when nobody does.
    pub holder: Option<String>,
}
