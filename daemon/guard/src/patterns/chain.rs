//! How far a pattern has come.

use std::ops::Range;

use super::element::Phrase;
use super::stops::Stops;
use super::{Gap, Hits, Pattern, table};
use crate::Scope;
use crate::view::is_space;

/// The state of one pattern during a search: the parts found so far.
///
/// It keeps the first chance for the start and for each next part; an earlier one serves wherever
/// a later one would, since the gap goes on over both.
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
    /// The chains of all patterns. Those outside `scope` and those with a hit are at their end.
    pub(super) fn of_table(scope: Scope, hits: &Hits) -> Vec<Self> {
        let patterns = table::PATTERNS.iter().zip(hits);
        patterns.map(|(pattern, hit)| Self::new(pattern, pattern.scope <= scope && hit.is_none())).collect()
    }

    fn new(pattern: &Pattern, is_wanted: bool) -> Self {
        let parts = pattern.parts.len();
        Self { gap: pattern.gap, parts, found: if is_wanted { 0 } else { parts }, start: 0, end: 0 }
    }

    /// Where the whole pattern was found.
    pub(super) fn hit(&self) -> Option<Range<usize>> {
        (self.found == self.parts && self.end > self.start).then_some(self.start..self.end)
    }

    /// Tries to go on with a phrase whose word was found at the bytes `word`.
    pub(super) fn visit(&mut self, phrase: &Phrase, view: &[u8], word: &Range<usize>, stops: &mut Stops) {
        if self.found == self.parts || phrase.part > self.found {
            return;
        }
        stops.read_to(view, word.start);
        let is_first = phrase.part == 0;
        let goes_on = self.found > 0 && !stops.ended(self.gap, self.end);
        let is_wanted = if is_first { !goes_on } else { goes_on && phrase.part == self.found };
        if !is_wanted {
            return;
        }
        let Some(bytes) = phrase.match_round(word, view, stops.word_start()) else {
            return;
        };
        if !is_first && !self.is_in_reach(bytes.start, view) {
            return;
        }
        let is_last = phrase.part + 1 == self.parts;
        if self.gap == Gap::Words && !is_last && !view.get(bytes.end).is_some_and(|byte| is_space(*byte)) {
            return;
        }
        if is_first {
            self.start = bytes.start;
        }
        self.end = bytes.end;
        self.found = phrase.part + 1;
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
