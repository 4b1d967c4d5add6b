//! Decides how a list is compressed: not at all, with a handoff for its middle, or in a shorter form without
//! one.
//!
//! A list over the threshold must end below it. The candidates, in this order: the ordinary layout; the
//! pruned list; a tail cut down as far as the last exchange, which is shortened itself; the whole list with
//! only the last exchange shortened. The first candidate that is small enough is used.

use super::goal::{Goal, percent};
use super::layout::{Brief, Layout};
use super::options::Options;
use super::price::price;
use super::shorten_tail_outputs::shorten_tail_outputs;
use super::tight::TightLayouts;
use super::verbatim;
use crate::importance::importance;
use crate::message::Message;
use crate::pairs;
use crate::redaction::Redaction;
use crate::rehydrate::Earlier;
use crate::request::{Focus, Gain, Prompt};
use crate::run::{Rejection, Scored};
use crate::settings::Settings;
use crate::tokens::{Load, Measure, SCALE};
use crate::wishes::MessageRequests;

/// A list with at most this many messages after the head is not worth a run, unless it is over the threshold.
const MIN_BEYOND_HEAD: usize = 3 + 1;
/// Chars of the shortest useful handoff.
const SHORTEST_CHARS: usize = 2_400;
/// Chars of a handoff message in addition to its text.
const MESSAGE_CHARS: usize = 400;
/// Percent of a handoff's chars in the list that are text; the others are escapes.
const TEXT_SHARE: usize = 95;

/// Percent of the threshold for exchanges of the middle that stay word for word. The larger it is, the sooner
/// the next compression is due.
const VERBATIM: u64 = 5;
/// Tokens of the smallest room for which such exchanges are searched.
const LEAST_SPARE: u64 = 200;

/// The decision about a list.
pub(crate) struct Decision {
    pub(crate) layout: Layout,
    /// The content of the handoff; `None` without a handoff.
    pub(crate) brief: Option<Brief>,
    pub(crate) goal: Goal,
    /// The required size, if the list is over the threshold.
    pub(crate) target: Option<Target>,
    /// Messages that stay or are shortened because of their importance.
    pub(crate) weighed: ImportanceChoices,
}

/// Messages that stay or are shortened because of their importance.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImportanceChoices {
    /// Messages of the middle that stay word for word.
    pub(crate) verbatim: Vec<Scored>,
    /// Outputs of the tail that are shortened to make room for the handoff.
    pub(crate) shortened: Vec<Scored>,
}

impl ImportanceChoices {
    fn is_empty(&self) -> bool {
        self.verbatim.is_empty() && self.shortened.is_empty()
    }
}

/// The required size of a list over the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Tokens of the new list, by the larger estimate.
    pub(crate) list: u64,
    /// Tokens of its handoff; 0 without one.
    pub(crate) handoff: u64,
}

/// Decides how the list is compressed, or declines.
pub(crate) fn decide(messages: &[Message], options: &Options<'_>) -> Result<Decision, Rejection> {
    let decided = decide_size(messages, options)?;
    let has_fewer = has_fewer_messages(&decided, messages, options.settings.host.fewer_messages);
    if has_fewer { Ok(decided) } else { Err(Rejection::NotFewer) }
}

/// Whether the new list has at least `fewer` messages fewer. The handoff counts as a message of its own, and
/// so does each stub for a call without a result.
fn has_fewer_messages(decided: &Decision, messages: &[Message], fewer: usize) -> bool {
    if fewer == 0 {
        return true;
    }
    let stays = || decided.layout.stays().filter_map(|at| decided.layout.pruned.get(at));
    let added = pairs::stubs(stays()).len() + usize::from(decided.brief.is_some());
    (stays().count() + added).saturating_add(fewer) <= messages.len()
}

fn decide_size(messages: &[Message], options: &Options<'_>) -> Result<Decision, Rejection> {
    let mut layout = Layout::of(messages, options.settings);
    let MessageRequests { discards, episodes, pins } = options.wishes;
    layout.discard(messages, discards);
    layout.finish(messages, episodes.find(messages));
    let goal = Goal::of(size_before(messages, &layout, options), options.settings, options.prompt);
    match options.range {
        Some(range) => layout.restrict(messages, range)?,
        None => layout.leave(messages),
    }
    let pinned = pins.positions(messages);
    let free = (!pinned.is_empty()).then(|| layout.clone().with_pinned(messages, Vec::new()));
    let layout = layout.with_pinned(messages, pinned);
    if goal.is_over() && options.range.is_none() {
        let reduced = |layout| {
            let ordinary_layout = ordinary_layout(messages, layout, options);
            Reduction { messages, options, goal, ordinary_layout }.decide()
        };
        let decided = reduced(layout);
        // Pinned messages give way if the list could not be sent with them.
        let [_, below, _] = goal.levels();
        let fits = |decided: &Decision| decided.target.is_none_or(|target| target.list <= below);
        return match free.filter(|_| !decided.as_ref().is_ok_and(fits)) {
            Some(free) => reduced(free).or(decided),
            None => decided,
        };
    }
    if messages.len() <= layout.head_size.saturating_add(MIN_BEYOND_HEAD) {
        return Err(Rejection::TooFew);
    }
    let (layout, brief) = ordinary_layout(messages, layout, options).map_err(|_| Rejection::NothingBetween)?;
    // The new turns alone must bring the gain: an existing handoff must not lose content for it.
    let least = SHORTEST_CHARS + layout.handoff_chars(messages);
    if options.gain == Gain::Required && gain_chars(&layout) < least {
        return Err(Rejection::NoGain);
    }
    Ok(Decision { layout, brief: Some(brief), goal, target: None, weighed: ImportanceChoices::default() })
}

/// Returns the tokens of a list, or a lower bound where the rough estimate alone shows that the list is over the
/// threshold and no figure of the caller is compared with it. The bound skips the script-aware estimate of everything
/// that pruning removes.
fn size_before(messages: &[Message], layout: &Layout, options: &Options<'_>) -> u64 {
    let (rough, Prompt { tokens, is_refused }) = (layout.before.tokens(), options.prompt);
    let is_known = rough >= options.settings.budgets().threshold_tokens && !is_refused;
    let is_above = |tokens: i64| u64::try_from(tokens).is_ok_and(|tokens| tokens > rough);
    if is_known && !tokens.is_some_and(is_above) {
        return rough.max(layout.loads.iter().copied().collect::<Load>().tokens());
    }
    Load::of_list(messages).tokens()
}

/// Returns the ordinary layout with the content of its handoff, or the layout alone if there are no messages
/// between head and tail.
fn ordinary_layout(
    messages: &[Message],
    layout: Layout,
    options: &Options<'_>,
) -> Result<(Layout, Brief), Box<Layout>> {
    if layout.middle().is_empty() {
        return Err(Box::new(layout));
    }
    let brief = Brief::of(&layout, messages, options.settings, options.earlier, options.focus);
    if layout.dropped() == 0 || (brief.turns.is_empty() && layout.end - layout.start < 2) {
        return Err(Box::new(layout));
    }
    Ok((layout, brief))
}

/// Returns the most chars of a handoff that does not make the new list longer than the input.
pub(crate) fn gain_chars(layout: &Layout) -> usize {
    let kept: Load = layout.stays().filter_map(|at| layout.loads.get(at)).copied().collect();
    let stubs = Measure::of_all(&pairs::stubs(layout.stays().filter_map(|at| layout.pruned.get(at))));
    let beside = kept.rough().chars + stubs.chars + super::SYSTEM_NOTE.len() + MESSAGE_CHARS;
    layout.before.chars.saturating_sub(beside) / 100 * TEXT_SHARE
}

/// The search for the first layout of a list over the threshold that is small enough.
struct Reduction<'a> {
    messages: &'a [Message],
    options: &'a Options<'a>,
    goal: Goal,
    ordinary_layout: Result<(Layout, Brief), Box<Layout>>,
}

impl Reduction<'_> {
    fn decide(mut self) -> Result<Decision, Rejection> {
        let kept = self.ordinary_layout.as_ref().ok().map(|(layout, _)| kept_tokens(layout));
        let [aim, ..] = self.goal.levels();
        if let Some(handoff) = self.ordinary(kept, aim) {
            let weighed = self.weigh(handoff);
            let handoff = self.ordinary_layout.as_ref().map_or(handoff, |(layout, _)| {
                if weighed.is_empty() { handoff } else { aim.min(self.goal.before).saturating_sub(kept_tokens(layout)) }
            });
            return Ok(Decision { weighed, ..self.with_handoff(aim, handoff)? });
        }
        // From here on all cases are rare, so the list is measured again.
        self.goal.before = Load::of_list(self.messages).tokens();
        let [aim, below, sendable] = self.goal.levels();
        let normal = match &self.ordinary_layout {
            Ok((layout, _)) => layout,
            Err(layout) => &**layout,
        };
        let tight = TightLayouts::of(self.messages, normal, self.options, self.goal);
        let pruned = self.ordinary_layout.is_err().then(|| Load::of_list(&normal.pruned).tokens());
        for level in [aim, below, sendable] {
            if let Some(handoff) = self.ordinary(kept, level) {
                return self.with_handoff(level, handoff);
            }
            let may_stay_whole = self.options.settings.host.fewer_messages == 0;
            if may_stay_whole && pruned.is_some_and(|tokens| tokens <= level && tokens < self.goal.before) {
                let whole = normal.without_handoff(self.messages);
                if let Some(decided) = self.without_handoff(whole, level) {
                    return Ok(decided);
                }
            }
            let cut = tight.cut(level);
            if let Some((layout, brief, handoff)) = cut.as_ref().filter(|(_, brief, _)| !brief.turns.is_empty()) {
                return Ok(self.tight(layout.clone(), brief.clone(), Target { list: level, handoff: *handoff }));
            }
            if let Some(decided) = tight.whole(level).and_then(|layout| self.without_handoff(layout, level)) {
                return Ok(decided);
            }
            // An earlier handoff that is too large for this window becomes shorter.
            if let Some((layout, brief, handoff)) = cut {
                return Ok(self.tight(layout, brief, Target { list: level, handoff }));
            }
        }
        let least = self.goal.before.saturating_sub(self.goal.least_gain());
        if let Some((layout, brief, handoff)) = tight.smallest(least) {
            return Ok(self.tight(layout, brief, Target { list: least, handoff }));
        }
        let whole = tight.smallest_whole(least).and_then(|layout| self.without_handoff(layout, least));
        whole.ok_or(Rejection::Incompressible)
    }

    /// Returns the tokens for the handoff of the ordinary layout, if that leaves enough at this level.
    fn ordinary(&self, kept: Option<u64>, level: u64) -> Option<u64> {
        let (Ok((layout, brief)), Some(kept)) = (&self.ordinary_layout, kept) else { return None };
        let middle = layout.loads.get(layout.middle()).unwrap_or_default();
        let middle = middle.iter().copied().collect::<Load>().tokens();
        let room = level.checked_sub(kept)?.min(self.goal.before.checked_sub(kept)?);
        let is_gain = middle >= self.goal.smallest_handoff() && gain_chars(layout) >= SHORTEST_CHARS;
        (is_gain && room >= brief.handoff_tokens / 2).then_some(room)
    }

    /// Shortens outputs of the tail if the handoff lacks room, or keeps exchanges if room is left.
    fn weigh(&mut self, handoff: u64) -> ImportanceChoices {
        let Ok((layout, brief)) = &mut self.ordinary_layout else { return ImportanceChoices::default() };
        if !self.options.weighs {
            return ImportanceChoices::default();
        }
        let may_lend = self.options.settings.host.takes_short_results;
        let most = brief.handoff_chars() as u64;
        let verbatim = percent(self.goal.threshold, VERBATIM);
        // If even the most expensive text would fit (two tokens for a char), the price is not computed.
        let wanted =
            if handoff >= 2 * most + verbatim { 2 * most } else { (most * price(&brief.turns)).div_ceil(SCALE) };
        let spare = if layout.kept.is_empty() { handoff.saturating_sub(wanted).min(verbatim) } else { 0 };
        if handoff >= wanted && spare < LEAST_SPARE {
            return ImportanceChoices::default();
        }
        let scores = importance(self.messages);
        let scored = |positions: Vec<usize>| {
            let of = |at: usize| Some(Scored { index: at, importance: scores.get(at)?.clone() });
            positions.into_iter().filter_map(of).collect()
        };
        match handoff < wanted {
            true if !may_lend => ImportanceChoices::default(),
            true => {
                let redaction = Redaction::from(self.options.settings);
                let shortened = shorten_tail_outputs(layout, self.messages, wanted - handoff, &scores, redaction);
                ImportanceChoices { shortened: scored(shortened), ..ImportanceChoices::default() }
            }
            false => {
                let verbatim = verbatim::keep(layout, brief, self.messages, spare, &scores);
                ImportanceChoices { verbatim: scored(verbatim), ..ImportanceChoices::default() }
            }
        }
    }

    fn with_handoff(self, list: u64, handoff: u64) -> Result<Decision, Rejection> {
        let (layout, brief) = self.ordinary_layout.map_err(|_| Rejection::NothingBetween)?;
        Ok(Decision {
            layout,
            brief: Some(brief),
            goal: self.goal,
            target: Some(Target { list, handoff }),
            weighed: ImportanceChoices::default(),
        })
    }

    /// Returns the decision for the whole list in this form. Returns `None` if the stubs of its unanswered
    /// calls cost more than the form saves.
    fn without_handoff(&self, layout: Layout, list: u64) -> Option<Decision> {
        let becomes = Load::of_list(&pairs::sanitised(layout.pruned.clone()));
        // Previews have only an estimated cost, which the choice of the layout already used.
        let is_smaller = becomes.tokens() < self.goal.before && becomes.rough().tokens() <= layout.before.tokens();
        (is_smaller || !layout.spilled.is_empty()).then_some(Decision {
            layout,
            brief: None,
            goal: self.goal,
            target: Some(Target { list, handoff: 0 }),
            weighed: ImportanceChoices::default(),
        })
    }

    fn tight(&self, layout: Layout, brief: Brief, target: Target) -> Decision {
        Decision {
            layout,
            brief: Some(brief),
            goal: self.goal,
            target: Some(target),
            weighed: ImportanceChoices::default(),
        }
    }
}

/// Returns the tokens of all kept messages of an ordinary layout, with the stubs of its unanswered calls and
/// the note of the system message.
pub(super) fn kept_tokens(layout: &Layout) -> u64 {
    let stays = || layout.stays().filter_map(|at| layout.pruned.get(at));
    stays().collect::<Load>().tokens() + pairs::stub_tokens(stays()) + super::tight::NOTE_TOKENS
}

/// Whether a compression of the list that has to gain something would change it. `current_tokens` is as in a
/// compression request.
pub fn has_work(messages: &[Message], settings: &Settings, current_tokens: Option<i64>) -> bool {
    let prompt = Prompt::of(current_tokens);
    let options = Options {
        settings,
        earlier: Earlier::default(),
        focus: &Focus::Off,
        gain: Gain::Required,
        prompt,
        wishes: &MessageRequests::default(),
        range: None,
        weighs: false,
    };
    decide(messages, &options).is_ok()
}
