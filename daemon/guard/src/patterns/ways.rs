//! Several ways to go on, of which the first that matches is taken.

use super::element::{Element, backward, forward, literal_before, literal_behind};

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
}

impl Ways {
    pub(super) fn new(ways: Vec<Vec<Element>>) -> Self {
        debug_assert!(ways.len() <= MOST, "a way beyond the last bit would never be tried");
        let first = candidates(&ways, |way, byte| way.first().is_none_or(|element| element.may_begin_with(byte)));
        let last = candidates(&ways, |way, byte| way.last().is_none_or(|element| element.may_end_with(byte)));
        Self { ways, first, last }
    }

    /// Where the first way ends that begins at byte `at` and matches.
    pub(super) fn forward(&self, view: &[u8], at: usize) -> Option<usize> {
        let possible = view.get(at).map_or(u64::MAX, |byte| self.first[usize::from(*byte)]);
        self.possible(possible).find_map(|way| match way {
            [Element::Literal(letters)] => literal_behind(letters, view, at),
            way => forward(way, view, at),
        })
    }

    /// Where the first way begins that ends at byte `at` and matches.
    pub(super) fn backward(&self, view: &[u8], at: usize, word_start: usize) -> Option<usize> {
        let possible = view[..at].last().map_or(u64::MAX, |byte| self.last[usize::from(*byte)]);
        self.possible(possible).find_map(|way| match way {
            [Element::Literal(letters)] => literal_before(letters, view, at),
            way => backward(way, view, at, word_start),
        })
    }

    /// Whether a way may begin with this byte.
    pub(super) fn may_begin_with(&self, byte: u8) -> bool {
        self.first[usize::from(byte)] != 0
    }

    /// Whether a way may end with this byte.
    pub(super) fn may_end_with(&self, byte: u8) -> bool {
        self.last[usize::from(byte)] != 0
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

/// For each byte the ways that it may belong to.
fn candidates(ways: &[Vec<Element>], may_have: impl Fn(&[Element], u8) -> bool) -> Vec<u64> {
    let bits = |byte| {
        let possible = ways.iter().enumerate().filter(|(_, way)| may_have(way, byte));
        possible.map(|(number, _)| 1_u64 << number).sum()
    };
    (0..=u8::MAX).map(bits).collect()
}
