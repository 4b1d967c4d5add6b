//! Layouts for a list that is too large for the ordinary one: the tail shrinks as far as the last
//! exchange, and the exchange itself gets shorter.

use std::cell::OnceCell;

use super::exchange::Exchange;
use super::goal::Goal;
use super::layout::{Brief, Layout};
use super::options::Options;
use super::shorten::{Shortened, shorten};
use crate::handoff;
use crate::images;
use crate::message::{Message, Role};
use crate::pairs;
use crate::prune;
use crate::settings::{Budgets, Host};
use crate::tokens::{Measure, tokens_of};

/// Tokens of what a run adds besides the handoff: the note of the system message, the handoff's
/// own fields.
pub(crate) const NOTE_TOKENS: u64 = 110;
/// The least that a handoff asks for, in tokens, where there is room.
const WANTED_HANDOFF: u64 = 2_000;

/// A layout, what its handoff covers, and the tokens of the handoff.
pub(crate) type Cut = (Layout, Brief, u64);

/// The layouts of a list over the threshold, from the ordinary one down to the smallest.
pub(crate) struct TightLayouts<'a> {
    messages: &'a [Message],
    /// The ordinary layout.
    normal: &'a Layout,
    options: &'a Options<'a>,
    goal: Goal,
    exchange: Exchange,
    /// Everything before the last exchange pruned, and pictures before the newest one gone.
    stripped: Stripped,
    /// Tokens of the head, stripped, and of the note.
    head: u64,
    /// The user's last message before the last exchange, freed of a handoff.
    user: Option<(usize, Message)>,
    /// Tokens of what is pinned between head and last exchange, and of whom that stands beside.
    pinned: u64,
    /// Where the tail begins at the earliest: behind an earlier handoff and closed episodes.
    lowest: usize,
    /// The exchange as small as it gets.
    least: OnceCell<Shortened>,
}

/// A list without what pruning takes and without old pictures.
struct Stripped {
    messages: Vec<Message>,
    /// How many of them pruning replaced.
    count: usize,
}

impl<'a> TightLayouts<'a> {
    pub(crate) fn of(messages: &'a [Message], normal: &'a Layout, options: &'a Options<'a>, goal: Goal) -> Self {
        let start = normal.start;
        let exchange = Exchange::of(messages, start);
        let stripped = stripped(messages, &exchange, normal, options.settings.host);
        let head = stripped.messages.iter().take(start.min(exchange.from)).map(tokens_of).sum::<u64>() + NOTE_TOKENS;
        let user = exchange.user.map(|at| {
            let message = &normal.pruned[at];
            (at, handoff::without_handoff(message).unwrap_or_else(|| message.clone()))
        });
        let earlier = (start..exchange.from).rev().find(|&at| handoff::is_handoff(&messages[at]));
        let left = normal.finished.last().map_or(0, |last| last + 1);
        let lowest = earlier.map_or(start, |at| at + 1).max(left).min(exchange.from);
        let pinned = normal.kept_of(messages, start..exchange.from.max(start), Vec::new());
        let pinned =
            pinned.iter().filter(|at| Some(**at) != exchange.user).map(|at| tokens_of(&normal.pruned[*at])).sum();
        let least = OnceCell::new();
        Self { messages, normal, options, goal, exchange, stripped, head, user, pinned, lowest, least }
    }

    /// A tail that fits with a handoff into so many tokens. None if nothing that is worth one
    /// stands between, or the head and the last exchange leave no room.
    pub(crate) fn cut(&self, level: u64) -> Option<Cut> {
        let Budgets { max_summary_tokens, tail_token_budget, .. } = self.options.settings.budgets();
        let room = level.checked_sub(self.fixed())?;
        let wanted = max_summary_tokens.max(WANTED_HANDOFF).min(room / 2);
        let last = self.shortened(room - wanted);
        let left = room.checked_sub(last.tokens).filter(|left| *left >= self.goal.smallest_handoff())?;
        let soft = tail_token_budget.saturating_add(tail_token_budget / 2);
        let (from, tail) = self.walk(left.saturating_sub(wanted).min(soft.saturating_sub(last.tokens)));
        self.laid_out(from, last, left - tail)
    }

    /// The list with nothing kept but the head and the last exchange, both as small as they get;
    /// none if that is more than `most` tokens.
    pub(crate) fn smallest(&self, most: u64) -> Option<Cut> {
        let last = self.least().clone();
        let smallest = self.goal.smallest_handoff();
        let room = most.checked_sub(self.fixed() + last.tokens).filter(|room| *room >= smallest)?;
        // What can't reach its goal at least comes near it.
        let left = self.goal.threshold.saturating_sub(self.fixed() + last.tokens);
        let wanted = WANTED_HANDOFF.min((self.goal.threshold / 2).max(left)).max(smallest);
        self.laid_out(self.exchange.from, last, room.min(wanted))
    }

    /// The whole list without a handoff, pruned up to the last exchange, if that fits into so many
    /// tokens.
    pub(crate) fn whole(&self, level: u64) -> Option<Layout> {
        let last = self.shortened(level.checked_sub(self.ahead())?);
        self.without_handoff(last, level)
    }

    /// The same with the last exchange as small as it gets.
    pub(crate) fn smallest_whole(&self, most: u64) -> Option<Layout> {
        self.without_handoff(self.least().clone(), most)
    }

    /// Tokens of everything before the last exchange, bare.
    fn ahead(&self) -> u64 {
        self.stripped.messages.iter().take(self.exchange.from).map(tokens_of).sum()
    }

    fn without_handoff(&self, last: Shortened, most: u64) -> Option<Layout> {
        if self.options.settings.host.fewer_messages > 0
            || self.ahead() + last.tokens > most.min(self.goal.before.saturating_sub(1))
        {
            return None;
        }
        let mut layout = self.normal.without_handoff(self.messages);
        layout.pruned_count = self.stripped.count + last.spilled.len();
        layout.pruned.clone_from(&self.stripped.messages);
        put(&mut layout, last);
        Some(layout)
    }

    /// Tokens of what stays whatever happens, without the last message and its results.
    fn fixed(&self) -> u64 {
        self.head + self.user.as_ref().map_or(0, |(_, message)| tokens_of(message)) + self.pinned
    }

    fn shortened(&self, budget: u64) -> Shortened {
        // What can't be done is not tried for each level anew.
        match self.least.get().filter(|least| least.tokens >= budget) {
            Some(least) => least.clone(),
            None => {
                let last = shorten(&self.normal.pruned, &self.exchange, self.options.settings.host, budget);
                match last.tokens > budget {
                    true => self.least().clone(),
                    false => last,
                }
            }
        }
    }

    fn least(&self) -> &Shortened {
        self.least.get_or_init(|| shorten(&self.normal.pruned, &self.exchange, self.options.settings.host, 0))
    }

    /// The first message of the tail where that has so many tokens before the last exchange, and
    /// what it takes. Calls and their results stay together.
    fn walk(&self, budget: u64) -> (usize, u64) {
        let (mut cut, mut taken, mut sum) = (self.exchange.from, 0, 0);
        for at in (self.lowest..self.exchange.from).rev() {
            let message = &self.normal.pruned[at];
            if Some(at) != self.exchange.user && self.normal.pinned.binary_search(&at).is_err() {
                sum += tokens_of(message);
            }
            if sum > budget {
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
        let middle = self.normal.measures.iter().enumerate().take(cut).skip(start);
        let middle = middle.filter(|(at, _)| !kept.contains(at)).map(|(_, measure)| *measure);
        if middle.fold(Measure::default(), Measure::plus).tokens() < self.goal.smallest_handoff() {
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
