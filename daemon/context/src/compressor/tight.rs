//! Layouts for a list that is too large for the ordinary one: the tail shrinks as far as the last exchange,
//! and the exchange itself becomes shorter.

use std::cell::OnceCell;

use super::exchange::Exchange;
use super::goal::Goal;
use super::layout::{Brief, Layout};
use super::options::Options;
use super::sections::is_short;
use super::shorten::{Budget, Shortened, shorten};
use crate::handoff;
use crate::images;
use crate::message::{Message, Role};
use crate::pairs;
use crate::prune;
use crate::settings::{Budgets, Host};
use crate::tokens::{Load, tokens_to_chars};

/// Tokens that a run adds in addition to the handoff's text: the note of the system message, the handoff's
/// own fields.
pub(crate) const NOTE_TOKENS: u64 = 110;
/// The least tokens that a handoff gets if there is room.
const WANTED_HANDOFF: u64 = 2_000;

/// A layout, the content of its handoff, and the tokens of the handoff.
pub(crate) type Cut = (Layout, Brief, u64);

/// The layouts of a list over the threshold, from the ordinary one down to the smallest.
pub(crate) struct TightLayouts<'a> {
    messages: &'a [Message],
    /// The ordinary layout.
    normal: &'a Layout,
    options: &'a Options<'a>,
    goal: Goal,
    exchange: Exchange,
    /// The list with everything before the last exchange pruned, and images before the newest one removed.
    stripped: Stripped,
    /// The load of the head without old images, with the note.
    head: Load,
    /// The user's last message before the last exchange, without a merged handoff.
    user: Option<(usize, Message)>,
    /// The load of the pinned messages between head and last exchange, with their pairs.
    pinned: Load,
    /// The earliest beginning of the tail: after an earlier handoff and closed episodes.
    lowest: usize,
    /// The exchange in its smallest form.
    least: OnceCell<Shortened>,
}

/// A pruned list without old images.
struct Stripped {
    messages: Vec<Message>,
    /// The number of messages that pruning replaced.
    count: usize,
}

impl<'a> TightLayouts<'a> {
    pub(crate) fn of(messages: &'a [Message], normal: &'a Layout, options: &'a Options<'a>, goal: Goal) -> Self {
        let start = normal.start;
        let exchange = Exchange::of(messages, start);
        let stripped = stripped(messages, &exchange, normal, options.settings.host);
        let head: Load = stripped.messages.iter().take(start.min(exchange.from)).collect();
        let head = head.plus(Load::flat(NOTE_TOKENS));
        let user = exchange.user.map(|at| {
            let message = &normal.pruned[at];
            (at, handoff::without_handoff(message).unwrap_or_else(|| message.clone()))
        });
        let earlier = (start..exchange.from).rev().find(|&at| handoff::is_handoff(&messages[at]));
        let left = normal.finished.last().map_or(0, |last| last + 1);
        let lowest = earlier.map_or(start, |at| at + 1).max(left).min(exchange.from);
        let pinned = normal.kept_of(messages, start..exchange.from.max(start), Vec::new());
        let pinned = pinned.iter().filter(|at| Some(**at) != exchange.user).map(|at| &normal.pruned[*at]).collect();
        let least = OnceCell::new();
        Self { messages, normal, options, goal, exchange, stripped, head, user, pinned, lowest, least }
    }

    /// Returns a tail that fits into so many tokens together with a handoff. Returns `None` if too little is
    /// between head and tail, or the head and the last exchange leave no room.
    pub(crate) fn cut(&self, level: u64) -> Option<Cut> {
        let Budgets { max_summary_tokens, tail_token_budget, .. } = self.options.settings.budgets();
        let fixed = self.fixed();
        let room = level.checked_sub(fixed.tokens())?;
        let wanted = max_summary_tokens.max(WANTED_HANDOFF).min(room / 2);
        let last = self.shortened(fixed, level - wanted);
        let taken = fixed.plus(last.load);
        let left = level.checked_sub(taken.tokens()).filter(|left| *left >= self.goal.smallest_handoff())?;
        let most_of_tail = tail_token_budget.saturating_add(tail_token_budget / 2);
        // Where the handoff would be short, the tail gives way: what is picked from all messages says more than the
        // newest.
        let is_short = is_short(tokens_to_chars(left.saturating_sub(most_of_tail)));
        let most_of_tail = if is_short { tail_token_budget / 4 } else { most_of_tail };
        let soft = most_of_tail.saturating_sub(last.load.tokens());
        let (from, taken) = self.walk(taken, taken.tokens() + left.saturating_sub(wanted).min(soft));
        self.laid_out(from, last, level.saturating_sub(taken.tokens()))
    }

    /// Returns the list with only the head and the last exchange kept, in their smallest forms; `None` if
    /// that exceeds `most` tokens.
    pub(crate) fn smallest(&self, most: u64) -> Option<Cut> {
        let last = self.least().clone();
        let smallest = self.goal.smallest_handoff();
        let taken = self.fixed().plus(last.load).tokens();
        let room = most.checked_sub(taken).filter(|room| *room >= smallest)?;
        // If the goal is out of reach, the list at least comes close.
        let left = self.goal.threshold.saturating_sub(taken);
        let wanted = WANTED_HANDOFF.min((self.goal.threshold / 2).max(left)).max(smallest);
        self.laid_out(self.exchange.from, last, room.min(wanted))
    }

    /// Returns the whole list without a handoff, pruned up to the last exchange, if it fits into so many
    /// tokens.
    pub(crate) fn whole(&self, level: u64) -> Option<Layout> {
        self.without_handoff(self.shortened(self.ahead(), level), level)
    }

    /// Returns the same with the last exchange in its smallest form.
    pub(crate) fn smallest_whole(&self, most: u64) -> Option<Layout> {
        self.without_handoff(self.least().clone(), most)
    }

    /// Returns the load of everything before the last exchange, pruned.
    fn ahead(&self) -> Load {
        self.stripped.messages.iter().take(self.exchange.from).collect()
    }

    fn without_handoff(&self, last: Shortened, most: u64) -> Option<Layout> {
        if self.options.settings.host.fewer_messages > 0
            || self.ahead().plus(last.load).tokens() > most.min(self.goal.before.saturating_sub(1))
        {
            return None;
        }
        let mut layout = self.normal.without_handoff(self.messages);
        layout.pruned_count = self.stripped.count + last.spilled.len();
        layout.pruned.clone_from(&self.stripped.messages);
        put(&mut layout, last);
        Some(layout)
    }

    /// Returns the load of the messages that always stay, without the last message and its results.
    fn fixed(&self) -> Load {
        let user = self.user.as_ref().map(|(_, message)| Load::of(message)).unwrap_or_default();
        self.head.plus(user).plus(self.pinned)
    }

    /// Returns the last exchange, shortened until it and the rest of the list take at most `most` tokens, or
    /// in its smallest form.
    fn shortened(&self, rest: Load, most: u64) -> Shortened {
        let takes = |last: &Shortened| rest.plus(last.load).tokens();
        // A failed attempt is not repeated for each level.
        if let Some(least) = self.least.get().filter(|least| takes(least) >= most) {
            return least.clone();
        }
        let last = self.shortened_to(Budget { rest, most });
        if takes(&last) > most { self.least().clone() } else { last }
    }

    fn least(&self) -> &Shortened {
        self.least.get_or_init(|| self.shortened_to(Budget::default()))
    }

    fn shortened_to(&self, budget: Budget) -> Shortened {
        shorten(&self.normal.pruned, &self.exchange, self.options.settings.host, budget)
    }

    /// Returns the first message of a tail that needs at most `most` tokens together with `taken`, and the
    /// load of both. Pairs stay whole.
    fn walk(&self, mut taken: Load, most: u64) -> (usize, Load) {
        let (mut cut, mut sum) = (self.exchange.from, taken);
        for at in (self.lowest..self.exchange.from).rev() {
            let message = &self.normal.pruned[at];
            if Some(at) != self.exchange.user && self.normal.pinned.binary_search(&at).is_err() {
                sum = sum.plus(Load::of(message));
            }
            if sum.tokens() > most {
                break;
            }
            if !message.is(Role::Tool) {
                (cut, taken) = (at, sum);
            }
        }
        (cut, taken)
    }

    fn laid_out(&self, cut: usize, last: Shortened, handoff: u64) -> Option<Cut> {
        let start = self.normal.start;
        let user = self.exchange.user.filter(|user| (start..cut).contains(user));
        let kept = self.normal.kept_of(self.messages, start..cut, user.into_iter().collect());
        let middle = self.normal.loads.iter().enumerate().take(cut).skip(start);
        let middle: Load = middle.filter(|(at, _)| !kept.contains(at)).map(|(_, load)| *load).collect();
        if middle.tokens() < self.goal.smallest_handoff() {
            return None;
        }
        let count = self.normal.pruned_count + last.spilled.len();
        let mut layout = Layout { end: cut, tail: cut, kept, pruned_count: count, ..self.normal.clone() };
        let Options { settings, earlier, focus, .. } = self.options;
        let brief = Brief::of(&layout, self.messages, settings, *earlier, focus);
        layout.pruned[..start].clone_from_slice(&self.stripped.messages[..start]);
        if let (Some(at), Some((_, user))) = (user, &self.user) {
            layout.pruned[at] = user.clone();
        }
        put(&mut layout, last);
        let stubs = pairs::stub_tokens(layout.stays().filter_map(|at| layout.pruned.get(at)));
        let handoff = handoff.checked_sub(stubs).filter(|handoff| *handoff >= self.goal.smallest_handoff())?;
        Some((layout, brief, handoff))
    }
}

fn put(layout: &mut Layout, last: Shortened) {
    layout.is_tight = true;
    for (at, message) in last.messages {
        layout.pruned[at] = message;
    }
    layout.spilled = last.spilled;
}

fn stripped(messages: &[Message], exchange: &Exchange, normal: &Layout, host: Host) -> Stripped {
    let pruned = prune::prune(messages, messages.len() - exchange.from, None).restored(messages, host);
    let mut all = pruned.messages;
    let newest = images::anchor(messages).unwrap_or(0);
    for message in all.iter_mut().take(newest).filter(|message| host.takes_short(message)) {
        if let Some(stripped) = images::stripped(message) {
            *message = stripped;
        }
    }
    for &at in &normal.pinned {
        if let (Some(place), Some(message)) = (all.get_mut(at), messages.get(at)) {
            place.clone_from(message);
        }
    }
    Stripped { messages: all, count: pruned.count }
}
