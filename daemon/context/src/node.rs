//! Parts of a conversation that left its list.

use std::ops::Range;

/// One part of a conversation: what stands for a range of its messages, or for four parts one level below. It never
/// changes; who writes it anew makes another one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Opens it.
    pub id: String,
    /// Its number among those of its session; the id ends with it.
    pub number: u64,
    /// 0 for a leaf, which stands for messages; else one more than the nodes that it stands for.
    pub depth: u32,
    /// The number of its first message in the conversation, from 0.
    pub first: u64,
    /// The number of the message after its last one.
    pub next: u64,
    /// When its first message was said, in Unix seconds.
    pub from: f64,
    /// When its last one was, in Unix seconds.
    pub until: f64,
    /// Tokens of the messages that it stands for, by the rough estimate.
    pub tokens: u64,
    /// Who wrote its text: the name of a summarizer.
    pub writer: String,
    /// What it says.
    pub text: String,
    /// Exact references of its messages, as a handoff lists them.
    pub references: String,
    /// The state of the work at its end, as a handoff tells it.
    pub state: String,
    /// What the checks of its text repaired or let in, and the quotations that nobody said.
    pub warnings: Vec<String>,
}

/// A node that is to be kept.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNode {
    /// The node.
    pub node: Node,
    /// What it stands for.
    pub of: Of,
}

/// What a node stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// Messages at these positions of the list before the compression that made it.
    Messages(Range<usize>),
    /// What left by earlier compressions, under the handle of the last one.
    Handle(String),
    /// Nodes, the oldest first, by their ids.
    Nodes(Vec<String>),
}

/// What is known of a session's nodes when a run begins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownNodes {
    /// What the ids of new nodes begin with; a number follows.
    pub prefix: String,
    /// The number of the next one.
    pub next: u64,
    /// The nodes that no other one stands for, the oldest first.
    pub nodes: Vec<Node>,
    /// When the messages of the list were said, by position, in Unix seconds; what is not known is left out at the
    /// end.
    pub times: Vec<f64>,
    /// When the list last changed, in Unix seconds: for messages without a time of their own.
    pub since: f64,
    /// Messages that left the list by all compressions so far.
    pub left: u64,
}

impl KnownNodes {
    /// The number of the next message of the conversation that is to leave the list; `head` stay before it.
    pub(crate) fn reached(&self, head: usize) -> u64 {
        let before = u64::try_from(head).unwrap_or(u64::MAX);
        self.nodes.last().map_or(before, |node| node.next)
    }

    /// The node with an id that no other one has.
    pub(crate) fn named(&mut self, node: Node) -> Node {
        let number = self.next;
        self.next += 1;
        Node { id: format!("{}{number}", self.prefix), number, ..node }
    }

    /// When the message at a position was said.
    pub(crate) fn time(&self, at: usize, now: f64) -> f64 {
        self.times
            .get(at)
            .copied()
            .unwrap_or_else(|| self.since.max(self.times.last().copied().unwrap_or(0.0)).min(now))
    }
}
