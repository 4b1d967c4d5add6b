//! Search for the threat patterns in a view of a text.
//!
//! A pattern consists of an expression and the words that every match contains. An automaton finds
//! the words of all patterns in one pass. When the words of a pattern appear in the order of a
//! match, its expression is tried, once per stretch of text that a match can't cross. So the work
//! is linear in the text, however many patterns nearly match. An expression is compiled only when
//! its words appear.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};

use crate::view::{WORD_LETTERS, is_space};
use crate::{FindingId, Scope};

mod expression;
mod pattern;
mod progress;
mod stops;
mod table;
#[cfg(test)]
mod tests;
mod words;

use progress::Progress;
use stops::StretchEnds;
use table::PATTERNS;
use words::Words;

/// The first match of each pattern of the table, in bytes of the view.
pub(crate) type Hits = Vec<Option<Range<usize>>>;

/// The automaton, and the patterns of each of its words.
static WORDS: LazyLock<Words> = LazyLock::new(Words::of_table);

/// Finds the first match of every pattern of `scope` that has none in `hits` yet.
///
/// `hits` has one entry per pattern, as [`no_hits`] returns it.
pub(crate) fn find(view: &[u8], scope: Scope, hits: &mut Hits) {
    find_among(view, scope, |_| true, hits);
}

/// Does the same, but only for patterns whose index in the table `is_wanted`.
pub(crate) fn find_among(view: &[u8], scope: Scope, is_wanted: impl Fn(usize) -> bool, hits: &mut Hits) {
    let automaton = &WORDS.automaton;
    let Ok(mut state) = automaton.start_state(Anchored::No) else {
        return;
    };
    let rows = PATTERNS.iter().zip(&*hits).enumerate();
    let progress =
        rows.map(|(at, (pattern, hit))| Progress::new(at, pattern.scope <= scope && hit.is_none() && is_wanted(at)));
    let progress: Vec<Progress> = progress.collect();
    let open = progress.iter().filter(|progress| !progress.is_done()).count();
    let mut search = Search { view, progress, open, stops: StretchEnds::default() };
    let mut last = 0;
    for (at, byte) in view.iter().enumerate() {
        let letter = WORD_LETTERS[usize::from(*byte)];
        if letter == b' ' && last == b' ' {
            continue;
        }
        last = letter;
        state = automaton.next_state(Anchored::No, state, letter);
        if automaton.is_special(state) {
            search.visit(state, at + 1);
            if search.open == 0 {
                break;
            }
        }
    }
    for (hit, progress) in hits.iter_mut().zip(search.progress) {
        *hit = hit.take().or_else(|| progress.into_hit().map(|bytes| without_space(view, bytes)));
    }
}

/// The state of a search through a view.
struct Search<'a> {
    view: &'a [u8],
    /// The progress of each pattern.
    progress: Vec<Progress>,
    /// Number of patterns that are not done.
    open: usize,
    stops: StretchEnds,
}

impl Search<'_> {
    /// Handles the words that end before byte `end`. It is kept out of the loop over all bytes,
    /// because inlining halves the loop's speed.
    #[inline(never)]
    fn visit(&mut self, state: StateID, end: usize) {
        let automaton = &WORDS.automaton;
        if !automaton.is_match(state) {
            return;
        }
        for index in 0..automaton.match_len(state) {
            let word = WORDS.at(automaton.match_pattern(state, index));
            let mut found = None;
            for place in &word.places {
                let progress = &mut self.progress[place.pattern];
                if !progress.may_use(place.step) {
                    continue;
                }
                let Some(found) = found.get_or_insert_with(|| word.found(self.view, end)) else {
                    break;
                };
                if place.in_variable && !self.stops.is_in_variable(self.view, found.letters.start) {
                    continue;
                }
                progress.visit(place.step, found, self.view, &mut self.stops);
                self.open -= usize::from(progress.is_done());
            }
        }
    }
}

/// Returns an empty list of matches: one entry per pattern.
pub(crate) fn no_hits() -> Hits {
    vec![None; PATTERNS.len()]
}

/// Returns the ids of all patterns in the order of the table and of [`Hits`].
pub(crate) fn ids() -> impl Iterator<Item = FindingId> {
    PATTERNS.iter().map(|pattern| pattern.id)
}

/// Returns the individual words of a pattern in small letters.
pub(crate) fn words(id: FindingId) -> impl Iterator<Item = &'static str> {
    let rows = PATTERNS.iter().filter(move |pattern| pattern.id == id);
    let steps = rows.flat_map(|pattern| pattern.steps).flat_map(|words| words.trim_start_matches(r"\$").split('|'));
    steps.flat_map(str::split_whitespace)
}

fn without_space(view: &[u8], bytes: Range<usize>) -> Range<usize> {
    let last = view[bytes.clone()].iter().rposition(|byte| !is_space(*byte));
    bytes.start..last.map_or(bytes.end, |last| bytes.start + last + 1)
}
