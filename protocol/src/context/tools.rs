//! `context.tools`: which tools are used, what they cost, and which are sent.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `context.tools`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolsParams {
    /// The session's id.
    pub session: String,
    /// All the schemas that the agent has, as it would send them; at most 2,000.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub tools: Vec<Json>,
    /// Tokens that the list may cost; all of them when absent.
    pub budget: Option<u64>,
    /// Names of tools that the model asked for, where that message was not appended yet; at most 2,000.
    pub open: Option<Vec<String>>,
}

/// Result of `context.tools`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolsResult {
    /// What is to be sent: those that are kept, as they were given and in their order, then the tool that opens
    /// others, then those that were opened.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub list: Vec<Json>,
    /// Each tool that was given.
    pub tools: Vec<ToolUse>,
    /// What all of them cost, in tokens.
    pub tokens_before: u64,
    /// What the list costs, in tokens; more than the budget where what is needed does.
    pub tokens_after: u64,
    /// The name of the tool that opens others; null where none is left out.
    pub opener: Option<String>,
}

/// A tool by its use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolUse {
    /// Its name; null for a schema of an unknown form.
    pub name: Option<String>,
    /// What its schema costs, in tokens, by estimate.
    pub tokens: u64,
    /// Calls of it in the session's archived messages.
    pub calls: u64,
    /// What becomes of it.
    pub state: ToolState,
}

/// What becomes of a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ToolState {
    /// Its schema stands in its place.
    #[default]
    Kept,
    /// Its schema stands at the end.
    Opened,
    /// It has a line in the description of the tool that opens others.
    Stub,
}
