//! What becomes of a list: nothing, a handoff for its middle, or a shorter form without one.
//!
//! A list that is over the threshold has to end below it. In this order: the ordinary layout; what
//! pruning made; a tail that is cut down as far as the last exchange, which gets shorter itself;
//! the whole list with nothing but that. The first one that is small enough is taken.

use super::goal::{Goal, percent};
use super::layout::{Brief, Layout};
use super::lend::lend;
use super::options::Options;
use super::price::price;
use super::tight::TightLayouts;
use super::verbatim;
use crate::importance::importance;
use crate::message::Message;
use crate::pairs;
use crate::redaction::Redaction;
use crate::rehydrate::Earlier;
use crate::request::{Focus, Gain, Prompt};
use crate::run::{Declined, Scored};
use crate::settings::Settings;
use crate::tokens::{Load, Measure, SCALE};
use crate::wishes::Wishes;

/// Messages that a list must have beyond the head before it is worth a run, unless it is over the
/// threshold.
const MIN_BEYOND_HEAD: usize = 3 + 1;
/// The shortest handoff that says anything, in chars.
const SHORTEST_CHARS: usize = 2_400;
/// Chars that a handoff takes in the list besides its text.
const MESSAGE_CHARS: usize = 400;
/// Of 100 chars of a handoff in the list so many are its text; the others are escapes.
const TEXT_SHARE: usize = 95;

/// Percent of the threshold that exchanges of the middle may take which stay word for word. The more, the sooner
/// the next compression is due.
const VERBATIM: u64 = 5;
/// Tokens of the least room that is looked for such exchanges.
const LEAST_SPARE: u64 = 200;

/// What is to be done with a list.
pub(crate) struct Decided {
    pub(crate) layout: Layout,
    /// What the handoff covers; none where there is no handoff.
    pub(crate) brief: Option<Brief>,
    pub(crate) goal: Goal,
    /// What a list over the threshold has to become.
    pub(crate) target: Option<Target>,
    /// What was weighed, where that decided anything.
    pub(crate) weighed: Weighed,
}

/// Messages that stay or become short by what they are worth.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weighed {
    /// Those of the middle that stay word for word.
    pub(crate) verbatim: Vec<Scored>,
    /// Outputs of the tail that give way to the handoff.
    pub(crate) shortened: Vec<Scored>,
}

impl Weighed {
    fn is_empty(&self) -> bool {
        self.verbatim.is_empty() && self.shortened.is_empty()
    }
}

/// What a list over the threshold has to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Tokens of the new list, by the larger estimate.
    pub(crate) list: u64,
    /// Tokens of its handoff; 0 without one.
    pub(crate) handoff: u64,
}

/// Decides, or declines.
pub(crate) fn decide(messages: &[Message], options: &Options<'_>) -> Result<Decided, Declined> {
    let decided = decide_size(messages, options)?;
    let has_fewer = has_fewer_messages(&decided, messages, options.settings.host.fewer_messages);
    if has_fewer { Ok(decided) } else { Err(Declined::NotFewer) }
}

/// Whether the new list has at least so many messages fewer. The handoff counts as a message of its own, and so does the
/// result that a call without one gets.
fn has_fewer_messages(decided: &Decided, messages: &[Message], fewer: usize) -> bool {
    if fewer == 0 {
        return true;
    }
    let stays = || decided.layout.stays().filter_map(|at| decided.layout.pruned.get(at));
    let added = pairs::stubs(stays()).len() + usize::from(decided.brief.is_some());
    (stays().count() + added).saturating_add(fewer) <= messages.len()
}

fn decide_size(messages: &[Message], options: &Options<'_>) -> Result<Decided, Declined> {
    let mut layout = Layout::of(messages, options.settings);
    let Wishes { discards, episodes, pins } = options.wishes;
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
        // What is pinned gives way where the list could not be sent with it.
        let [_, below, _] = goal.levels();
        let fits = |decided: &Decided| decided.target.is_none_or(|target| target.list <= below);
        return match free.filter(|_| !decided.as_ref().is_ok_and(fits)) {
            Some(free) => reduced(free).or(decided),
            None => decided,
        };
    }
    if messages.len() <= layout.head_size.saturating_add(MIN_BEYOND_HEAD) {
        return Err(Declined::TooFew);
    }
    let (layout, brief) = ordinary_layout(messages, layout, options).map_err(|_| Declined::NothingBetween)?;
    // A handoff that stands there is not to say less for it: what is new has to gain something.
    let least = SHORTEST_CHARS + layout.handoff_chars(messages);
    if options.gain == Gain::Required && gain_chars(&layout) < least {
        return Err(Declined::NoGain);
    }
    Ok(Decided { layout, brief: Some(brief), goal, target: None, weighed: Weighed::default() })
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

/// The ordinary layout with what its handoff covers; the layout alone when nothing stands between
/// head and tail.
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

/// Chars that a handoff may have if the new list is not to be longer than the input.
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
    fn decide(mut self) -> Result<Decided, Declined> {
        let kept = self.ordinary_layout.as_ref().ok().map(|(layout, _)| kept_tokens(layout));
        let [aim, ..] = self.goal.levels();
        if let Some(handoff) = self.ordinary(kept, aim) {
            let weighed = self.weigh(handoff);
            let handoff = self.ordinary_layout.as_ref().map_or(handoff, |(layout, _)| {
                if weighed.is_empty() { handoff } else { aim.min(self.goal.before).saturating_sub(kept_tokens(layout)) }
            });
            return Ok(Decided { weighed, ..self.with_handoff(aim, handoff)? });
        }
        // Rare from here on: the list is gone through again.
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
        whole.ok_or(Declined::Incompressible)
    }

    /// Tokens for the handoff of the ordinary layout, if it leaves enough at this level.
    fn ordinary(&self, kept: Option<u64>, level: u64) -> Option<u64> {
        let (Ok((layout, brief)), Some(kept)) = (&self.ordinary_layout, kept) else { return None };
        let middle = layout.loads.get(layout.middle()).unwrap_or_default();
        let middle = middle.iter().copied().collect::<Load>().tokens();
        let room = level.checked_sub(kept)?.min(self.goal.before.checked_sub(kept)?);
        let is_gain = middle >= self.goal.smallest_handoff() && gain_chars(layout) >= SHORTEST_CHARS;
        (is_gain && room >= brief.handoff_tokens / 2).then_some(room)
    }

    /// Outputs of the tail become short where the handoff lacks room; where room is left over, exchanges stay.
    fn weigh(&mut self, handoff: u64) -> Weighed {
        let Ok((layout, brief)) = &mut self.ordinary_layout else { return Weighed::default() };
        if !self.options.weighs {
            return Weighed::default();
        }
        let may_lend = self.options.settings.host.takes_short_results;
        let most = brief.handoff_chars() as u64;
        let verbatim = percent(self.goal.threshold, VERBATIM);
        // Where the dearest text would fit, two tokens for a char, it is not looked at.
        let wanted =
            if handoff >= 2 * most + verbatim { 2 * most } else { (most * price(&brief.turns)).div_ceil(SCALE) };
        let spare = if layout.kept.is_empty() { handoff.saturating_sub(wanted).min(verbatim) } else { 0 };
        if handoff >= wanted && spare < LEAST_SPARE {
            return Weighed::default();
        }
        let scores = importance(self.messages);
        let scored = |positions: Vec<usize>| {
            let of = |at: usize| Some(Scored { index: at, importance: scores.get(at)?.clone() });
            positions.into_iter().filter_map(of).collect()
        };
        match handoff < wanted {
            true if !may_lend => Weighed::default(),
            true => {
                let redaction = Redaction::from(self.options.settings);
                let shortened = lend(layout, self.messages, wanted - handoff, &scores, redaction);
                Weighed { shortened: scored(shortened), ..Weighed::default() }
            }
            false => {
                let verbatim = verbatim::keep(layout, brief, self.messages, spare, &scores);
                Weighed { verbatim: scored(verbatim), ..Weighed::default() }
            }
        }
    }

    fn with_handoff(self, list: u64, handoff: u64) -> Result<Decided, Declined> {
        let (layout, brief) = self.ordinary_layout.map_err(|_| Declined::NothingBetween)?;
        Ok(Decided {
            layout,
            brief: Some(brief),
            goal: self.goal,
            target: Some(Target { list, handoff }),
            weighed: Weighed::default(),
        })
    }

    /// The whole list in this form, unless the stubs of its unanswered calls take more than the
    /// form saves.
    fn without_handoff(&self, layout: Layout, list: u64) -> Option<Decided> {
        let becomes = Load::of_list(&pairs::sanitised(layout.pruned.clone()));
        // A preview is known by its price alone, which the layout was chosen by.
        let is_smaller = becomes.tokens() < self.goal.before && becomes.rough().tokens() <= layout.before.tokens();
        (is_smaller || !layout.spilled.is_empty()).then_some(Decided {
            layout,
            brief: None,
            goal: self.goal,
            target: Some(Target { list, handoff: 0 }),
            weighed: Weighed::default(),
        })
    }

    fn tight(&self, layout: Layout, brief: Brief, target: Target) -> Decided {
        Decided { layout, brief: Some(brief), goal: self.goal, target: Some(target), weighed: Weighed::default() }
    }
}

/// Tokens of all that stays of an ordinary layout, with the stubs of its calls without a result and
/// the note of the system message.
pub(super) fn kept_tokens(layout: &Layout) -> u64 {
    let stays = || layout.stays().filter_map(|at| layout.pruned.get(at));
    stays().collect::<Load>().tokens() + pairs::stub_tokens(stays()) + super::tight::NOTE_TOKENS
}

/// Whether a compression of the list that has to gain something would change it. `current_tokens`
/// as in a request for one.
pub fn has_work(messages: &[Message], settings: &Settings, current_tokens: Option<i64>) -> bool {
    let prompt = Prompt::of(current_tokens);
    let options = Options {
        settings,
        earlier: Earlier::default(),
        focus: &Focus::Off,
        gain: Gain::Required,
        prompt,
        wishes: &Wishes::default(),
        range: None,
        weighs: false,
    };
    decide(messages, &options).is_ok()
}
