//! The result of a run.

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
    /// The input messages whose text is not unchanged in the new list, by index.
    pub removed: Vec<Removed>,
    /// Figures for the report.
    pub numbers: Numbers,
    /// The sizes that determine what a prompt cache can still use, by estimate.
    pub sizes: Sizes,
    /// The session's rules from now on.
    pub constraints: Update,
    /// The state afterwards, with the summary's body.
    pub state: EngineState,
    /// The text of the handoff, prefix and end marker included; empty without one.
    pub handoff: String,
    /// What keeps the new list over the threshold, if it is over.
    pub over: Option<Over>,
    /// Messages between head and tail that stay word for word, because many others refer to them.
    pub verbatim: Vec<Scored>,
    /// Outputs of the tail that were shortened to make room for the handoff.
    pub shortened: Vec<Scored>,
    /// The number of outputs in the new list that one line replaces because the agent discarded them.
    pub discarded: usize,
    /// The number of closed episodes of which messages left the list.
    pub episodes: usize,
    /// The episodes whose beginning has a new anchor in the new list: their numbers and anchors.
    pub anchors: Vec<(u64, Anchors)>,
    /// The number of messages in the new list that are pinned, or stay because they belong to a pinned one.
    pub pinned: usize,
    /// Positions of pinned input messages that were dropped, because the list could not be sent with them.
    pub unpinned: Vec<usize>,
    /// New nodes, in order: covered content comes before the node that covers it.
    pub nodes: Vec<NewNode>,
}

/// A message of the input, and its importance for later messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scored {
    /// The position of the message.
    pub index: usize,
    /// Its importance.
    pub importance: Importance,
}

impl Compressed {
    /// Returns the whole new list. Kept messages come from `input`, which must be the input itself.
    pub fn messages<'a>(&'a self, input: &'a [Message]) -> impl Iterator<Item = &'a Message> {
        self.slots.iter().filter_map(|slot| slot.message(input))
    }
}

/// An input message whose text left the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// It is gone: the handoff covers it, or it had no matching call.
    Dropped(usize),
    /// A changed form of it is still there.
    Replaced(usize),
}

impl Removed {
    /// Returns the position in the input.
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
    /// Chars of the input as the estimate counts them.
    pub chars_before: usize,
    /// Chars of the new list.
    pub chars_after: usize,
    /// The size before, in tokens: the caller's figure, the last prompt, or the estimate.
    pub tokens_before: u64,
    /// The estimated tokens of the new list.
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
    /// The number of rules that the handoff quotes.
    pub constraints: usize,
    /// The number of exact references in the handoff.
    pub anchors: usize,
}

/// A tool output that a preview replaces in the list, after it was stored outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    /// Its position in the input.
    pub index: usize,
    /// The tool's name; empty if its call is not in the list.
    pub tool: String,
    /// The call's id, if it has one.
    pub id: Option<String>,
    /// The whole text.
    pub text: String,
}
