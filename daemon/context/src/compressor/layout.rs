//! The common base of plan and compression: the pruned list, its parts, and the turns to summarise.

use rayon::prelude::*;

use super::shorten::Spilled;
use crate::boundary::{self, TailCut};
use crate::episodes::Found;
use crate::handoff::{self, Section, SectionKind};
use crate::message::{Message, Role};
use crate::parallel::FEW_MESSAGES;
use crate::prompt::{PromptParts, Source};
use crate::redaction::Redaction;
use crate::rehydrate::{self, Earlier, Turns};
use crate::request::{Focus, Today};
use crate::settings::share;
use crate::tokens::{Load, Measure, estimate_text, tokens_to_chars};
use crate::{Settings, focus, prune};

/// The smallest summary budget, in tokens.
const MIN_SUMMARY_TOKENS: u64 = 2_000;
/// The size of a summary as a share of its turns.
const SUMMARY_RATIO: f64 = 0.20;
/// The size of a whole handoff as a share of its turns: it also contains references and the user's words.
const HANDOFF_RATIO: f64 = 0.30;
/// The most of a state of the work next to the other sections: 30 % of a handoff.
const STATE_PARTS: (u64, u64) = (3, 7);
/// The lower bound of a whole handoff's limit, in tokens, if the budget is smaller.
const SMALLEST_LIMIT_TOKENS: u64 = 2_000;
/// The share of the tail's budget that pruned outputs of tail and head may keep.
const KEPT_RATIO: f64 = 0.25;
/// The most tokens of an answer as a share of the summary budget, so that a model can finish its sentence.
const ANSWER_RATIO: f64 = 1.3;

/// A list, pruned and divided into head, middle and tail. Positions are the same in input and pruned list.
#[derive(Clone)]
pub(crate) struct Layout {
    /// Messages that the settings protect at the beginning, whatever the list's length.
    pub(crate) head_size: usize,
    /// The end of the head, whatever range was chosen. There is no tool result at this position.
    pub(crate) head_end: usize,
    /// The beginning of the middle: the end of the head, or a later position because of a chosen range.
    pub(crate) start: usize,
    /// The end of the turns to summarise.
    pub(crate) end: usize,
    /// The beginning of the kept messages after the handoff: the tail cut, or the user's last message if that
    /// is directly after the head.
    pub(crate) tail: usize,
    /// Messages of the middle that are kept after the handoff, in order: the user's last message, pinned
    /// messages, and important exchanges if there is room.
    pub(crate) kept: Vec<usize>,
    /// Discarded outputs that one line replaces, in order.
    pub(crate) discarded: Vec<usize>,
    /// Messages of the middle that stay. They are outside a chosen range, or newer than the tail's beginning
    /// would be without the leaving episodes.
    pub(crate) outside: Vec<usize>,
    /// Closed episodes, with their ranges.
    pub(crate) episodes: Vec<Found>,
    /// Their messages that may leave, in order.
    pub(crate) finished: Vec<usize>,
    /// Pinned messages and the messages that must stay with them, anywhere in the list, in order.
    pub(crate) pinned: Vec<usize>,
    /// The fewest messages of the tail, whatever their size.
    pub(crate) min_tail: usize,
    /// The list after pruning, as long as the input.
    pub(crate) pruned: Vec<Message>,
    /// Tool results that pruning replaced.
    pub(crate) pruned_count: usize,
    /// The load of each pruned message.
    pub(crate) loads: Vec<Load>,
    /// The size of the input.
    pub(crate) before: Measure,
    /// Whether the tail is shorter than that of the ordinary layout.
    pub(crate) is_tight: bool,
    /// Outputs of the pruned list that become previews.
    pub(crate) spilled: Vec<Spilled>,
}

impl Layout {
    pub(crate) fn of(messages: &[Message], settings: &Settings) -> Self {
        let budget = settings.budgets().tail_token_budget;
        let pruned = prune::prune(messages, settings.protect_last_n, Some(budget)).restored(messages, settings.host);
        let measured = |(old, new): (&Message, &Message)| {
            let load = Load::of(new);
            (if old.same(new) { load.rough() } else { Measure::of(old) }, load)
        };
        let pairs = messages.par_iter().zip(&pruned.messages).with_min_len(FEW_MESSAGES);
        let (before, mut loads): (Vec<Measure>, Vec<Load>) = pairs.map(measured).unzip();
        let before = before.into_iter().fold(Measure::default(), Measure::plus);
        let head_size = boundary::head_size(messages, settings);
        let start = boundary::head_end(&pruned.messages, head_size);
        let TailCut { cut, min_tail } = boundary::tail_cut(&pruned.messages, start, budget, settings.protect_last_n);
        let tail = boundary::last_user(&pruned.messages, start).map_or(cut, |user| user.min(cut));
        let mut pruned = pruned;
        let room = tokens_to_chars(share(budget, KEPT_RATIO));
        for (at, kept) in prune::kept(messages, &pruned.messages, start..tail, room, Redaction::from(settings)) {
            loads[at] = Load::of(&kept);
            pruned.messages[at] = kept;
        }
        Self {
            head_size,
            head_end: start,
            start,
            end: cut,
            tail,
            kept: Vec::new(),
            discarded: Vec::new(),
            outside: Vec::new(),
            episodes: Vec::new(),
            finished: Vec::new(),
            pinned: Vec::new(),
            is_tight: false,
            spilled: Vec::new(),
            min_tail,
            pruned: pruned.messages,
            pruned_count: pruned.count,
            loads,
            before,
        }
    }

    /// Puts this message at a position, instead of its pruned form.
    pub(super) fn restore(&mut self, at: usize, message: &Message) {
        if let (Some(pruned), Some(load)) = (self.pruned.get_mut(at), self.loads.get_mut(at))
            && !pruned.same(message)
        {
            self.pruned_count = self.pruned_count.saturating_sub(usize::from(message.is(Role::Tool)));
            *load = Load::of(message);
            *pruned = message.clone();
        }
    }

    /// Returns the same list without a handoff: everything stays, except what was already shortened. An
    /// earlier handoff stays too.
    pub(super) fn without_handoff(&self, messages: &[Message]) -> Self {
        let mut whole = Self {
            end: self.start,
            tail: self.start,
            kept: Vec::new(),
            outside: Vec::new(),
            episodes: Vec::new(),
            finished: Vec::new(),
            ..self.clone()
        };
        for at in self.middle() {
            if let Some(message) = messages.get(at).filter(|message| handoff::is_handoff(message)) {
                whole.restore(at, message);
            }
        }
        whole
    }

    /// Returns the positions between head and tail, which the handoff replaces.
    pub(crate) fn middle(&self) -> std::ops::Range<usize> {
        self.start..self.tail.max(self.start)
    }

    /// Returns how many messages the handoff replaces.
    pub(crate) fn dropped(&self) -> usize {
        self.middle().len() - self.kept.len()
    }

    /// Returns the chars of the earlier handoffs that it replaces.
    pub(crate) fn handoff_chars(&self, messages: &[Message]) -> usize {
        let replaced = self.middle().filter(|at| self.kept.binary_search(at).is_err());
        let handoffs = replaced.filter_map(|at| messages.get(at)).filter(|message| handoff::is_handoff(message));
        handoffs.map(|message| message.text().chars().count()).sum()
    }

    /// Returns the longest part of the middle without a kept message.
    pub(crate) fn dropped_range(&self) -> std::ops::Range<usize> {
        let middle = self.middle();
        let ends = self.kept.iter().copied().chain([middle.end]);
        let mut start = middle.start;
        let parts = ends.map(|end| std::mem::replace(&mut start, end + 1)..end);
        // Of equally long ones the last.
        parts.max_by_key(ExactSizeIterator::len).unwrap_or(middle)
    }

    /// Returns the positions of the messages that stay, in order.
    pub(crate) fn stays(&self) -> impl Iterator<Item = usize> {
        (0..self.start).chain(self.kept.iter().copied()).chain(self.middle().end..self.pruned.len())
    }
}

/// The turns to summarise, and the parameters of the summary.
#[derive(Clone, Default)]
pub(crate) struct Brief {
    pub(crate) turns: Vec<Message>,
    pub(crate) indexes: Vec<usize>,
    pub(crate) previous: Option<String>,
    /// The sections that herma had appended to the earlier summary.
    pub(crate) carried: Vec<Section>,
    pub(crate) summary_budget: u64,
    /// The lower bound of the whole handoff's limit, in chars.
    pub(crate) least_chars: usize,
    /// The most tokens of the whole handoff: the budget, and the size of the earlier one.
    pub(crate) handoff_tokens: u64,
    pub(crate) focus: Option<String>,
    /// Text from a memory provider.
    pub(crate) memory: Option<String>,
}

impl Brief {
    pub(crate) fn of(
        layout: &Layout,
        messages: &[Message],
        settings: &Settings,
        earlier: Earlier<'_>,
        topic: &Focus,
    ) -> Self {
        let Turns { previous, carried, turns, indexes } =
            rehydrate::choose(&layout.pruned, layout.start, layout.end, earlier);
        let mut brief = Self { turns, indexes, previous, carried, ..Self::default() };
        brief.leave_out(&layout.kept);
        let load_of = |(turn, &at): (&Message, &usize)| {
            if layout.pruned[at].same(turn) { layout.loads[at] } else { Load::of(turn) }
        };
        let turns = brief.turns.iter().zip(&brief.indexes).map(load_of).collect::<Load>().rough().tokens();
        brief.summary_budget = summary_budget(turns, settings);
        brief.handoff_tokens = handoff_tokens(turns, brief.previous.as_deref(), &brief.carried, settings);
        brief.least_chars = tokens_to_chars(scaled_down(SMALLEST_LIMIT_TOKENS, settings));
        brief.focus = focus::resolve(topic, messages, settings);
        brief
    }

    /// Removes the turns at these positions, which are in order.
    pub(super) fn leave_out(&mut self, positions: &[usize]) {
        if positions.is_empty() {
            return;
        }
        let (turns, indexes) = std::mem::take(&mut self.turns)
            .into_iter()
            .zip(std::mem::take(&mut self.indexes))
            .filter(|(_, at)| positions.binary_search(at).is_err())
            .unzip();
        (self.turns, self.indexes) = (turns, indexes);
    }

    /// Returns the most chars of the whole handoff under the budget.
    pub(super) fn handoff_chars(&self) -> usize {
        tokens_to_chars(self.handoff_tokens).max(self.least_chars)
    }

    /// Returns the prompt, or `None` if there are no turns to summarise.
    pub(crate) fn prompt(&self, serialized: &str, today: Option<&Today>, redaction: Redaction) -> Option<String> {
        if self.turns.is_empty() {
            return None;
        }
        let previous = self.previous.as_deref().map(|text| redaction.apply(text));
        Some(self.prompt_of(Source::Here { serialized, previous: previous.as_deref() }, today))
    }

    /// Returns the prompt for turns at this place.
    pub(super) fn prompt_of(&self, source: Source<'_>, today: Option<&Today>) -> String {
        let parts = PromptParts {
            source,
            memory: self.memory.as_deref(),
            summary_budget: self.summary_budget,
            focus: self.focus.as_deref(),
            today,
        };
        parts.write()
    }

    /// Returns the most tokens of the answer.
    pub(crate) fn max_tokens(&self) -> u64 {
        share(self.summary_budget, ANSWER_RATIO)
    }
}

/// Returns the most tokens of a summary for turns of this size.
pub fn summary_budget(turn_tokens: u64, settings: &Settings) -> u64 {
    share(turn_tokens, SUMMARY_RATIO).min(settings.budgets().max_summary_tokens).max(MIN_SUMMARY_TOKENS)
}

#[expect(clippy::cast_precision_loss, reason = "a percentage")]
fn share_of_percent(percent: u64) -> f64 {
    percent as f64 / 100.0
}

/// Returns the most tokens of a whole handoff. An earlier handoff keeps its room. Otherwise a long
/// conversation would lose most of it at the first short run.
fn handoff_tokens(turn_tokens: u64, previous: Option<&str>, carried: &[Section], settings: &Settings) -> u64 {
    let of_state = |section: &&Section| section.kind == SectionKind::State;
    let size =
        |sections: &mut dyn Iterator<Item = &Section>| sections.map(|section| estimate_text(&section.text)).sum();
    let others: u64 =
        previous.map_or(0, estimate_text) + size(&mut carried.iter().filter(|section| !of_state(section)));
    let state: u64 = size(&mut carried.iter().filter(of_state));
    // Names beyond the earlier limit are no size of the handoff.
    let earlier = others + state.min(others * STATE_PARTS.0 / STATE_PARTS.1);
    // A larger handoff size also applies to few turns, but by half as much.
    let ratio = HANDOFF_RATIO * share_of_percent(settings.handoff_percent.midpoint(100));
    let grown = share(turn_tokens, ratio).saturating_add(earlier);
    grown.min(settings.budgets().max_summary_tokens).max(scaled_down(MIN_SUMMARY_TOKENS, settings))
}

/// Returns a least size, reduced if handoffs should be smaller than usual.
fn scaled_down(tokens: u64, settings: &Settings) -> u64 {
    tokens * settings.handoff_percent.min(100) / 100
}
