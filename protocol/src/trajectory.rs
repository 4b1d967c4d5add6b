//! `trajectory.compress`: recorded conversations of training data, made shorter offline.

pub mod metrics;

use serde::{Deserialize, Serialize};

use crate::Json;
use metrics::{Aggregate, Row};

/// Params of `trajectory.compress`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompressParams {
    /// Conversations, each a list of turns `{from, value}`; at most
    /// [`TRAJECTORIES`](crate::limits::TRAJECTORIES). Other members of a turn are kept.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub conversations: Vec<Vec<Json>>,
    /// Sections and keys of the configuration as an object, or as a string of YAML.
    pub config: Option<Json>,
    /// Tokens of each turn of each conversation, from the caller's own tokenizer.
    pub tokens: Option<Vec<Vec<u64>>>,
    /// A summary for each conversation, from callers that have them.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub summaries: Option<Vec<String>>,
    /// What writes the summaries that are not given: any summarizer but the caller (`client`);
    /// the configured ones when absent.
    pub summarizer: Option<String>,
    /// How text is counted that the caller did not count; `chars` when absent.
    pub count: Option<Count>,
    /// Only say what would be done.
    pub dry_run: Option<bool>,
}

/// How tokens are counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TextCount"))]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// A quarter of the chars, rounded down.
    #[default]
    Chars,
    /// By script, the estimate that `context.estimate` calls `own`.
    Script,
}

/// Result of `trajectory.compress`. Every list has an item for each conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompressResult {
    /// The conversations; turns that did not change come back byte for byte.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub conversations: Vec<Vec<Json>>,
    /// What was decided.
    pub plans: Vec<Plan>,
    /// What came of it.
    pub metrics: Vec<Row>,
    /// All of it together.
    pub aggregate: Aggregate,
    /// The configuration with all values in force.
    pub config: Json,
}

/// What is decided for a conversation. Positions are of its turns, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryPlan"))]
pub struct Plan {
    /// Turns that stay as they are, in order.
    pub protected: Vec<u64>,
    /// Where the region between the protected turns begins.
    pub start: u64,
    /// Where it ends, exclusive.
    pub end: u64,
    /// Where the turns end that a summary replaces, exclusive; `start` when none can be replaced.
    pub until: u64,
    /// What a model summarizer would read of them; empty when none can be replaced.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub summary_input: String,
    /// Why the conversation stays as it is.
    pub skip: Option<String>,
}
