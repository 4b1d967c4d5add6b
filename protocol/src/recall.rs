//! Params and results of the recall methods: getting back what left a context.

use serde::{Deserialize, Serialize};

use crate::Json;

/// Params of `recall.search`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SearchParams {
    /// What is looked for: a question, or any text. The best passages come first; what
    /// stands in double quotes must occur as it is.
    pub query: String,
    /// Only of this session.
    pub session: Option<String>,
    /// Only of these kinds; all when absent.
    pub kinds: Option<Vec<Kind>>,
    /// Only what is from then or later, in Unix seconds.
    pub since: Option<f64>,
    /// Only what is from before then, in Unix seconds.
    pub until: Option<f64>,
    /// Hits at most; 20 when absent, up to 100.
    pub limit: Option<u64>,
    /// Whether messages of other hosts are looked through too, where they are shared; only this one's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
}

/// Where is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RecallScope"))]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// On this host.
    Here,
    /// On all hosts that share.
    Everywhere,
}

/// What a hit is in.
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
    /// There are more than were asked for.
    pub more: bool,
    /// What somebody should know of the search: that the embedder failed, and words decided alone, or that outputs
    /// which were kept just now are not found yet.
    pub notice: Option<String>,
    /// Always true: a message with this result is not archived as new.
    pub recalled: bool,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RecallHit"))]
pub struct Hit {
    /// Leads to it in `recall.expand`.
    pub handle: String,
    /// What it is in.
    pub kind: Kind,
    /// The session; null when none is known.
    pub session: Option<String>,
    /// Which agent's session; null when that is not known.
    pub agent: Option<String>,
    /// The file of another program that the session was imported from.
    pub source: Option<String>,
    /// Who said it.
    pub role: Option<String>,
    /// When, in Unix seconds.
    pub time: f64,
    /// The text around the hit.
    pub snippet: String,
    /// Where the hit begins in the snippet, in chars.
    pub start: u64,
    /// Where it ends in the snippet, in chars.
    pub end: u64,
    /// How well it fits; higher is better, and comparable within one result only.
    pub score: f64,
    /// Of a message that left the list of a session whose engine is `lossless`: the node that stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Of a message that was said on another host: that host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// Params of `recall.expand`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExpandParams {
    /// Of a hit, of a compression, of a node, or of an output.
    #[serde(default)]
    pub handle: String,
    /// Of a node, instead of the handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Messages or lines before it; 2 when absent, up to 100.
    pub before: Option<u64>,
    /// Messages or lines after it; 2 when absent, up to 100.
    pub after: Option<u64>,
    /// Of a compression or a node: tokens that the messages of one answer take at the most; the first one always
    /// goes. By a rough estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

/// Result of `recall.expand`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExpandResult {
    /// What was found and what is around it, in its order.
    pub items: Vec<Item>,
    /// Expanding this goes on where the items end; null at the end.
    pub next: Option<String>,
    /// Always true: a message with this result is not archived as new.
    pub recalled: bool,
}

/// A message, a part of an output, or an entry of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RecallItem"))]
pub struct Item {
    /// Names it.
    pub handle: String,
    /// Who said it.
    pub role: Option<String>,
    /// Its text.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// The whole message, byte for byte.
    pub message: Option<Json>,
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
    /// What each compression took out, oldest first.
    pub compressions: Vec<Compression>,
    /// Of a session whose engine is `lossless`: the nodes that no other one stands for, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub map: Vec<Node>,
    /// The nodes whose messages stand in its list again (`context.open`), in the order of the conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
}

/// A part of a conversation that left its list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "MapNode"))]
pub struct Node {
    /// Leads to what it stands for in `recall.expand`.
    pub id: String,
    /// 0 for a leaf, which stands for messages; else one more than the nodes that it stands for.
    pub depth: u32,
    /// The number of its first message in the conversation, from 0.
    pub first: u64,
    /// That of the message after its last one.
    pub next: u64,
    /// When its first message came, in Unix seconds.
    pub since: f64,
    /// When its last one did, in Unix seconds.
    pub until: f64,
    /// Tokens of its messages, by the rough estimate.
    pub tokens: u64,
    /// Who wrote its text: a summarizer.
    pub writer: String,
    /// The nodes that it stands for, oldest first; none of a leaf.
    pub children: Vec<String>,
    /// What it says.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: String,
    /// Exact references of its messages.
    pub references: String,
    /// The state of the work at its end.
    pub state: String,
    /// What the checks of its text had to say.
    pub warnings: Vec<String>,
}

/// A compression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Compression {
    /// The session's generation after it.
    pub generation: u64,
    /// When, in Unix seconds.
    pub time: f64,
    /// Leads to the messages in `recall.expand`.
    pub handle: String,
    /// Messages whose text left the list.
    pub messages: u64,
    /// Their chars.
    pub chars: u64,
    /// The summary that took their place.
    #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub summary: String,
    /// Of an undo: the generation whose list it brought back; its messages are what left by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_to: Option<u64>,
    /// The generation of the undo that took it back: its messages are in the list again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<u64>,
}

/// Params of `recall.state`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StateParams {
    /// The session's id.
    pub session: String,
    /// Only what has this name; where nothing has it, those whose name or kind has it in it.
    pub entity: Option<String>,
    /// Entities at most; 50 when absent, up to 500.
    pub limit: Option<u64>,
}

/// Result of `recall.state`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StateResult {
    /// What the session is about, what is needed most first.
    pub entities: Vec<Entity>,
    /// There are more than were asked for.
    pub more: bool,
    /// Always true: a message with this result is not archived as new.
    pub recalled: bool,
}

/// Something that a session is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Entity {
    /// What it is: `order`, `file`, `test`, or how its name is written.
    pub kind: String,
    /// Its exact name.
    pub id: String,
    /// What is known of it.
    pub attributes: Vec<Attribute>,
    /// Calls that were given it.
    pub given: u64,
    /// Times that it was named otherwise.
    pub said: u64,
    /// The message that named it last, for `recall.expand`.
    pub handle: String,
}

/// One thing that is known of an entity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Attribute {
    /// As those who said it call it.
    pub name: String,
    /// Its newest value.
    pub value: String,
    /// The value before that; null when there was none.
    pub was: Option<String>,
    /// The message that says so, for `recall.expand`.
    pub handle: String,
}

/// Params of `recall.ask`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AskParams {
    /// What is asked, in up to 1,000 chars.
    pub question: String,
    /// The session of which it is asked; that of the node when there is one.
    pub session: Option<String>,
    /// The part of its map of which it is asked, and nothing else of the session.
    pub node: Option<String>,
    /// Tokens of passages that a summarizer is given at the most: 8,000 when absent, 500 to 60,000.
    pub tokens: Option<u64>,
    /// The summarizer; those of the configuration when absent.
    pub summarizer: Option<String>,
}

/// Result of `recall.ask`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AskResult {
    /// The answer; null where nothing there tells, or no model was asked.
    pub answer: Option<String>,
    /// What shows it, word for word; without an answer the passages that fit the question best.
    pub evidence: Vec<Evidence>,
    /// Who answered: a summarizer, `extractive` where there are only passages.
    pub by: String,
    /// Quotations that the summarizer made up; they are left out.
    pub unverified: u64,
    /// What somebody should know: why no model answered.
    pub notice: Option<String>,
    /// Always true: a message with this result is not archived as new.
    pub recalled: bool,
}

/// Words that were said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RecallEvidence"))]
pub struct Evidence {
    /// The words, with their white space as one space each.
    pub quote: String,
    /// Leads to the message in `recall.expand`.
    pub handle: String,
    /// Who said it.
    pub role: Option<String>,
    /// When, in Unix seconds.
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
    /// The function schemas that let a model search, expand, describe and ask for the state; and ask a question,
    /// where a summarizer is configured that can answer it.
    pub tools: Vec<Json>,
}
