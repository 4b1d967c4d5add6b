//! What a plan and a compression share: the pruned list, its parts, and what is to be summarised.

use rayon::prelude::*;

use crate::boundary::{self, TailCut};
use crate::compress::Section;
use crate::message::Message;
use crate::parallel::FEW_MESSAGES;
use crate::prompt::PromptParts;
use crate::redaction::Redaction;
use crate::rehydrate::{self, Turns};
use crate::settings::share;
use crate::tokens::{Measure, estimate_text};
use crate::{Focus, Settings, Today, focus, prune};

/// The smallest summary budget, in tokens.
const MIN_SUMMARY_TOKENS: u64 = 2_000;
/// What a summary may take of the turns' own size.
const SUMMARY_RATIO: f64 = 0.20;
/// What a whole handoff may take of it: beside the summary stand references and the user's words.
const HANDOFF_RATIO: f64 = 0.30;
/// What an answer may take of the summary budget, so that a model can finish its sentence.
const ANSWER_RATIO: f64 = 1.3;

/// A list, pruned and parted. `start` and `end` are positions of both lists.
pub(crate) struct Layout {
    pub(crate) head_size: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) min_tail: usize,
    pub(crate) pruned: Vec<Message>,
    pub(crate) pruned_count: usize,
    /// What each pruned message measures.
    pub(crate) measures: Vec<Measure>,
    /// What the input measures.
    pub(crate) before: Measure,
}

impl Layout {
    pub(crate) fn of(messages: &[Message], settings: &Settings) -> Self {
        let budget = settings.budgets().tail_token_budget;
        let pruned = prune::prune(messages, settings.protect_last_n, Some(budget));
        let measured = |(old, new): (&Message, &Message)| {
            let measure = Measure::of(old);
            (measure, if old.same(new) { measure } else { Measure::of(new) })
        };
        let pairs = messages.par_iter().zip(&pruned.messages).with_min_len(FEW_MESSAGES);
        let (before, measures): (Vec<Measure>, Vec<Measure>) = pairs.map(measured).unzip();
        let before = before.into_iter().fold(Measure::default(), Measure::plus);
        let head_size = boundary::head_size(messages, settings);
        let start = boundary::head_end(&pruned.messages, head_size);
        let TailCut { cut, min_tail } = boundary::tail_cut(&pruned.messages, start, budget, settings.protect_last_n);
        Self {
            head_size,
            start,
            end: cut,
            min_tail,
            pruned: pruned.messages,
            pruned_count: pruned.count,
            measures,
            before,
        }
    }

    /// What the handoff replaces.
    pub(crate) fn middle(&self) -> std::ops::Range<usize> {
        self.start..self.tail_start().max(self.start)
    }

    /// Where the kept messages after the handoff begin: the tail cut, or the user's last message
    /// if that stands right at the end of the head.
    pub(crate) fn tail_start(&self) -> usize {
        boundary::last_user(&self.pruned, self.start).map_or(self.end, |user| user.min(self.end))
    }
}

/// What is to be summarised, and how.
pub(crate) struct Brief {
    pub(crate) turns: Vec<Message>,
    pub(crate) indexes: Vec<usize>,
    pub(crate) previous: Option<String>,
    /// What herma had appended to the summary so far.
    pub(crate) carried: Vec<Section>,
    pub(crate) summary_budget: u64,
    /// Tokens that the whole handoff may take: the budget, and what the one before took.
    pub(crate) handoff_tokens: u64,
    pub(crate) focus: Option<String>,
}

impl Brief {
    pub(crate) fn of(
        layout: &Layout,
        messages: &[Message],
        settings: &Settings,
        held: Option<&str>,
        topic: &Focus,
    ) -> Self {
        let Turns { previous, carried, turns, indexes } =
            rehydrate::choose(&layout.pruned, layout.start, layout.end, held);
        let measure = turns.iter().zip(&indexes).fold(Measure::default(), |sum, (turn, &at)| {
            sum.plus(match layout.pruned[at].same(turn) {
                true => layout.measures[at],
                false => Measure::of(turn),
            })
        });
        Self {
            summary_budget: summary_budget(measure.tokens(), settings),
            handoff_tokens: handoff_tokens(measure.tokens(), previous.as_deref(), &carried, settings),
            focus: focus::resolve(topic, messages, settings),
            turns,
            indexes,
            previous,
            carried,
        }
    }

    /// The prompt, unless there is nothing to summarise.
    pub(crate) fn prompt(&self, serialized: &str, today: Option<&Today>, redaction: Redaction) -> Option<String> {
        if self.turns.is_empty() {
            return None;
        }
        let previous = self.previous.as_deref().map(|text| redaction.apply(text));
        let parts = PromptParts {
            serialized,
            previous: previous.as_deref(),
            summary_budget: self.summary_budget,
            focus: self.focus.as_deref(),
            today,
        };
        Some(parts.write())
    }

    /// The most tokens that the answer may take.
    pub(crate) fn max_tokens(&self) -> u64 {
        share(self.summary_budget, ANSWER_RATIO)
    }
}

/// The tokens that a summary of turns of this size may take.
pub fn summary_budget(turn_tokens: u64, settings: &Settings) -> u64 {
    share(turn_tokens, SUMMARY_RATIO).min(settings.budgets().max_summary_tokens).max(MIN_SUMMARY_TOKENS)
}

/// The tokens that a whole handoff may take. What an earlier one held keeps its room, else a long
/// conversation would lose most of it at the first short run.
fn handoff_tokens(turn_tokens: u64, previous: Option<&str>, carried: &[Section], settings: &Settings) -> u64 {
    let earlier =
        previous.map_or(0, estimate_text) + carried.iter().map(|section| estimate_text(&section.text)).sum::<u64>();
    let grown = share(turn_tokens, HANDOFF_RATIO).saturating_add(earlier);
    grown.min(settings.budgets().max_summary_tokens).max(MIN_SUMMARY_TOKENS)
}
