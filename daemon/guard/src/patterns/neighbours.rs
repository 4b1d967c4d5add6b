//! What stands round a word, as far as it rules out most ways to write a part at once.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::element::{Element, Kind, Phrase};
use crate::view::{STROKE, is_space, is_word, reads_as};

/// For each byte the phrases that may be beside it, one bit for each.
pub(super) type Table = [u8; 256];

/// Phrases from this number on share the last bit.
const LAST_BIT: usize = 7;

/// Stands for the edge of a view. No view has such a byte.
const EDGE: u8 = 0xFF;

/// The places whose bytes are looked at.
const PLACES: [(Side, Look); 6] = [
    (Side::Before, Look::Next),
    (Side::Behind, Look::Next),
    (Side::Before, Look::PastSpace),
    (Side::Behind, Look::PastSpace),
    (Side::Before, Look::Second),
    (Side::Behind, Look::Second),
];

/// The side of a word or way.
#[derive(Debug, Clone, Copy)]
pub(super) enum Side {
    Before,
    Behind,
}

/// Which byte of a side is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// The one that comes next.
    Next,
    /// The first that is no white space.
    PastSpace,
    /// The one beyond that, if that is of a word.
    Second,
}

/// The bytes at the [`PLACES`] round a word.
pub(super) struct Neighbours([u8; PLACES.len()]);

impl Neighbours {
    pub(super) fn of(word: &Range<usize>, view: &[u8]) -> Self {
        let (head, tail) = (&view[..word.start], &view[word.end..]);
        let [before, before_second] = past_space(head.iter().rev());
        let [behind, behind_second] = past_space(tail.iter());
        let or_edge = |byte: Option<&u8>| byte.copied().unwrap_or(EDGE);
        Self([or_edge(head.last()), or_edge(tail.first()), before, behind, before_second, behind_second])
    }
}

/// The first byte that is no white space, and the next one if the first is of a word.
fn past_space<'a>(mut bytes: impl Iterator<Item = &'a u8>) -> [u8; 2] {
    let first = bytes.find(|byte| !is_space(**byte)).copied().unwrap_or(EDGE);
    let second = if is_word(first) { bytes.next().copied().unwrap_or(EDGE) } else { EDGE };
    [first, second]
}

/// Tells which phrases of a part are possible between given neighbours.
#[derive(Debug)]
pub(super) struct Filter([Arc<Table>; PLACES.len()]);

impl Filter {
    /// Of phrases whose own elements have the elements `around` before and behind them. `tables`
    /// keeps equal ones once.
    pub(super) fn of(phrases: &[Phrase], around: &[Vec<Element>; 2], tables: &mut BTreeSet<Arc<Table>>) -> Self {
        let [first, last] = around;
        let before = phrases.iter().map(|phrase| [first.as_slice(), &phrase.before].concat()).collect::<Vec<_>>();
        let behind = phrases.iter().map(|phrase| [phrase.behind.as_slice(), last].concat()).collect::<Vec<_>>();
        Self(PLACES.map(|(side, look)| {
            let sides = match side {
                Side::Before => &before,
                Side::Behind => &behind,
            };
            let table = table(|byte| {
                let possible = sides.iter().map(|elements| byte > STROKE || side.may_adjoin(elements, byte, look));
                possible.enumerate().fold(0, |bits, (number, is)| bits | u8::from(is) << number.min(LAST_BIT))
            });
            let known = tables.get(&table).cloned();
            known.unwrap_or_else(|| {
                let table = Arc::new(table);
                tables.insert(Arc::clone(&table));
                table
            })
        }))
    }

    /// What is possible between these neighbours.
    pub(super) fn possible(&self, neighbours: &Neighbours) -> Possible {
        let tables = self.0.iter().zip(neighbours.0);
        Possible(tables.fold(u8::MAX, |bits, (table, byte)| bits & table[usize::from(byte)]))
    }
}

/// Some of the phrases of a part, one bit for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Possible(u8);

impl Possible {
    /// None of them.
    pub(super) const NOTHING: Self = Self(0);

    /// Those of the phrases of the part.
    pub(super) fn of(self, phrases: &[Phrase]) -> impl Iterator<Item = &Phrase> {
        let phrases = phrases.iter().enumerate();
        phrases.filter(move |(number, _)| self.0 >> number.min(&LAST_BIT) & 1 == 1).map(|(_, phrase)| phrase)
    }
}

fn table(bits: impl Fn(u8) -> u8) -> Table {
    let mut table = [0; 256];
    (0..=u8::MAX).for_each(|byte| table[usize::from(byte)] = bits(byte));
    table
}

impl Side {
    /// Whether elements may be on this side of a place where the byte is found. Only a no is
    /// certain.
    pub(super) fn may_adjoin(self, elements: &[Element], byte: u8, look: Look) -> bool {
        self.may_go_on(elements, byte, look, &|_| true)
    }

    /// The same if the elements are followed by what may adjoin `then`.
    fn may_go_on(self, elements: &[Element], byte: u8, look: Look, then: &dyn Fn(Look) -> bool) -> bool {
        let split = match self {
            Self::Before => elements.split_last(),
            Self::Behind => elements.split_first(),
        };
        let Some((element, rest)) = split else {
            return then(look);
        };
        let rest = |look| self.may_go_on(rest, byte, look, then);
        let is_next = look == Look::Next;
        let has = |kind: Kind| if look == Look::Second { kind.has_word() } else { kind.has(byte) };
        match element {
            Element::Literal(letters) if !is_next && letters.iter().any(|letter| is_space(*letter)) => true,
            Element::Literal(letters) if look == Look::Second => {
                self.letter(letters, 1).map_or_else(|| rest(Look::Next), |letter| reads_as(byte, letter))
            }
            Element::Literal(letters) => self.letter(letters, 0).is_some_and(|letter| reads_as(byte, letter)),
            Element::Run(kind, 0) => has(*kind) || rest(look),
            Element::Run(kind, _) | Element::One(kind) => has(*kind) || (!is_next && kind.has_space() && rest(look)),
            Element::WordStart => (!is_next || matches!(self, Self::Behind) || !is_word(byte)) && rest(look),
            Element::WordEnd => (!is_next || matches!(self, Self::Before) || !is_word(byte)) && rest(look),
            Element::TextEnd => false,
            Element::Variable => true,
            Element::Choice(ways) => ways.all().iter().any(|way| self.may_go_on(way, byte, look, &rest)),
            Element::Ahead(ways) => ways.all().iter().any(|way| self.may_adjoin(way, byte, look)),
            Element::Near(_) if look == Look::Second => true,
            Element::Near(ways) => is_word(byte) || ways.all().iter().any(|way| self.may_adjoin(way, byte, look)),
        }
    }

    /// The letter at this distance from the place that the letters adjoin.
    fn letter(self, letters: &[u8], distance: usize) -> Option<u8> {
        match self {
            Self::Before => letters.iter().nth_back(distance).copied(),
            Self::Behind => letters.get(distance).copied(),
        }
    }
}
