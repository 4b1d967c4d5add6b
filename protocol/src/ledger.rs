//! What herma added to the windows of sessions and what it took away, with what that cost.

use serde::{Deserialize, Serialize};

use crate::Json;
use crate::session::usage::By;

/// Params of `ledger.record`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerRecordParams"))]
pub struct RecordParams {
    /// The session.
    pub session: String,
    /// Calls of the model, as its provider reported them; at most 10,000.
    pub calls: Option<Vec<Call>>,
    /// Changes of the window; at most 10,000.
    pub changes: Option<Vec<Change>>,
}

/// A call of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerCall"))]
pub struct Call {
    /// The call's id: 1 to 1,024 chars, no controls. A call that is recorded again is one call.
    pub id: String,
    /// When, in Unix seconds.
    pub time: f64,
    /// The model; the session's when absent.
    pub model: Option<String>,
    /// The provider.
    pub provider: Option<String>,
    /// How the endpoint was spoken to.
    pub api_mode: Option<String>,
    /// What the provider reported, as it came.
    pub usage: Json,
}

/// A change of a session's window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerChange"))]
pub struct Change {
    /// When, in Unix seconds.
    pub time: f64,
    /// What changed.
    pub kind: ChangeKind,
    /// Tokens that are in the window because of herma.
    pub added: u64,
    /// Tokens that would be in the window without herma.
    pub removed: u64,
}

/// What changed in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerChangeKind"))]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Instructions and tool names of herma's MCP server, which stay through compactions.
    Definitions,
    /// Memory, rules and state that a hook added.
    Context,
    /// A call of one of herma's tools, with its result.
    Tool,
    /// A large output: `added` is the preview, `removed` is what the client itself would show.
    Output,
    /// A compaction by herma: a new window. `removed` is what the client's own compaction would leave.
    Compaction,
    /// The text that a proxy answered the client's request for a summary with: a new window. `removed` is the summary. Such
    /// a request reads nothing from a prompt cache.
    Handover,
    /// A compaction by the client itself: a new window. `added` are instructions for its summary.
    Summary,
}

/// Result of `ledger.record`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerRecord"))]
pub struct RecordResult {
    /// Calls that were not recorded before.
    pub calls: u64,
    /// Changes that were recorded.
    pub changes: u64,
}

/// Params of `ledger.read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerReadParams"))]
pub struct ReadParams {
    /// Only of this session.
    pub session: Option<String>,
    /// Only calls and changes since then, in Unix seconds.
    pub since: Option<f64>,
    /// What makes a row; `session` when absent.
    pub by: Option<By>,
}

/// Result of `ledger.read`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerRead"))]
pub struct ReadResult {
    /// The largest cost first; days in their order. Sessions in which herma changed nothing are left out.
    pub rows: Vec<Row>,
    /// All rows together, with an empty key.
    pub total: Row,
}

/// Calls and changes that belong together. Costs are tokens of plain input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerRow"))]
pub struct Row {
    /// The session, the model, the agent or the day (YYYY-MM-DD).
    pub key: String,
    /// Calls of a model.
    pub calls: u64,
    /// What the calls cost.
    pub cost: u64,
    /// What they would have cost without herma.
    pub without_herma: u64,
    /// `cost` minus `without_herma`: above 0 where herma cost more than it saved.
    pub difference: i64,
    /// Instructions and tool names.
    pub definitions: Part,
    /// Memory, rules and state.
    pub context: Part,
    /// Calls of herma's tools.
    pub tools: Part,
    /// Large outputs.
    pub outputs: Part,
    /// Windows that herma's compactions began.
    pub compactions: Part,
    /// Requests for a summary: those that herma spared, and herma's instructions in those that were sent.
    pub summaries: Part,
}

/// A part of what herma changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerPart"))]
pub struct Part {
    /// Changes.
    pub count: u64,
    /// Tokens that were added.
    pub added: u64,
    /// Tokens that were removed.
    pub removed: u64,
    /// What that cost in all calls behind it; below 0 where it saved something.
    pub cost: i64,
}
