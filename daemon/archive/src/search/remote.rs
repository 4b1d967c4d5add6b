//! Documents of other archives in a search. The caller looks up the query there, part by part ([`Lookup`]). The
//! documents that it finds are ranked together with the local ones, on the same scale ([`RemoteCandidates`]).

use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;

pub use super::rank::rarity;
use super::rank::{AFTER, BEFORE, Candidate, DocumentId};
use super::{CANDIDATES, Hit, Surroundings};
use crate::handle::Source;
use crate::query::Query;
use crate::terms::{DocumentTerms, Marks};

/// How many messages before and after a document count for it.
pub const AROUND: (usize, usize) = (BEFORE.len(), AFTER.len());

/// How many documents of other archives are ranked.
pub const RANKED: usize = CANDIDATES;

/// A query, for a database that has documents with the same tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lookup {
    /// The parts that a document may have. More parts, and rarer ones, rank higher.
    pub parts: Vec<Part>,
}

/// A part of a query that a document may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Any of these tokens. If hardly a document has one, also any token that begins with `longer`.
    Word {
        /// The word and its stems.
        forms: Vec<String>,
        /// The beginning of longer words.
        longer: Option<String>,
    },
    /// A token that begins with this.
    Beginning(String),
    /// Tokens that follow each other.
    Sequence {
        /// The tokens.
        tokens: Vec<String>,
        /// Whether it was quoted. Then a document without it is no hit, if any document has it.
        is_quoted: bool,
    },
}

impl Part {
    /// Whether documents are found with this part. Any other part only improves their rank.
    #[must_use]
    pub const fn finds(&self) -> bool {
        !matches!(self, Self::Sequence { is_quoted: false, .. })
    }

    /// Whether it was quoted.
    #[must_use]
    pub const fn is_quoted(&self) -> bool {
        matches!(self, Self::Sequence { is_quoted: true, .. })
    }

    /// Whether longer words match it too.
    #[must_use]
    pub const fn may_be_longer(&self) -> bool {
        matches!(self, Self::Word { longer: Some(_), .. })
    }
}

impl Lookup {
    /// Returns the parts of a query; none if it has neither letters nor digits.
    #[must_use]
    pub fn of(query: &str) -> Self {
        let query = Query::of(query);
        let words = query.words.iter().map(|word| Part::Word {
            forms: word.forms().map(str::to_owned).collect(),
            longer: word.open.then(|| word.token.clone()),
        });
        let beginnings = query.chars.iter().cloned().map(Part::Beginning);
        let sequence = |tokens: &Vec<String>, is_quoted| Part::Sequence { tokens: tokens.clone(), is_quoted };
        let quoted = query.quoted.iter().map(|tokens| sequence(tokens, true));
        let sequences = query.sequences.iter().map(|tokens| sequence(tokens, false));
        Self { parts: words.chain(beginnings).chain(quoted).chain(sequences).collect() }
    }
}

/// The documents of other archives for a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RemoteCandidates {
    /// The approximate number of documents.
    pub documents: usize,
    /// The approximate number of documents with each part of the [`Lookup`].
    pub counts: Vec<usize>,
    /// The best documents by the parts that they have, at most [`RANKED`].
    pub found: Vec<Document>,
}

/// A document of another archive.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// Its score in the first ranking; higher is better.
    pub first: f64,
    /// For each part, whether the document has it or a longer word.
    pub has: Vec<bool>,
    /// Its terms.
    pub terms: Terms,
    /// The terms of the messages before it, the nearest first.
    pub before: Vec<Terms>,
    /// The terms of the messages after it.
    pub after: Vec<Terms>,
}

/// The terms of a document, as [`crate::outbox::Words`] has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// The number of words.
    pub count: u32,
    /// Properties of the text besides its words, as bits.
    pub marks: u8,
    /// How often each term occurs.
    pub terms: Vec<u8>,
}

impl RemoteCandidates {
    /// Whether any document there has this part.
    pub(super) fn has_any(&self, part: usize) -> bool {
        self.counts.get(part).is_some_and(|count| *count > 0)
    }

    /// Whether any found document has all of these parts.
    pub(super) fn has_all(&self, parts: &[usize]) -> bool {
        self.found.iter().any(|document| document.has_all(parts))
    }

    /// Returns the found documents that have a part, each with this count of it.
    pub(super) fn having(&self, part: usize, counts: f64) -> HashMap<usize, f64> {
        let has = |(_, document): &(usize, &Document)| document.has.get(part).copied().unwrap_or(false);
        self.found.iter().enumerate().filter(has).map(|(at, _)| (at, counts)).collect()
    }

    /// Returns the documents that have all of these parts as candidates. Their first scores are scaled so that the best
    /// is `best`.
    pub(super) fn candidates(&self, best: f64, required: &[usize]) -> impl Iterator<Item = Candidate> {
        let own_best = self.found.iter().map(|document| document.first).fold(f64::MIN_POSITIVE, f64::max);
        let near = |terms: &[Terms]| terms.iter().map(|terms| (None, Rc::new(terms.decode()))).collect();
        let found = self.found.iter().enumerate().filter(|(_, document)| document.has_all(required));
        found.map(move |(at, document)| Candidate {
            id: DocumentId::Remote(Reverse(at)),
            terms: document.terms.decode(),
            first: document.first / own_best * best,
            before: near(&document.before),
            after: near(&document.after),
        })
    }
}

impl Document {
    fn has_all(&self, parts: &[usize]) -> bool {
        parts.iter().all(|part| self.has.get(*part) == Some(&true))
    }
}

impl Terms {
    fn decode(&self) -> DocumentTerms {
        DocumentTerms { words: self.count, marks: Marks::decode(self.marks), encoded: self.terms.clone() }
    }
}

/// Returns a hit whose text is in another archive.
pub(super) fn hit(at: usize) -> Hit {
    Hit {
        source: Source::Remote { at },
        session: None,
        profile: String::new(),
        agent: None,
        origin: None,
        folder: None,
        role: None,
        time: 0.0,
        score: 0.0,
        text: None,
        around: Surroundings::default(),
    }
}

#[cfg(test)]
mod tests;
