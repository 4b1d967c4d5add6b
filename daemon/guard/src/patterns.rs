//! Searching a view of a text for the threat patterns.
//!
//! A pattern is an expression and the words that no hit of it can do without. One pass of an
//! automaton finds the words of all patterns; where those of one follow each other as its hit
//! would have them, its expression is tried, once for each stretch of text that a hit can't leave.
//! So the work is linear in the text however many patterns almost match, and an expression that
//! nothing comes near is never compiled.

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
use stops::Stops;
use table::PATTERNS;
use words::Words;

/// Where each pattern of the table was first found, in bytes of the view.
pub(crate) type Hits = Vec<Option<Range<usize>>>;

/// The automaton and what to do at each of its words.
static WORDS: LazyLock<Words> = LazyLock::new(Words::of_table);

/// Looks for the first hit of every pattern of `scope` for which `hits` has none yet.
///
/// `hits` has a place for each pattern, as [`no_hits`] gives it.
pub(crate) fn find(view: &[u8], scope: Scope, hits: &mut Hits) {
    find_among(view, scope, |_| true, hits);
}

/// Does the same for those patterns only whose place in the table `is_wanted`.
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
    let mut search = Search { view, progress, open, stops: Stops::default() };
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

/// A search on its way through a view.
struct Search<'a> {
    view: &'a [u8],
    /// One for each pattern.
    progress: Vec<Progress>,
    /// How many of them are not done.
    open: usize,
    stops: Stops,
}

impl Search<'_> {
    /// Takes note of the words that end before byte `end`. Kept out of the loop over all bytes,
    /// which is half as fast with it.
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

/// A place for each pattern, nothing found yet.
pub(crate) fn no_hits() -> Hits {
    vec![None; PATTERNS.len()]
}

/// The ids of all patterns, in the table's order, which is that of [`Hits`].
pub(crate) fn ids() -> impl Iterator<Item = FindingId> {
    PATTERNS.iter().map(|pattern| pattern.id)
}

/// The words by which a pattern is found, each alone and in small letters.
pub(crate) fn words(id: FindingId) -> impl Iterator<Item = &'static str> {
    let rows = PATTERNS.iter().filter(move |pattern| pattern.id == id);
    let steps = rows.flat_map(|pattern| pattern.steps).flat_map(|words| words.trim_start_matches(r"\$").split('|'));
    steps.flat_map(str::split_whitespace)
}

fn without_space(view: &[u8], bytes: Range<usize>) -> Range<usize> {
    let last = view[bytes.clone()].iter().rposition(|byte| !is_space(*byte));
    bytes.start..last.map_or(bytes.end, |last| bytes.start + last + 1)
}
