//! The terms of one document, stored next to the text index: how often each occurs. With them a document is compared
//! with a query without reading its text again. So are the documents before and after it.
//!
//! Pure: does no I/O. A term is the stem of a word, or a pair of chars of a script without spaces. It is stored as a
//! 32-bit hash. Two of the thousand terms of a long document have the same hash once in ten thousand documents.

/// The count of one occurrence of a word, in halves.
pub(crate) const WORD: u8 = 2;
/// The count of a part of a word that is written likeThis, in halves.
pub(crate) const PIECE: u8 = 1;

/// Bytes of a stored term: its hash and its count.
const ENTRY: usize = 5;

/// The text ends with a question.
const ASKS: u8 = 1;
/// The text states a time.
const DATED: u8 = 2;

pub(crate) use crate::hash::fnv32 as hash;

/// Counts the terms of a text.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Counting {
    terms: Vec<(u32, u8)>,
    words: u32,
}

impl Counting {
    /// Counts one more word of the text, whatever its terms are.
    pub(crate) fn word(&mut self) {
        self.words = self.words.saturating_add(1);
    }

    /// Counts one more occurrence of a term.
    pub(crate) fn term(&mut self, term: &str, counts: u8) {
        self.terms.push((hash(term), counts));
    }

    /// Returns the number of words.
    pub(crate) fn words(&self) -> u32 {
        self.words
    }

    /// Encodes the terms for storage.
    pub(crate) fn encode(mut self) -> Vec<u8> {
        self.terms.sort_unstable();
        let mut bytes = Vec::with_capacity(self.terms.len() * ENTRY);
        for same in self.terms.chunk_by(|one, other| one.0 == other.0) {
            let counts = same.iter().fold(0_u8, |sum, (_, counts)| sum.saturating_add(*counts));
            bytes.extend(same.first().map_or(0, |(hash, _)| *hash).to_le_bytes());
            bytes.push(counts);
        }
        bytes
    }
}

/// Properties of a text besides its words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// It ends with a question.
    pub(crate) asks: bool,
    /// It states a time.
    pub(crate) dated: bool,
}

impl Marks {
    pub(crate) fn encode(self) -> u8 {
        u8::from(self.asks) * ASKS + u8::from(self.dated) * DATED
    }

    pub(crate) fn decode(marks: u8) -> Self {
        Self { asks: marks & ASKS != 0, dated: marks & DATED != 0 }
    }
}

/// The terms of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DocumentTerms {
    /// The number of words of its text.
    pub(crate) words: u32,
    pub(crate) marks: Marks,
    /// The result of [`Counting::encode`].
    pub(crate) encoded: Vec<u8>,
}

impl DocumentTerms {
    /// Builds the terms from the counts of a text.
    pub(crate) fn of(counting: Counting, marks: Marks) -> Self {
        Self { words: counting.words(), marks, encoded: counting.encode() }
    }

    /// Returns how often the term of this hash occurs, in words.
    pub(crate) fn count(&self, hash: u32) -> f64 {
        let (entries, _) = self.encoded.as_chunks::<ENTRY>();
        let hash_of = |[a, b, c, d, _]: &[u8; ENTRY]| u32::from_le_bytes([*a, *b, *c, *d]);
        let found = entries.binary_search_by_key(&hash, hash_of).ok().and_then(|at| entries.get(at));
        found.map_or(0.0, |[.., counts]| f64::from(*counts) / f64::from(WORD))
    }

    /// Returns how many different terms there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.encoded.len() / ENTRY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_counted_whatever_their_order() {
        let mut counting = Counting::default();
        for (term, counts) in [("run", WORD), ("fast", WORD), ("run", PIECE), ("数据", WORD)] {
            counting.word();
            counting.term(term, counts);
        }
        let terms = DocumentTerms::of(counting, Marks::default());
        let counts: Vec<f64> = ["run", "fast", "数据", "slow"].map(|term| terms.count(hash(term))).into();
        assert_eq!((counts, terms.len(), terms.words), (vec![1.5, 1.0, 1.0, 0.0], 3, 4));
    }

    #[test]
    fn what_occurs_without_end_counts_as_much_as_can_be_counted() {
        let mut counting = Counting::default();
        (0..1_000).for_each(|_| counting.term("x", WORD));
        let terms = DocumentTerms::of(counting, Marks::default());
        assert_eq!(terms.count(hash("x")), 127.5);
    }

    #[test]
    fn marks_are_kept() {
        for (asks, dated) in [(false, false), (true, false), (false, true), (true, true)] {
            let marks = Marks { asks, dated };
            assert_eq!(Marks::decode(marks.encode()), marks);
        }
    }
}
