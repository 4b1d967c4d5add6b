//! `context.tools`: which tools a session uses, what they cost, and which schemas to send.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `context.tools`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolsParams {
    /// The session's id.
    pub session: String,
    /// All tool schemas that the agent has, in the form that it would send; at most 2,000.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub tools: Vec<Json>,
    /// Tokens that the list may cost. When absent, all tools stay in the list.
    pub budget: Option<u64>,
    /// Names of tools that the model asked for in a message that is not yet appended; at most 2,000.
    pub open: Option<Vec<String>>,
}

/// Result of `context.tools`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolsResult {
    /// The schemas to send: first the kept ones, unchanged and in order, then the tool that opens
    /// others, then the opened ones.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub list: Vec<Json>,
    /// The use of each given tool.
    pub tools: Vec<ToolUse>,
    /// Tokens of all given schemas.
    pub tokens_before: u64,
    /// Tokens of the list. They exceed the budget if the needed tools alone do.
    pub tokens_after: u64,
    /// The name of the tool that opens others; null if no tool was left out.
    pub opener: Option<String>,
}

/// A tool and its use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolUse {
    /// Its name; null for a schema of an unknown form.
    pub name: Option<String>,
    /// Estimated tokens of its schema.
    pub tokens: u64,
    /// Number of its calls in the session's archived messages.
    pub calls: u64,
    /// Where the tool ended up.
    pub state: ToolState,
}

/// Where a tool ended up in the list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ToolState {
    /// Its schema is in its original place.
    #[default]
    Kept,
    /// Its schema is at the end of the list.
    Opened,
    /// It is only a line in the description of the tool that opens others.
    Stub,
}
