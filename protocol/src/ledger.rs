//! Params and results of the ledger: what herma added to and removed from the windows of sessions, and what that cost.

use serde::{Deserialize, Serialize};

use crate::session::usage::By;
pub use crate::session::usage::Call;

/// Params of `ledger.record`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerRecordParams"))]
pub struct RecordParams {
    /// The session.
    pub session: String,
    /// Model calls as the provider reported them; at most 10,000.
    pub calls: Option<Vec<Call>>,
    /// Changes of the window; at most 10,000.
    pub changes: Option<Vec<Change>>,
}

/// A change of a session's window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerChange"))]
pub struct Change {
    /// When the change was made, in Unix seconds.
    pub time: f64,
    /// The kind of change.
    pub kind: ChangeKind,
    /// Tokens that are in the window because of herma.
    pub added: u64,
    /// Tokens that would be in the window without herma.
    pub removed: u64,
}

/// The kind of a change of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerChangeKind"))]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Instructions and tool names of herma's MCP server, which stay through compactions.
    Definitions,
    /// Memory, rules and state that a hook added.
    Context,
    /// A call of one of herma's tools and its result.
    Tool,
    /// A large output: `added` is the preview, `removed` is what the client would show without herma.
    Output,
    /// A compaction by herma, which begins a new window. `removed` is what the client's own compaction would leave.
    Compaction,
    /// The text with which a proxy answered the client's request for a summary; it begins a new
    /// window. `removed` is the summary. Such a request reads nothing from a prompt cache.
    Handover,
    /// A compaction by the client itself, which begins a new window. `added` is herma's instructions for its summary.
    Summary,
}

/// Result of `ledger.record`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerRecord"))]
pub struct RecordResult {
    /// Number of calls that were not recorded before.
    pub calls: u64,
    /// Number of recorded changes.
    pub changes: u64,
}

/// Params of `ledger.read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerReadParams"))]
pub struct ReadParams {
    /// Only this session.
    pub session: Option<String>,
    /// Only calls and changes since this time, in Unix seconds.
    pub since: Option<f64>,
    /// What to group rows by; `session` when absent.
    pub by: Option<By>,
    /// Whether each group has a row for each agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<bool>,
}

/// Result of `ledger.read`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerRead"))]
pub struct ReadResult {
    /// The rows by descending cost, or days in order. Sessions and models of which herma changed nothing are left out.
    pub rows: Vec<Row>,
    /// The sum of all rows, with an empty key.
    pub total: Row,
}

/// The calls and changes of one group. Costs are in tokens of plain input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerRow"))]
pub struct Row {
    /// The session, model, agent or day (YYYY-MM-DD).
    pub key: String,
    /// The agent, if the rows are for each agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Number of messages that were kept.
    #[serde(default)]
    pub messages: u64,
    /// Number of kept messages that are the result of a search of herma's.
    #[serde(default)]
    pub found: u64,
    /// Number of tool outputs that were spilled, also of those that are gone since.
    #[serde(default)]
    pub spilled: u64,
    /// Number of compressions that were not undone.
    #[serde(default)]
    pub compressed: u64,
    /// Number of model calls.
    pub calls: u64,
    /// The cost of the calls.
    pub cost: u64,
    /// What the calls would have cost without herma.
    pub without_herma: u64,
    /// `cost` minus `without_herma`; positive if herma cost more than it saved.
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
    /// Requests for a summary: those that herma saved, and herma's instructions in the others.
    pub summaries: Part,
}

/// One kind of herma's changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LedgerPart"))]
pub struct Part {
    /// Number of changes.
    pub count: u64,
    /// Added tokens.
    pub added: u64,
    /// Removed tokens.
    pub removed: u64,
    /// Their cost in all later calls; negative if they saved something.
    pub cost: i64,
}
