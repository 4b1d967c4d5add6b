//! A dry run.

use crate::importance::Importance;
use crate::message::Message;
use crate::superseded::Superseded;

/// What a compression of a list would do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Messages that the settings protect at the beginning, whatever the list's length.
    pub head_size: usize,
    /// First message that would be replaced, in the pruned list (which is as long as the input).
    pub start: usize,
    /// First message of the tail, in the pruned list.
    pub end: usize,
    /// The fewest messages of the tail, whatever their size.
    pub min_tail: usize,
    /// Messages that pruning made shorter.
    pub pruned: usize,
    /// The list after pruning.
    pub messages: Vec<Message>,
    /// The turns to summarise, in the form for a summarizer.
    pub serialized: String,
    /// The prompt for a model; `None` if there are no turns to summarise.
    pub prompt: Option<String>,
    /// The most tokens of its answer; `None` without a prompt.
    pub max_tokens: Option<u64>,
    /// The most tokens of the summary.
    pub summary_budget: u64,
    /// The topic that the summary would favour.
    pub focus: Option<String>,
    /// The summary that the turns continue.
    pub previous_summary: Option<String>,
    /// The importance of each input message for later ones.
    pub scores: Vec<Importance>,
    /// Outputs of the input that later ones supersede.
    pub superseded: Vec<Superseded>,
}
