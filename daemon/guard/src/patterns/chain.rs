//! How far a pattern has come.

use std::ops::Range;

use super::neighbours::Possible;
use super::stops::Stops;
use super::words::Part;
use super::{Gap, Hits, Pattern, table};
use crate::Scope;
use crate::view::is_space;

/// The state of one pattern during a search: the parts found so far.
///
/// It keeps the first chance for the start and for each next part; an earlier one serves wherever
/// a later one would, since the gap goes on over both. Only a gap of letters ends at the start of
/// the next chance, which is then taken.
pub(super) struct Chain {
    /// What lies between the parts.
    gap: Gap,
    /// How many parts the pattern has.
    parts: usize,
    /// How many of them are found; all of them if nothing is to be done any more.
    found: usize,
    /// Where the first part begins.
    start: usize,
    /// Where the last part found ends.
    end: usize,
}

impl Chain {
    /// The chains of all patterns. Those outside `scope`, those not wanted, told by their place in
    /// the table, and those with a hit are at their end.
    pub(super) fn of_table(scope: Scope, is_wanted: impl Fn(usize) -> bool, hits: &Hits) -> Vec<Self> {
        let patterns = table::PATTERNS.iter().zip(hits).enumerate();
        let chain = |(at, (pattern, hit)): (usize, (&Pattern, &Option<Range<usize>>))| {
            Self::new(pattern, pattern.scope <= scope && hit.is_none() && is_wanted(at))
        };
        patterns.map(chain).collect()
    }

    fn new(pattern: &Pattern, is_wanted: bool) -> Self {
        let parts = pattern.parts.len();
        Self { gap: pattern.gap, parts, found: if is_wanted { 0 } else { parts }, start: 0, end: 0 }
    }

    /// Where the whole pattern was found.
    pub(super) fn hit(&self) -> Option<Range<usize>> {
        (self.is_done() && self.end > self.start).then_some(self.start..self.end)
    }

    /// Whether nothing is to be done any more.
    pub(super) fn is_done(&self) -> bool {
        self.found == self.parts
    }

    /// Whether the part may be of use here, as long as its gap has not ended.
    pub(super) fn may_use(&self, part: &Part) -> bool {
        !self.is_done() && (part.part == 0 || part.part == self.found)
    }

    /// Tries to go on with a part that it [may use](Self::may_use), written in one of the
    /// `possible` ways, whose word was found at the bytes `word`.
    pub(super) fn visit(
        &mut self,
        part: &Part,
        possible: Possible,
        view: &[u8],
        word: &Range<usize>,
        stops: &mut Stops,
    ) {
        if self.found > 0 {
            stops.read_to(view, word.start);
        }
        let goes_on = self.found > 0 && !stops.ended(self.gap, self.end);
        let is_wanted = match part.part {
            0 => !goes_on || self.gap == Gap::Letters,
            _ => goes_on,
        };
        if !is_wanted {
            return;
        }
        let places = possible.of(&part.phrases).filter_map(|phrase| phrase.match_round(word, view, stops.word_start()));
        let Some(bytes) = { places }.find(|bytes| self.fits(part.part, bytes, view)) else {
            return;
        };
        if part.part == 0 {
            self.start = bytes.start;
        }
        self.end = bytes.end;
        self.found = part.part + 1;
    }

    /// Whether a part at these bytes is behind the one before it, and has white space round it as
    /// far as the gaps ask for that.
    fn fits(&self, part: usize, bytes: &Range<usize>, view: &[u8]) -> bool {
        let is_behind = part == 0 || self.is_in_reach(bytes.start, view);
        let asks_for_space = self.gap == Gap::Words && part + 1 < self.parts;
        is_behind && (!asks_for_space || view.get(bytes.end).is_some_and(|byte| is_space(*byte)))
    }

    /// Whether a part that begins at byte `start` is behind the last one, and behind white space
    /// if the gap asks for that.
    fn is_in_reach(&self, start: usize, view: &[u8]) -> bool {
        match self.gap {
            Gap::Words => start > self.end && is_space(view[start - 1]),
            Gap::Line | Gap::Tag | Gap::Text | Gap::Letters => start >= self.end,
        }
    }
}
