//! The cost and the savings of herma's changes of a window, in tokens of plain input.
//!
//! Every call until the end of the window sends an added text: first as new text, then as part of a prompt
//! that the provider may have cached. The prices are ratios to plain input as Anthropic publishes them for
//! its models: a cache read 0.1, a cache write (5 minutes) 1.25, output 5. The usage of each call shows how
//! much was really cached.

use crate::Usage;

/// The price of a token read from a prompt cache.
pub const READ: f64 = 0.1;

/// The price of a token written to a prompt cache.
pub const WRITE: f64 = 1.25;

/// The price of a token of an answer.
pub const OUTPUT: f64 = 5.0;

/// Assumed tokens of the summary in a client's own compaction.
pub const SUMMARY: u64 = 2_000;

/// Tokens of a client's request for it, measured in Claude Code 2.1.332.
pub const REQUEST: u64 = 1_600;

/// A call of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Call {
    /// When, in Unix seconds.
    pub time: f64,
    /// The tokens, as the provider reported them.
    pub usage: Usage,
}

/// What changed in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Instructions and tool names, which stay through compactions.
    Definitions,
    /// Memory, rules and state.
    Context,
    /// A call of one of herma's tools, with its result.
    Tool,
    /// A large output.
    Output,
    /// A compaction by herma.
    Compaction,
    /// The text with which a proxy answered the client's request for a summary. Such a request has no tools,
    /// so it reads nothing from a prompt cache (Codex 0.171).
    Handover,
    /// A compaction by the client itself.
    Summary,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Definitions, Self::Context, Self::Tool, Self::Output, Self::Compaction, Self::Handover, Self::Summary];

    /// Whether it begins a new window.
    const fn begins_window(self) -> bool {
        matches!(self, Self::Compaction | Self::Handover | Self::Summary)
    }
}

/// A change of a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// When, in Unix seconds.
    pub time: f64,
    /// What changed.
    pub kind: Kind,
    /// Tokens that are in the window because of herma.
    pub added: u64,
    /// Tokens that would be in the window without herma.
    pub removed: u64,
}

impl Change {
    #[expect(clippy::cast_precision_loss, reason = "token counts are below 2^53")]
    fn tokens(&self) -> f64 {
        self.added as f64 - self.removed as f64
    }
}

/// A line of the ledger: an event, or the cost of a kind of change in one call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// When, in Unix seconds.
    pub time: f64,
    /// The index of its call; for a change, of the next call.
    pub call: Option<usize>,
    /// The kind of change.
    pub kind: Kind,
    /// The change itself, if this line records it.
    pub change: Option<Change>,
    /// The cost at that time; negative for a saving.
    pub cost: f64,
}

/// Returns the cost of a whole call.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "token counts are at most 2^53")]
pub fn cost(usage: &Usage) -> f64 {
    usage.input as f64
        + usage.cache_read as f64 * READ
        + usage.cache_write as f64 * WRITE
        + usage.output as f64 * OUTPUT
}

/// Returns the ledger of one session. Calls and changes are sorted by time; a change comes before a call of
/// the same time.
#[must_use]
pub fn lines(calls: &[Call], changes: &[Change]) -> Vec<Line> {
    let mut ledger = Ledger::default();
    let mut changes = changes.iter().copied().peekable();
    for (index, call) in calls.iter().enumerate() {
        while let Some(change) = changes.next_if(|change| change.time <= call.time) {
            ledger.change(change, Some(index));
        }
        ledger.call(call, index);
    }
    changes.for_each(|change| ledger.change(change, None));
    ledger.lines
}

/// The state of a session's window.
#[derive(Debug, Default)]
struct Ledger {
    lines: Vec<Line>,
    /// Tokens of each kind that were sent before.
    sent: [f64; Kind::ALL.len()],
    /// Tokens of each kind that the next call sends for the first time.
    new: [f64; Kind::ALL.len()],
    /// The last call of this window.
    last: Option<Usage>,
}

impl Ledger {
    fn change(&mut self, change: Change, call: Option<usize>) {
        let Change { time, kind, .. } = change;
        let line = |kind, change, cost| Line { time, call, kind, change, cost };
        self.lines.push(line(kind, Some(change), 0.0));
        if kind.begins_window() {
            for other in Kind::ALL.into_iter().filter(|other| *other != Kind::Definitions) {
                (self.sent[other as usize], self.new[other as usize]) = (0.0, 0.0);
            }
            if let Some(last) = self.last.take() {
                let (read, write) = prices_behind(&last);
                let cost = match kind {
                    Kind::Compaction => -summary_request(&last, read, write),
                    Kind::Handover => -summary_request(&last, write, write),
                    _ => change.tokens() * write,
                };
                self.lines.push(line(Kind::Summary, None, cost));
            }
        }
        // The request for a summary carries these instructions; the new window does not.
        if kind != Kind::Summary {
            self.new[kind as usize] += change.tokens();
        }
    }

    fn call(&mut self, call: &Call, index: usize) {
        let new = price_of_new(&call.usage);
        for kind in Kind::ALL {
            let cached = match (kind, &self.last) {
                // Definitions come before the messages, so they are cached if anything is.
                (Kind::Definitions, _) => f64::from(u8::from(call.usage.cache_read > 0)),
                (_, Some(last)) => cached_share(&call.usage, last),
                (_, None) => 0.0,
            };
            let again = cached * READ + (1.0 - cached) * new;
            let at = kind as usize;
            let cost = self.new[at] * new + self.sent[at] * again;
            self.sent[at] += std::mem::take(&mut self.new[at]);
            if cost != 0.0 {
                self.lines.push(Line { time: call.time, call: Some(index), kind, change: None, cost });
            }
        }
        self.last = Some(call.usage);
    }
}

/// Returns the price of a token that a call sent for the first time: between plain input and a cache write.
#[expect(clippy::cast_precision_loss, reason = "token counts are at most 2^53")]
fn price_of_new(usage: &Usage) -> f64 {
    match usage.input + usage.cache_write {
        0 => 1.0,
        new => (usage.input as f64 + usage.cache_write as f64 * WRITE) / new as f64,
    }
}

/// Returns how much of the previous call's prompt this call read from the cache, from 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "token counts are at most 2^53")]
fn cached_share(usage: &Usage, last: &Usage) -> f64 {
    match last.prompt() {
        0 => 0.0,
        before => (usage.cache_read as f64 / before as f64).min(1.0),
    }
}

/// Returns the prices of old and of new text in a request directly after a call.
fn prices_behind(last: &Usage) -> (f64, f64) {
    let caches = last.cache_read + last.cache_write > 0;
    (if caches { READ } else { 1.0 }, price_of_new(last))
}

/// Returns the cost of a client's own request for a summary: the whole window and the request as input, the
/// summary as output.
#[expect(clippy::cast_precision_loss, reason = "token counts are at most 2^53")]
fn summary_request(last: &Usage, read: f64, write: f64) -> f64 {
    last.total() as f64 * read + REQUEST as f64 * write + SUMMARY as f64 * OUTPUT
}

#[cfg(test)]
mod tests;
