//! Makes the last exchange smaller: outputs become previews of outputs stored outside the list, and if that
//! is not enough, one line each.

use super::exchange::Exchange;
use crate::images::without_images;
use crate::message::{Content, Message, Role};
use crate::persisted::OPENING_TAG;
use crate::prune;
use crate::settings::Host;
use crate::text::{head, longer_than, thousands};
use crate::tokens::Load;

/// The most chars of a preview's text, its end included.
pub(crate) const PREVIEW_CHARS: usize = 2_000;
/// Chars of the shortest useful preview; below it one line says more.
const LEAST_PREVIEW_CHARS: usize = 200;
/// Tokens of a preview without the shown text: its fixed words, and the location of the whole text.
const BLOCK_TOKENS: u64 = 160;
/// Arguments of up to this many chars stay.
const SHORT_ARGUMENTS_CHARS: usize = 500;

/// A tool output that leaves the list for a preview of so many chars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spilled {
    /// The position of the output.
    pub(crate) at: usize,
    /// The chars that are shown.
    pub(crate) chars: usize,
}

/// A last exchange after shortening.
#[derive(Clone, Debug)]
pub(crate) struct Shortened {
    /// The changed messages, by position.
    pub(crate) messages: Vec<(usize, Message)>,
    /// The outputs that become previews.
    pub(crate) spilled: Vec<Spilled>,
    /// The load of the whole exchange, with estimated previews.
    pub(crate) load: Load,
}

/// The budget of an exchange.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Budget {
    /// The load of the rest of the list.
    pub(crate) rest: Load,
    /// The most tokens that the rest and the exchange may take together.
    pub(crate) most: u64,
}

/// A message of the exchange while it is shortened.
struct Item {
    at: usize,
    message: Message,
    /// The load of its present form.
    load: Load,
    /// The cost of its preview; `None` if it can't have one.
    output: Option<PreviewCost>,
    /// The chars of its preview, if it has one.
    chars: Option<usize>,
    is_changed: bool,
}

/// The cost of a preview of an output.
#[derive(Clone, Copy)]
struct PreviewCost {
    /// The message without its text.
    bare: Load,
    /// The text alone.
    text: Load,
    /// The chars of the text.
    chars: u64,
}

impl PreviewCost {
    fn of(message: &Message) -> Option<Self> {
        if !message.is(Role::Tool) || !matches!(message.content(), Content::Text(_) | Content::List(_)) {
            return None;
        }
        let text = message.text();
        let chars = text.chars().count() as u64;
        if chars <= LEAST_PREVIEW_CHARS as u64 || text.starts_with(OPENING_TAG) {
            return None;
        }
        let bare = Load::of(&message.with_text(""));
        Some(Self { bare, text: Load::of(message).without(bare), chars })
    }

    /// Returns the load of a preview that shows so many chars.
    fn load(self, chars: usize) -> Load {
        self.bare.plus(Load::flat(BLOCK_TOKENS)).plus(self.text.part(chars as u64, self.chars))
    }

    /// Returns the chars that a preview of at most so many tokens shows.
    fn chars(self, tokens: u64) -> usize {
        let left = u128::from(tokens.saturating_sub(self.load(0).tokens())) * u128::from(self.chars);
        let left = left / u128::from(self.text.tokens().max(1));
        usize::try_from(left).unwrap_or(usize::MAX).min(PREVIEW_CHARS)
    }
}

/// Makes the messages of an exchange small enough for a budget, or as small as the host accepts.
pub(crate) fn shorten(list: &[Message], exchange: &Exchange, host: Host, budget: Budget) -> Shortened {
    let items = list.iter().enumerate().skip(exchange.from).map(|(at, message)| Item {
        at,
        load: Load::of(message),
        message: message.clone(),
        output: None,
        chars: None,
        is_changed: false,
    });
    let mut work = Shortening { items: items.collect(), budget };
    let may_shorten_calls = host.takes_short_calls && !exchange.is_in_flight;
    if !work.fits() && host.takes_short_results {
        work.price_previews();
        work.preview_largest();
    }
    if !work.fits() && may_shorten_calls {
        work.shorten_arguments();
    }
    if !work.fits() && host.takes_short_results {
        work.drop_images();
        work.shorten_previews();
    }
    if !work.fits() {
        work.summarise_in_one_line(may_shorten_calls, host.takes_short_results);
    }
    work.done()
}

impl Budget {
    fn fits(self, load: Load) -> bool {
        self.rest.plus(load).tokens() <= self.most
    }
}

struct Shortening {
    items: Vec<Item>,
    budget: Budget,
}

impl Shortening {
    fn total(&self) -> Load {
        self.items.iter().map(|item| item.load).collect()
    }

    fn fits(&self) -> bool {
        self.budget.fits(self.total())
    }

    fn price_previews(&mut self) {
        for item in &mut self.items {
            item.output = PreviewCost::of(&item.message);
        }
    }

    /// Turns the largest outputs into previews of full size, like outputs that were stored before they
    /// entered the list.
    fn preview_largest(&mut self) {
        let mut total = self.total();
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(self.items[at].load.tokens()));
        for at in order {
            if self.budget.fits(total) {
                return;
            }
            let item = &mut self.items[at];
            let Some(price) = item.output else { continue };
            let load = price.load(PREVIEW_CHARS);
            if load.tokens() < item.load.tokens() {
                total = total.without(item.load).plus(load);
                item.load = load;
                item.chars = Some(PREVIEW_CHARS);
            }
        }
    }

    fn shorten_arguments(&mut self) {
        for item in &mut self.items {
            let shorter = prune::shorter_calls(&item.message, SHORT_ARGUMENTS_CHARS);
            if let Some(shorter) = shorter.filter(|_| item.message.is(Role::Assistant)) {
                item.change(shorter);
            }
        }
    }

    fn drop_images(&mut self) {
        for item in self.items.iter_mut().filter(|item| item.message.is(Role::Tool)) {
            let Some(shorter) = without_images(&item.message, prune::SCREENSHOT) else { continue };
            let saved = Load::of(&item.message).without(Load::of(&shorter));
            item.output = item.output.map(|price| PreviewCost { bare: price.bare.without(saved), ..price });
            item.load = item.load.without(saved);
            item.message = shorter;
            item.is_changed = true;
        }
    }

    /// Reduces all previews, and all outputs larger than them, to one common size that fits.
    fn shorten_previews(&mut self) {
        let takes = |most: u64, items: &[Item]| -> Load { items.iter().map(|item| item.capped(most).1).collect() };
        let (mut fits, mut beyond) = (0, self.items.iter().map(|item| item.load.tokens()).max().unwrap_or(0) + 1);
        while beyond - fits > 1 {
            let middle = fits + (beyond - fits) / 2;
            if self.budget.fits(takes(middle, &self.items)) { fits = middle } else { beyond = middle }
        }
        for item in &mut self.items {
            (item.chars, item.load) = item.capped(fits);
        }
    }

    /// Replaces outputs and arguments with their pruned forms, as far as the flags allow.
    fn summarise_in_one_line(&mut self, calls: bool, results: bool) {
        let messages: Vec<Message> = self.items.iter().map(|item| item.message.clone()).collect();
        for (item, shorter) in self.items.iter_mut().zip(prune::prune(&messages, 0, None).messages) {
            let may = if item.message.is(Role::Tool) { results } else { calls };
            if may && !shorter.same(&item.message) && Load::of(&shorter).tokens() < item.load.tokens() {
                item.chars = None;
                item.change(shorter);
            }
        }
    }

    fn done(self) -> Shortened {
        let load = self.total();
        let spilled = self.items.iter().filter_map(|item| Some(Spilled { at: item.at, chars: item.chars? })).collect();
        let changed = self.items.into_iter().filter(|item| item.is_changed);
        Shortened { messages: changed.map(|item| (item.at, item.message)).collect(), spilled, load }
    }
}

impl Item {
    fn change(&mut self, message: Message) {
        self.load = Load::of(&message);
        self.message = message;
        self.is_changed = true;
    }

    /// Returns the preview's chars and load under a limit of so many tokens for each output.
    fn capped(&self, most: u64) -> (Option<usize>, Load) {
        match self.output {
            Some(price) if self.load.tokens() > most => {
                let chars = price.chars(most).max(LEAST_PREVIEW_CHARS);
                let load = price.load(chars);
                if load.tokens() < self.load.tokens() { (Some(chars), load) } else { (self.chars, self.load) }
            }
            _ => (self.chars, self.load),
        }
    }
}

/// Returns the replacement for an output that could not be stored outside the list: its beginning, and the
/// handle of the whole.
pub(crate) fn cut(message: &Message, chars: usize, handle: &str) -> Message {
    let text = message.text();
    if !longer_than(&text, chars) {
        return message.clone();
    }
    let count = thousands(text.chars().count());
    let words = format!("[cut here: all {count} chars are in the archive, under the handle {handle}]");
    message.with_text(&format!("{}\n...\n{words}", head(&text, chars)))
}

#[cfg(test)]
mod tests;
