//! What a run made of a list.

use super::{EngineState, Over};
use crate::cache::Sizes;
use crate::constraints::Update;
use crate::episodes::Anchors;
use crate::importance::Importance;
use crate::message::Message;
use crate::node::NewNode;
use crate::slot::Slot;

/// The new list, as differences from the input.
#[derive(Clone, Debug)]
pub struct Compressed {
    /// The new list in order.
    pub slots: Vec<Slot>,
    /// The input messages whose text is not in the new list as it was, by index.
    pub removed: Vec<Removed>,
    /// Figures for the report.
    pub numbers: Numbers,
    /// What a prompt cache can still use; by estimate.
    pub sizes: Sizes,
    /// The session's rules from now on.
    pub constraints: Update,
    /// The state afterwards; it holds the summary's body.
    pub state: EngineState,
    /// The text of the handoff, prefix and end marker included; empty without one.
    pub handoff: String,
    /// What keeps the new list over the threshold, if it is.
    pub over: Option<Over>,
    /// Messages between head and tail that stay word for word, because much refers to them.
    pub verbatim: Vec<Scored>,
    /// Outputs of the tail that became short to make room for the handoff.
    pub shortened: Vec<Scored>,
    /// Outputs of the new list that are only a line any more because the agent was done with them.
    pub discarded: usize,
    /// Closed episodes of which messages left the list.
    pub episodes: usize,
    /// What the beginnings of episodes are known by in the new list, where that is something else: their numbers with
    /// that.
    pub anchors: Vec<(u64, Anchors)>,
    /// Messages of the new list that are pinned, or stay because they belong to one that is.
    pub pinned: usize,
    /// Positions of pinned messages of the input that gave way, because the list could not be sent with them.
    pub unpinned: Vec<usize>,
    /// Nodes that were made, in order: what a node stands for comes before it.
    pub nodes: Vec<NewNode>,
}

/// A message of the input, and what it is worth to what comes after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scored {
    /// Its position.
    pub index: usize,
    /// What it is worth, and why.
    pub importance: Importance,
}

impl Compressed {
    /// The whole new list; kept messages are those of `input`, which must be the input itself.
    pub fn messages<'a>(&'a self, input: &'a [Message]) -> impl Iterator<Item = &'a Message> {
        self.slots.iter().filter_map(|slot| slot.message(input))
    }
}

/// An input message whose text left the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// It is gone, and the handoff covers it or nothing answers it.
    Dropped(usize),
    /// A changed form of it is still there.
    Replaced(usize),
}

impl Removed {
    /// Position in the input.
    pub fn index(self) -> usize {
        match self {
            Self::Dropped(index) | Self::Replaced(index) => index,
        }
    }
}

/// Figures of one compression.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Messages of the input.
    pub messages_before: usize,
    /// Messages of the new list.
    pub messages_after: usize,
    /// Chars of the input in the sense of the estimate.
    pub chars_before: usize,
    /// Chars of the new list.
    pub chars_after: usize,
    /// Tokens taken as the size before: the caller's figure, the last prompt, or the estimate.
    pub tokens_before: u64,
    /// The estimate of the new list.
    pub tokens_after: u64,
    /// Messages before the handoff's place.
    pub head: usize,
    /// Input messages after it.
    pub tail: usize,
    /// Messages that pruning made shorter.
    pub pruned: usize,
    /// Messages between head and tail cut.
    pub dropped: usize,
    /// Saved tokens as a percentage of those before.
    pub savings_pct: f64,
    /// Rules that the handoff quotes.
    pub constraints: usize,
    /// Exact references that it lists.
    pub anchors: usize,
}

/// A tool output that is to leave the list for a preview of it, and to be kept elsewhere first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    /// Its position in the input.
    pub index: usize,
    /// The tool's name; empty where its call is not in the list.
    pub tool: String,
    /// The call's id, if it has one.
    pub id: Option<String>,
    /// The whole text.
    pub text: String,
}
