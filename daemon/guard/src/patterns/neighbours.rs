//! What stands round a word, as far as it rules out most ways to write a part at once.

use std::ops::Range;
use std::sync::Arc;

use super::element::{Element, Kind, Phrase};
use crate::view::{STROKE, is_space, is_word, reads_as};

/// For each of the [`LOOKS`] and each byte, the phrases that may be beside it, one bit for each.
type Tables = [[u8; 256]; LOOKS.len()];

/// Phrases from this number on share the last bit.
const LAST_BIT: usize = 7;

/// Stands for the edge of a view. No view has such a byte, nor any other beyond [`STROKE`].
const EDGE: u8 = 0xFF;

/// Which bytes of a side are looked at.
const LOOKS: [Look; 3] = [Look::Next, Look::PastSpace, Look::Second];

/// The side of a word or way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// The bytes round a word.
pub(super) struct Neighbours {
    before: [u8; LOOKS.len()],
    behind: [u8; LOOKS.len()],
}

impl Neighbours {
    pub(super) fn of(word: &Range<usize>, view: &[u8]) -> Self {
        Self { before: looks(view[..word.start].iter().rev()), behind: looks(view[word.end..].iter()) }
    }
}

/// The bytes of the [`LOOKS`].
fn looks<'a>(mut bytes: impl Iterator<Item = &'a u8>) -> [u8; LOOKS.len()] {
    let mut next = || bytes.next().copied().unwrap_or(EDGE);
    let adjoining = next();
    let mut past_space = adjoining;
    while is_space(past_space) {
        past_space = next();
    }
    [adjoining, past_space, if is_word(past_space) { next() } else { EDGE }]
}

/// Tells which phrases of a part are possible between given neighbours.
#[derive(Debug)]
pub(super) struct Filter {
    before: Arc<Tables>,
    behind: Arc<Tables>,
}

impl Filter {
    /// Of phrases whose own elements have the elements `around` before and behind them.
    pub(super) fn of(phrases: &[Phrase], around: &[Vec<Element>; 2], known: &mut Known) -> Self {
        let [first, last] = around;
        let before = phrases.iter().map(|phrase| [first.as_slice(), &phrase.before].concat());
        let behind = phrases.iter().map(|phrase| [phrase.behind.as_slice(), last].concat());
        Self {
            before: known.tables(Side::Before, before.collect()),
            behind: known.tables(Side::Behind, behind.collect()),
        }
    }

    /// What is possible between these neighbours.
    pub(super) fn possible(&self, neighbours: &Neighbours) -> Possible {
        let bits = |tables: &Tables, [next, past_space, second]: [u8; LOOKS.len()]| {
            tables[0][usize::from(next)] & tables[1][usize::from(past_space)] & tables[2][usize::from(second)]
        };
        Possible(bits(&self.before, neighbours.before) & bits(&self.behind, neighbours.behind))
    }
}

/// The tables made so far, since many parts have equal ones.
#[derive(Debug, Default)]
pub(super) struct Known(Vec<(Side, Vec<Vec<Element>>, Arc<Tables>)>);

impl Known {
    /// The tables of phrases that have these elements on this side.
    fn tables(&mut self, side: Side, phrases: Vec<Vec<Element>>) -> Arc<Tables> {
        let mut known = self.0.iter();
        if let Some((.., tables)) = known.find(|known| known.0 == side && known.1 == phrases) {
            return Arc::clone(tables);
        }
        let mut tables = [[u8::MAX; 256]; LOOKS.len()];
        for (look, table) in LOOKS.into_iter().zip(&mut tables) {
            for (byte, bits) in (0..=STROKE).zip(table) {
                let possible = phrases.iter().map(|elements| side.may_adjoin(elements, byte, look));
                *bits = possible.enumerate().fold(0, |bits, (at, is)| bits | u8::from(is) << at.min(LAST_BIT));
            }
        }
        let tables = Arc::new(tables);
        self.0.push((side, phrases, Arc::clone(&tables)));
        tables
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
            Element::Variable => !is_next || is_word(byte) || matches!(byte, b'$' | b'{'),
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
