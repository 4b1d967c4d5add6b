//! `guard.scrub`: masks the secrets in what was kept before.

use serde::{Deserialize, Serialize};

use super::SecretCount;

/// Params of `guard.scrub`. One call does a part of the work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ScrubParams {
    /// Where to go on: the `cursor` of the last result. Absent for the first call.
    pub cursor: Option<String>,
    /// Whether to change nothing, and only count.
    pub dry_run: Option<bool>,
}

/// Result of `guard.scrub`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ScrubResult {
    /// Where the next call goes on; null after the last one.
    pub cursor: Option<String>,
    /// What this call looked at: `messages`, `outputs`, `memory`, `texts`, `index` or `files`.
    pub stage: String,
    /// How far this stage is, in the unit of `of`.
    pub done: u64,
    /// The size of this stage.
    pub of: u64,
    /// The texts that this call changed, or would change.
    pub changed: u64,
    /// The secrets in them, by kind.
    pub secrets: Vec<SecretCount>,
    /// Where something is left.
    pub left: Vec<Left>,
}

/// A place in which a secret is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ScrubLeft"))]
pub struct Left {
    /// The session, output, store or file.
    pub place: String,
    /// Why it is left, and what to do.
    pub why: String,
}
