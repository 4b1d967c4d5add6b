//! Searching a view of a text for the threat patterns.
//!
//! A pattern is a chain of parts with gaps between them. One pass of an automaton finds the words
//! that the parts cannot do without; round each of them its part is matched by hand, and the
//! chains of all patterns move on side by side. So the work is linear in the text however many
//! patterns almost match: a part looks only at what adjoins its word, and what lies in a gap is
//! read once for all of them.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};

use crate::view::{WORD_LETTERS, is_space};
use crate::{FindingId, Scope};

mod chain;
mod element;
mod neighbours;
mod notation;
mod stops;
mod table;
mod ways;
mod words;

use chain::Chain;
use neighbours::{Neighbours, Possible};
use stops::Stops;
use words::Words;

/// Where each pattern of the table was first found, in bytes of the view.
pub(crate) type Hits = Vec<Option<Range<usize>>>;

/// What may lie between two parts of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// White space, or words with white space round them.
    Words,
    /// Anything within the line.
    Line,
    /// Anything but the end of a tag.
    Tag,
    /// Anything.
    Text,
    /// Letters, digits and underscores.
    Letters,
}

/// One row of the table.
struct Pattern {
    /// The name it is reported under.
    id: FindingId,
    /// The smallest scope that looks for it.
    scope: Scope,
    /// What lies between the parts.
    gap: Gap,
    /// What it looks for, in the [`notation`].
    parts: &'static [&'static str],
}

impl Pattern {
    const fn new(id: &'static str, scope: Scope, gap: Gap, parts: &'static [&'static str]) -> Self {
        Self { id: FindingId::new(id), scope, gap, parts }
    }
}

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
    let chains = Chain::of_table(scope, is_wanted, hits);
    let open = chains.iter().filter(|chain| !chain.is_done()).count();
    let mut search = Search { view, chains, open, stops: Stops::default() };
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
    for (hit, chain) in hits.iter_mut().zip(search.chains) {
        *hit = hit.take().or_else(|| chain.hit().map(|bytes| without_space(view, bytes)));
    }
}

/// A search on its way through a view.
struct Search<'a> {
    view: &'a [u8],
    /// One for each pattern.
    chains: Vec<Chain>,
    /// How many of them are not done.
    open: usize,
    stops: Stops,
}

impl Search<'_> {
    /// Moves the chains on by the words that end before byte `end`. Kept out of the loop over all
    /// bytes, which is half as fast with it.
    #[inline(never)]
    fn visit(&mut self, state: StateID, end: usize) {
        let automaton = &WORDS.automaton;
        if !automaton.is_match(state) {
            return;
        }
        for index in 0..automaton.match_len(state) {
            let word = WORDS.at(automaton.match_pattern(state, index));
            let found = word.bytes(end);
            let mut neighbours = None;
            for part in &word.parts {
                let chain = &mut self.chains[part.pattern];
                if !chain.may_use(part) || part.is_variable && !self.stops.is_in_variable(self.view, found.start) {
                    continue;
                }
                let neighbours = neighbours.get_or_insert_with(|| Neighbours::of(&found, self.view));
                let possible = part.filter.possible(neighbours);
                if possible != Possible::NOTHING {
                    chain.visit(part, possible, self.view, &found, &mut self.stops);
                    self.open -= usize::from(chain.is_done());
                }
            }
        }
    }
}

/// A place for each pattern, nothing found yet.
pub(crate) fn no_hits() -> Hits {
    vec![None; table::PATTERNS.len()]
}

/// The ids of all patterns, in the table's order, which is that of [`Hits`].
pub(crate) fn ids() -> impl Iterator<Item = FindingId> {
    table::PATTERNS.iter().map(|pattern| pattern.id)
}

fn without_space(view: &[u8], bytes: Range<usize>) -> Range<usize> {
    let last = view[bytes.clone()].iter().rposition(|byte| !is_space(*byte));
    bytes.start..last.map_or(bytes.end, |last| bytes.start + last + 1)
}
