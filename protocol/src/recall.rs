//! Params and results of the recall methods: finding text that left a conversation.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `recall.search`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SearchParams {
    /// A question or any text; the best passages come first. Text in double quotes must occur exactly.
    pub query: String,
    /// Only this session.
    pub session: Option<String>,
    /// Only these kinds; all kinds when absent.
    pub kinds: Option<Vec<Kind>>,
    /// Only text from this time or later, in Unix seconds.
    pub since: Option<f64>,
    /// Only text from before this time, in Unix seconds.
    pub until: Option<f64>,
    /// The most hits to return, up to 100; 20 when absent.
    pub limit: Option<u64>,
    /// Whether to also search shared messages of other hosts; only this host when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// How many messages to return on each side of a message, up to 5; 1 when absent. A message that is returned next
    /// to a better hit is not a hit of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<u64>,
    /// The session that begins with the query as its prompt. Only places of other sessions that fit the whole prompt are
    /// hits, and none if `recall.at_prompt` in the configuration is false or the prompt has few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_of: Option<String>,
    /// Only sessions of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only sessions whose agent worked in this folder or below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

/// The hosts to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RecallScope"))]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// This host.
    Here,
    /// All hosts that share messages.
    Everywhere,
}

/// The kind of object that contains a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RecallKind"))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A message of a session.
    Message,
    /// A spilled output.
    Output,
    /// A change of a store.
    Memory,
}

/// Result of `recall.search`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SearchResult {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// Whether there are more hits.
    pub more: bool,
    /// A note about the search: the embedder failed and only words were compared, or outputs stored
    /// just now are not found yet.
    pub notice: Option<String>,
    /// Always true. It keeps a message with this result from being archived again.
    pub recalled: bool,
}

/// A search hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RecallHit"))]
pub struct Hit {
    /// The handle for `recall.expand`.
    pub handle: String,
    /// The kind of object that contains it.
    pub kind: Kind,
    /// The session; null if unknown.
    pub session: Option<String>,
    /// The agent of the session; null if unknown.
    pub agent: Option<String>,
    /// The file of another program from which the session was imported.
    pub source: Option<String>,
    /// The folder that the session's agent worked in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The role of the message.
    pub role: Option<String>,
    /// The time of the text, in Unix seconds.
    pub time: f64,
    /// The text around the hit.
    pub snippet: String,
    /// Start of the hit in the snippet, in chars.
    pub start: u64,
    /// End of the hit in the snippet, in chars.
    pub end: u64,
    /// The score; higher is better. Scores of different results are not comparable.
    pub score: f64,
    /// The node that covers the message, if it left the list of a session with the engine `lossless`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The host of the message, if it is from another host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The messages right before it, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Neighbour>,
    /// The messages right after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Neighbour>,
}

/// A message next to a hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RecallNeighbour"))]
pub struct Neighbour {
    /// The handle for `recall.expand`.
    pub handle: String,
    /// The role of the message.
    pub role: Option<String>,
    /// The part of its text that fits the query best, or its beginning.
    pub snippet: String,
}

/// Params of `recall.expand`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExpandParams {
    /// The handle of a hit, compression, node or output.
    #[serde(default)]
    pub handle: String,
    /// The id of a node, instead of a handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Number of messages or lines before it, up to 100; 2 when absent.
    pub before: Option<u64>,
    /// Number of messages or lines after it, up to 100; 2 when absent.
    pub after: Option<u64>,
    /// The most tokens of messages in one result, by a rough estimate. A longer message comes in parts.
    /// When absent, a result of a node has 2,000 tokens or one message, and others have no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// For a node or message: the words that the result should be about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Whether items contain whole messages next to their texts; true when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<bool>,
}

/// Result of `recall.expand`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExpandResult {
    /// The found object and its surroundings, in order.
    pub items: Vec<Item>,
    /// The handle to expand for the items after the last one; null at the end.
    pub next: Option<String>,
    /// Always true. It keeps a message with this result from being archived again.
    pub recalled: bool,
}

/// A message, a part of an output or an entry of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RecallItem"))]
pub struct Item {
    /// Its handle.
    pub handle: String,
    /// The role of the message.
    pub role: Option<String>,
    /// Its text.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// For a part of a message that is too long: where the part is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<ItemPart>,
    /// The whole message, byte for byte.
    pub message: Option<Json>,
}

/// The place of a part in the text of a message, in chars.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RecallItemPart"))]
pub struct ItemPart {
    /// Where it begins.
    pub start: u64,
    /// Where it ends; exclusive.
    pub end: u64,
    /// The length of the whole text.
    pub chars: u64,
}

/// Params of `recall.describe`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DescribeParams {
    /// The session's id.
    pub session: String,
}

/// Result of `recall.describe`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DescribeResult {
    /// The compressions, oldest first.
    pub compressions: Vec<Compression>,
    /// The nodes that no other node covers, oldest first. Only for a session with the engine `lossless`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub map: Vec<Node>,
    /// The nodes opened with `context.open`, in the order of the conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
}

/// A node of a session's map: a part of the conversation that left its list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "MapNode"))]
pub struct Node {
    /// Its id, also the handle for `recall.expand`.
    pub id: String,
    /// 0 for a leaf, which covers messages; otherwise one more than the depth of the nodes that it covers.
    pub depth: u32,
    /// The number of its first message in the conversation, from 0.
    pub first: u64,
    /// The number of the message after its last one.
    pub next: u64,
    /// The time of its first message, in Unix seconds.
    pub since: f64,
    /// The time of its last message, in Unix seconds.
    pub until: f64,
    /// Tokens of its messages, by a rough estimate.
    pub tokens: u64,
    /// The summarizer that wrote its text.
    pub writer: String,
    /// The nodes that it covers, oldest first; empty for a leaf.
    pub children: Vec<String>,
    /// Its text.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// Exact references in its messages.
    pub references: String,
    /// The state of the work at the end of its messages.
    pub state: String,
    /// Warnings from the checks of its text.
    pub warnings: Vec<String>,
}

/// A compression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Compression {
    /// The session's generation after the compression.
    pub generation: u64,
    /// The time of the compression, in Unix seconds.
    pub time: f64,
    /// The handle of the messages for `recall.expand`.
    pub handle: String,
    /// Number of messages whose text left the list.
    pub messages: u64,
    /// Chars of these messages.
    pub chars: u64,
    /// The summary that replaced them.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub summary: String,
    /// For an undo: the generation whose list it restored. The messages are those that the undo removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_to: Option<u64>,
    /// The generation of the undo that undid this compression: its messages are in the list again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<u64>,
}

/// Params of `recall.state`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StateParams {
    /// The session's id.
    pub session: String,
    /// Only the entity with this name. If there is none, entities whose name or kind contains it.
    pub entity: Option<String>,
    /// The most entities to return, up to 500; 50 when absent.
    pub limit: Option<u64>,
}

/// Result of `recall.state`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StateResult {
    /// The entities of the session, the most relevant first.
    pub entities: Vec<Entity>,
    /// Whether there are more entities.
    pub more: bool,
    /// Always true. It keeps a message with this result from being archived again.
    pub recalled: bool,
}

/// A thing that a session is about, such as an order, a file or a test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Entity {
    /// Its kind: `order`, `file` or `test`, or the form of its name.
    pub kind: String,
    /// Its exact name.
    pub id: String,
    /// The known attributes.
    pub attributes: Vec<Attribute>,
    /// Number of calls that had its name in their arguments.
    pub given: u64,
    /// Number of other mentions.
    pub said: u64,
    /// The handle, for `recall.expand`, of the last message that mentions it.
    pub handle: String,
}

/// An attribute of an entity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Attribute {
    /// Its name, as in the messages.
    pub name: String,
    /// Its newest value.
    pub value: String,
    /// The previous value; null if there was none.
    pub was: Option<String>,
    /// The handle, for `recall.expand`, of the message that contains the value.
    pub handle: String,
}

/// Params of `recall.ask`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AskParams {
    /// The question; only the first 1,000 chars count.
    pub question: String,
    /// The session that the question is about; with `node`, the node's session.
    pub session: Option<String>,
    /// The node of the session's map that the question is limited to.
    pub node: Option<String>,
    /// The most tokens of passages for the summarizer, 500 to 60,000; 8,000 when absent.
    pub tokens: Option<u64>,
    /// The summarizer; the configured ones when absent.
    pub summarizer: Option<String>,
}

/// Result of `recall.ask`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AskResult {
    /// The answer; null if the passages don't contain it or no model was called.
    pub answer: Option<String>,
    /// Quotations that support the answer; without an answer, the passages that fit the question best.
    pub evidence: Vec<Evidence>,
    /// The summarizer that answered; `extractive` if there are only passages.
    pub by: String,
    /// Number of quotations that the summarizer made up; they are left out.
    pub unverified: u64,
    /// Why no model answered.
    pub notice: Option<String>,
    /// Always true. It keeps a message with this result from being archived again.
    pub recalled: bool,
}

/// A quotation from a message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RecallEvidence"))]
pub struct Evidence {
    /// The quoted words, with runs of white space as one space.
    pub quote: String,
    /// The handle of the message for `recall.expand`.
    pub handle: String,
    /// The role of the message.
    pub role: Option<String>,
    /// The time of the message, in Unix seconds.
    pub time: f64,
}

/// Params of `recall.schema`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SchemaParams {}

/// Result of `recall.schema`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SchemaResult {
    /// The function schemas with which a model can search, expand, describe and query the state.
    /// They include a function for questions if a summarizer is configured that can answer them.
    pub tools: Vec<Json>,
}
