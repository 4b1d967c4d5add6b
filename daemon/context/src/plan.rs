//! A dry run: what a compression would do, with nothing changed.

use crate::compress::{Brief, Case, Layout, decide};
use crate::redaction::Redaction;
use crate::request::{Gain, Prompt};
use crate::{Message, PlanRequest, Settings, serialize};

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
}

/// Plans a compression; there is an answer for every list and every window.
pub fn plan(messages: &[Message], settings: &Settings, request: &PlanRequest) -> Plan {
    let redaction = Redaction::from(settings);
    let held = request.previous_summary.as_deref();
    let case = Case { settings, held, focus: &request.focus, gain: Gain::Any, prompt: Prompt::default() };
    let (layout, brief) = match decide(messages, &case) {
        Ok(decided) => (decided.layout, decided.brief.unwrap_or_default()),
        Err(_) => {
            let layout = Layout::of(messages, settings);
            let brief = Brief::of(&layout, messages, settings, held, &request.focus);
            (layout, brief)
        }
    };
    let serialized = serialize::serialize(&brief.turns, redaction);
    let prompt = brief.prompt(&serialized, request.today.as_ref(), redaction);
    Plan {
        head_size: layout.head_size,
        start: layout.start,
        end: layout.end,
        min_tail: layout.min_tail,
        pruned: layout.pruned_count,
        max_tokens: prompt.is_some().then(|| brief.max_tokens()),
        messages: layout.pruned,
        serialized,
        prompt,
        summary_budget: brief.summary_budget,
        focus: brief.focus,
        previous_summary: brief.previous,
    }
}
