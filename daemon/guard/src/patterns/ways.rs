//! Several ways to go on, of which the first that matches is taken.

use super::element::{Element, backward, forward, literal_before, literal_behind};
use super::neighbours::{Look, Side};
use crate::view::reads_as;

/// At most so many ways are told apart by a byte.
const MOST: usize = u64::BITS as usize;

/// Ways in the order in which they are tried, at most [`MOST`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ways {
    ways: Vec<Vec<Element>>,
    /// For each byte, the ways that may begin with it, one bit for each.
    first: Vec<u64>,
    /// For each byte, the ways that may end with it.
    last: Vec<u64>,
    /// For each byte, the ways that may have it behind their first byte.
    second: Vec<u64>,
    /// For each byte, the ways that may have it before their last byte.
    second_last: Vec<u64>,
}

impl Ways {
    pub(super) fn new(ways: Vec<Vec<Element>>) -> Self {
        debug_assert!(ways.len() <= MOST, "a way beyond the last bit would never be tried");
        let first = candidates(&ways, |way, byte| Side::Behind.may_adjoin(way, byte, Look::Next));
        let last = candidates(&ways, |way, byte| Side::Before.may_adjoin(way, byte, Look::Next));
        let second = candidates(&ways, |way, byte| match way.first() {
            Some(Element::Literal(letters)) => letters.get(1).is_none_or(|letter| reads_as(byte, *letter)),
            _ => true,
        });
        let second_last = candidates(&ways, |way, byte| match way.last() {
            Some(Element::Literal(letters)) => letters.iter().nth_back(1).is_none_or(|letter| reads_as(byte, *letter)),
            _ => true,
        });
        Self { ways, first, last, second, second_last }
    }

    /// Where the first way ends that begins at byte `at` and matches.
    pub(super) fn forward(&self, view: &[u8], at: usize) -> Option<usize> {
        let possible = ways_at(&self.first, view.get(at)) & ways_at(&self.second, view.get(at + 1));
        if possible == 0 {
            return None;
        }
        self.possible(possible).find_map(|way| match way {
            [Element::Literal(letters)] => literal_behind(letters, view, at),
            way => forward(way, view, at),
        })
    }

    /// Where the first way begins that ends at byte `at` and matches.
    pub(super) fn backward(&self, view: &[u8], at: usize, word_start: usize) -> Option<usize> {
        let mut before = view[..at].iter().rev();
        let possible = ways_at(&self.last, before.next()) & ways_at(&self.second_last, before.next());
        if possible == 0 {
            return None;
        }
        self.possible(possible).find_map(|way| match way {
            [Element::Literal(letters)] => literal_before(letters, view, at),
            way => backward(way, view, at, word_start),
        })
    }

    /// All ways, in their order.
    pub(super) fn all(&self) -> &[Vec<Element>] {
        &self.ways
    }

    /// The ways whose bits are set.
    fn possible(&self, mut bits: u64) -> impl Iterator<Item = &[Element]> {
        std::iter::from_fn(move || {
            let way = self.ways.get(bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(way.as_slice())
        })
    }
}

/// The ways that are possible with this byte; all of them beyond the edge of the view.
fn ways_at(table: &[u64], byte: Option<&u8>) -> u64 {
    byte.map_or(u64::MAX, |byte| table[usize::from(*byte)])
}

/// For each byte the ways that it may belong to.
fn candidates(ways: &[Vec<Element>], may_have: impl Fn(&[Element], u8) -> bool) -> Vec<u64> {
    let bits = |byte| {
        let possible = ways.iter().enumerate().filter(|(_, way)| may_have(way, byte));
        possible.map(|(number, _)| 1_u64 << number).sum()
    };
    (0..=u8::MAX).map(bits).collect()
}
