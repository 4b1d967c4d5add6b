//! How much of a pattern was found.

use std::ops::Range;

use memchr::memchr;

use super::expression;
use super::pattern::{Pattern, Reach};
use super::stops::StretchEnds;
use super::table::PATTERNS;
use super::words::Found;
use crate::view::is_word;

/// The state of one pattern during a search: the words found so far.
///
/// It keeps the first occurrence for each step. An earlier occurrence works wherever a later one
/// would, because the text between may be anything that the reach allows.
pub(super) struct Progress {
    /// The index of the pattern in the table.
    row: usize,
    pattern: &'static Pattern,
    state: State,
    /// Number of completed steps; all of them after the expression was tried without a match.
    found: usize,
    /// Start of the word of the first step.
    start: usize,
    /// End of the last word found.
    end: usize,
    /// The bytes of white space that the last word requires after it.
    space: usize,
}

enum State {
    Open,
    Found(Range<usize>),
    /// The pattern is not searched for.
    Unwanted,
}

impl Progress {
    /// Creates the initial state of the pattern in this row of the table.
    pub(super) fn new(row: usize, is_wanted: bool) -> Self {
        let state = if is_wanted { State::Open } else { State::Unwanted };
        Self { row, pattern: &PATTERNS[row], state, found: 0, start: 0, end: 0, space: 0 }
    }

    /// Returns the match of the whole pattern.
    pub(super) fn into_hit(self) -> Option<Range<usize>> {
        match self.state {
            State::Found(bytes) => Some(bytes),
            State::Open | State::Unwanted => None,
        }
    }

    /// Returns whether the search for this pattern is over.
    pub(super) fn is_done(&self) -> bool {
        !matches!(self.state, State::Open)
    }

    /// Returns whether a word of this step may be useful here, if the stretch has not ended.
    pub(super) fn may_use(&self, step: usize) -> bool {
        !self.is_done() && (step == 0 || step == self.found)
    }

    /// Processes a word of a step that [may be used](Self::may_use).
    pub(super) fn visit(&mut self, step: usize, word: &Found, view: &[u8], stops: &mut StretchEnds) {
        let Found { letters, before, behind } = word;
        let reach = self.pattern.reach;
        // A word of two lines, as in `you⏎must`, begins the search of the second one.
        let until = if reach == Reach::WholeLine { letters.end } else { letters.start };
        let goes_on = self.found > 0 && !stops.ended(reach, self.end, until, view);
        // On a line, two words can't share the white space between them.
        let space = if reach == Reach::Line { self.space + before } else { 0 };
        let is_wanted = if step == 0 { !goes_on } else { goes_on && letters.start >= self.end + space };
        let is_torn = reach == Reach::Line && view[letters.clone()].contains(&b'\n');
        if !is_wanted || is_torn {
            return;
        }
        if step == 0 {
            self.start = letters.start;
        }
        self.end = letters.end;
        self.space = *behind;
        self.found = step + 1;
        if self.found == self.pattern.steps.len()
            && let Some(hit) = self.try_expression(view)
        {
            self.state = State::Found(hit);
        }
    }

    fn try_expression(&self, view: &[u8]) -> Option<Range<usize>> {
        let expression = self.pattern.expression;
        let from = match self.pattern.reach {
            Reach::Text => 0,
            // The preceding byte is needed to detect the edge of the word.
            _ if expression.starts_with(r"\<") => self.start.saturating_sub(1),
            _ => self.start,
        };
        let end = match self.pattern.reach {
            Reach::WholeLine => memchr(b'\n', &view[self.end..]).map_or(view.len(), |length| self.end + length),
            _ => view.len(),
        };
        let view = &view[..end];
        let compiled = expression::of_row(self.row);
        let whole = compiled.find(&view[from..])?;
        if compiled.captures_len() > 1 {
            let groups = compiled.captures_at(&view[from..], whole.start())?;
            let group = groups.iter().skip(1).flatten().next()?;
            return Some(from + group.start()..from + group.end());
        }
        let (start, end) = (from + whole.start(), from + whole.end());
        let has_byte_before = expression.starts_with(r"\<") && !is_word(view[start]);
        let has_byte_behind = expression.ends_with(r"\>") && !is_word(view[end - 1]);
        Some(start + usize::from(has_byte_before)..end - usize::from(has_byte_behind))
    }
}
