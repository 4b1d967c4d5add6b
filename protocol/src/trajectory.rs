//! `trajectory.compress`: compresses recorded conversations for training, offline.

pub mod metrics;

use serde::{Deserialize, Serialize};

use crate::Json;
use metrics::{Aggregate, Row};

/// Params of `trajectory.compress`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompressParams {
    /// The conversations, each a list of turns `{from, value}`; at most
    /// [`TRAJECTORIES`](crate::limits::TRAJECTORIES). Other members of a turn are kept.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub conversations: Vec<Vec<Json>>,
    /// The configuration: an object with sections and keys, or the same as a YAML string.
    pub config: Option<Json>,
    /// Tokens of each turn of each conversation, counted with the caller's tokenizer.
    pub tokens: Option<Vec<Vec<u64>>>,
    /// A summary for each conversation, if the caller has them.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub summaries: Option<Vec<String>>,
    /// The summarizer for conversations without a given summary: any except the caller itself
    /// (`client`). The configured ones when absent.
    pub summarizer: Option<String>,
    /// How to count text that the caller did not count; `chars` when absent.
    pub count: Option<Count>,
    /// Whether to only return the plans and change nothing.
    pub dry_run: Option<bool>,
}

/// A method of counting tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TextCount"))]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// A quarter of the chars, rounded down.
    #[default]
    Chars,
    /// An estimate by script (writing system): `own` in the result of `context.estimate`.
    Script,
}

/// Result of `trajectory.compress`. Every list has one item per conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompressResult {
    /// The conversations. Unchanged turns are returned byte for byte.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub conversations: Vec<Vec<Json>>,
    /// The plan for each conversation.
    pub plans: Vec<Plan>,
    /// The metrics of each conversation.
    pub metrics: Vec<Row>,
    /// The metrics of all conversations together.
    pub aggregate: Aggregate,
    /// The configuration with all effective values.
    pub config: Json,
}

/// The plan for a conversation. Positions are those of its turns, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryPlan"))]
pub struct Plan {
    /// Positions of the turns that stay, in order.
    pub protected: Vec<u64>,
    /// Start of the region between the protected turns.
    pub start: u64,
    /// End of that region, exclusive.
    pub end: u64,
    /// End of the turns that a summary replaces, exclusive; equal to `start` if no turn can be replaced.
    pub until: u64,
    /// The text of these turns for a model summarizer; empty if no turn can be replaced.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub summary_input: String,
    /// Why the conversation is left unchanged.
    pub skip: Option<String>,
}
