//! Summaries of messages that were removed from a list.

use std::ops::Range;

/// One part of a conversation: it covers a range of messages, or four parts one level below. It never
/// changes; a rewrite creates a new node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// The id with which the node can be opened.
    pub id: String,
    /// Its number within its session; the id ends with it.
    pub number: u64,
    /// 0 for a leaf, which covers messages; else one more than the depth of the nodes that it covers.
    pub depth: u32,
    /// The number of its first message in the conversation, from 0.
    pub first: u64,
    /// The number of the message after its last one.
    pub next: u64,
    /// When its first message was sent, in Unix seconds.
    pub from: f64,
    /// When its last message was sent, in Unix seconds.
    pub until: f64,
    /// Tokens of the messages that it covers, by the rough estimate.
    pub tokens: u64,
    /// The writer of its text: the name of a summarizer.
    pub writer: String,
    /// Its text.
    pub text: String,
    /// Exact references from its messages, as listed in a handoff.
    pub references: String,
    /// The state of the work at its end, as in a handoff.
    pub state: String,
    /// Repairs and warnings from the checks of its text, and its unverified quotations.
    pub warnings: Vec<String>,
}

/// A node to store.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNode {
    /// The node.
    pub node: Node,
    /// The content that it covers.
    pub of: Coverage,
}

/// The content that a node covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Messages at these positions of the list before the compression that made it.
    Messages(Range<usize>),
    /// Messages that left in earlier compressions, under the handle of the last one.
    Handle(String),
    /// Other nodes, by id, the oldest first.
    Nodes(Vec<String>),
}

/// The nodes of a session at the start of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionNodes {
    /// The beginning of the ids of new nodes; a number follows.
    pub prefix: String,
    /// The number of the next node.
    pub next: u64,
    /// The nodes that no other node covers, the oldest first.
    pub nodes: Vec<Node>,
    /// When the messages of the list were sent, by position, in Unix seconds. Unknown times at the end are
    /// left out.
    pub times: Vec<f64>,
    /// When the list last changed, in Unix seconds: for messages without a time of their own.
    pub since: f64,
    /// The number of messages that left the list in all compressions so far.
    pub left: u64,
}

impl SessionNodes {
    /// Returns the conversation number of the next message to leave the list; `head` messages stay before it.
    pub(crate) fn reached(&self, head: usize) -> u64 {
        let before = u64::try_from(head).unwrap_or(u64::MAX);
        self.nodes.last().map_or(before, |node| node.next)
    }

    /// Gives a node a unique id.
    pub(crate) fn named(&mut self, node: Node) -> Node {
        let number = self.next;
        self.next += 1;
        Node { id: format!("{}{number}", self.prefix), number, ..node }
    }

    /// Returns when the message at a position was sent.
    pub(crate) fn time(&self, at: usize, now: f64) -> f64 {
        self.times
            .get(at)
            .copied()
            .unwrap_or_else(|| self.since.max(self.times.last().copied().unwrap_or(0.0)).min(now))
    }
}
