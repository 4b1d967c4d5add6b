//! The first phase: what would be summarised, and what a summarizer needs for it.

use super::layout::{Brief, Layout};
use super::{ArchiveNote, Compressed, Declined, Summary, SummaryRequest, assemble};
use crate::extractive::{Extract, Reason};
use crate::message::Message;
use crate::redaction::Redaction;
use crate::{CompressRequest, EngineState, Settings, Today, serialize};

/// Messages that a list must have beyond the head before it is worth a run.
const MIN_BEYOND_HEAD: usize = 3 + 1;

/// A compression that only lacks its summary. It owns all it needs and can be kept for later.
pub struct Prepared {
    pub(super) input: Vec<Message>,
    pub(super) layout: Layout,
    pub(super) brief: Brief,
    pub(super) state: EngineState,
    pub(super) redaction: Redaction,
    pub(super) current_tokens: Option<i64>,
    pub(super) summary_model: Option<String>,
    pub(super) today: Option<Today>,
    reserved_chars: usize,
}

/// Decides what a compression of the list would replace, and declines if that is nothing.
pub fn prepare(
    messages: &[Message],
    settings: &Settings,
    state: &EngineState,
    request: &CompressRequest,
) -> Result<Prepared, Declined> {
    let head_size = crate::boundary::head_size(messages, settings);
    if messages.len() <= head_size.saturating_add(MIN_BEYOND_HEAD) {
        return Err(Declined::TooFew);
    }
    let layout = Layout::of(messages, settings);
    if layout.start >= layout.end {
        return Err(Declined::NothingBetween);
    }
    let held = state.previous_summary.as_deref();
    let brief = Brief::of(&layout, messages, settings, held, &request.focus);
    if brief.turns.is_empty() && layout.end - layout.start < 2 {
        return Err(Declined::NothingBetween);
    }
    let mut state = state.clone();
    state.begin_run();
    let own_model = settings.summary_model.as_ref();
    Ok(Prepared {
        input: messages.to_vec(),
        layout,
        brief,
        state,
        redaction: Redaction::from(settings),
        current_tokens: request.current_tokens,
        summary_model: own_model.filter(|model| !model.is_empty()).cloned(),
        today: request.today.clone(),
        reserved_chars: 0,
    })
}

impl Prepared {
    /// What to ask a model.
    pub fn request(&self) -> SummaryRequest {
        let serialized = serialize::serialize(&self.brief.turns, self.redaction);
        let prompt = self.brief.prompt(&serialized, self.today.as_ref(), self.redaction);
        SummaryRequest {
            prompt: prompt.unwrap_or_default(),
            max_tokens: self.brief.max_tokens(),
            model: self.summary_model.clone(),
        }
    }

    /// A summary without a model; `failure` tells why it stands in for one.
    pub fn extractive_summary(&self, failure: Option<&str>) -> String {
        let kept = self.layout.tail_start();
        Extract {
            turns: &self.brief.turns,
            originals: &self.originals(),
            tail: self.layout.pruned.get(kept..).unwrap_or(&[]),
            previous: self.brief.previous.as_deref(),
            budget_tokens: self.brief.summary_budget,
            reserved_chars: self.reserved_chars,
            dropped: self.dropped(),
            reason: failure.map_or(Reason::Chosen, Reason::Failed),
            redaction: self.redaction,
        }
        .write()
    }

    /// Keeps room in [`Self::extractive_summary`] for sections that the caller will append.
    pub fn reserve(&mut self, chars: usize) {
        self.reserved_chars = chars;
    }

    /// Puts the new list together around a summary.
    pub fn finish(self, summary: Summary, note: ArchiveNote) -> Compressed {
        assemble::finish(self, summary, &note)
    }

    /// The messages that were prepared.
    pub fn input(&self) -> &[Message] {
        &self.input
    }

    /// The input messages that the summary has to cover: nothing that an earlier summary covers.
    pub fn turns(&self) -> impl Iterator<Item = &Message> {
        self.brief.indexes.iter().filter_map(|&at| self.input.get(at))
    }

    /// Positions of the input that the handoff will replace.
    pub fn middle(&self) -> std::ops::Range<usize> {
        self.layout.start..self.layout.tail_start().max(self.layout.start)
    }

    /// The summary so far, if the turns continue one.
    pub fn previous_summary(&self) -> Option<&str> {
        self.brief.previous.as_deref()
    }

    /// What the summary will favour.
    pub fn focus(&self) -> Option<&str> {
        self.brief.focus.as_deref()
    }

    /// Tokens that the summary may take.
    pub fn summary_budget(&self) -> u64 {
        self.brief.summary_budget
    }

    /// Messages that the handoff replaces: those between head and tail. None when all that
    /// stands between them is the user's last message, which is kept.
    pub fn dropped(&self) -> usize {
        self.middle().len()
    }

    /// The unpruned form of each turn.
    fn originals(&self) -> Vec<&Message> {
        let pairs = self.brief.turns.iter().zip(&self.brief.indexes);
        pairs
            .map(|(turn, &at)| match self.layout.pruned.get(at) {
                Some(pruned) if pruned.same(turn) => self.input.get(at).unwrap_or(turn),
                _ => turn,
            })
            .collect()
    }
}
