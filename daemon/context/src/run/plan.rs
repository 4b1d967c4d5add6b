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
    /// Messages that the tail holds whatever they weigh.
    pub min_tail: usize,
    /// Messages that pruning made shorter.
    pub pruned: usize,
    /// The list after pruning.
    pub messages: Vec<Message>,
    /// The turns to be summarised, as a summarizer reads them.
    pub serialized: String,
    /// What a model would be asked; none if there is nothing to summarise.
    pub prompt: Option<String>,
    /// The most tokens that its answer may take; none without a prompt.
    pub max_tokens: Option<u64>,
    /// Tokens that the summary may take.
    pub summary_budget: u64,
    /// What the summary would favour.
    pub focus: Option<String>,
    /// The summary that the turns continue.
    pub previous_summary: Option<String>,
    /// What each message of the input is worth to what comes after it.
    pub scores: Vec<Importance>,
    /// Outputs of the input that later ones stand in for.
    pub superseded: Vec<Superseded>,
}
