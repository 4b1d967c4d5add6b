//! Scores how well a document answers a query.
//!
//! Pure: does no I/O. The base is BM25 (Robertson and Zaragoza, 2009) over a document's own terms. A term that the
//! document lacks counts in part if one of the messages around it has it. Messages before it count more than those
//! after it: an answer follows its question, and a conversation states its subject at the beginning. The weights were
//! chosen on the questions of `benches/relevance`. Little changes there when they are half or twice as large.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::terms::DocumentTerms;

/// How soon repetitions of a term add nothing more.
const K1: f64 = 0.9;

/// How much a long text reduces the weight of its terms.
const B: f64 = 0.75;

/// The number of words up to which the length of a text does not count, and relative to which it counts. An absolute
/// number: the candidates of a question are often all long, and then their average says nothing.
const SHORT: f64 = 60.0;

/// The number of words up to which a question is only a question.
const ONLY_ASKS: u32 = 20;

/// The weight of a term that is not here but in one of the messages before, the nearest first.
pub(super) const BEFORE: [f64; 6] = [0.7, 0.5, 0.4, 0.3, 0.25, 0.2];

/// The same for the messages after.
pub(super) const AFTER: [f64; 3] = [0.3, 0.2, 0.15];

/// The share of that weight for a term that is here too.
const AGAIN: f64 = 0.3;

/// The bonus of a document that has all terms, relative to one that has none.
const COVERAGE: f64 = 0.5;

/// The penalty of a question: it is seldom the answer.
const ASKS: f64 = 0.1;

/// The bonus of a text that states a time, if the query asks for one.
const DATED: f64 = 0.15;

/// The bonus of the first ranking, which knows the exact forms of words.
pub(super) const EXACT: f64 = 0.05;

/// The worth of words that follow each other as in the query, in addition to the worth of each word.
pub(super) const SEQUENCE: f64 = 0.5;

/// A part of a query that a document may have.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The worth of having it.
    pub(super) worth: f64,
    pub(super) having: Having,
    /// Whether it counts if messages around have it, and whether lacking it is a gap.
    pub(super) is_term: bool,
    /// For documents of other archives that have it, or a longer word: its count there. Their own terms are not needed
    /// for it.
    pub(super) remote: HashMap<usize, f64>,
}

/// The test of which documents have it.
#[derive(Debug)]
pub(super) enum Having {
    /// The hashes of its terms, each with its share of a whole occurrence.
    Terms(Vec<(u32, f64)>),
    /// The documents that have it; if they are very many, only the newest.
    Documents(HashSet<i64>),
}

impl Wanted {
    /// Returns how often a document has it. A document without an id has only terms.
    fn count(&self, id: Option<DocumentId>, terms: &DocumentTerms) -> f64 {
        let own: f64 = match &self.having {
            Having::Terms(hashes) => hashes.iter().map(|(hash, weight)| terms.count(*hash) * weight).sum(),
            Having::Documents(all) => match id {
                Some(DocumentId::Local(id)) => f64::from(u8::from(all.contains(&id))),
                _ => 0.0,
            },
        };
        match id {
            Some(DocumentId::Remote(Reverse(at))) => self.remote.get(&at).map_or(own, |counts| own.max(*counts)),
            _ => own,
        }
    }
}

/// Returns the weight of a term that `with` of `all` documents have: the inverse document frequency.
#[must_use]
pub fn rarity(all: usize, with: usize) -> f64 {
    let [all, with] = [all.max(with), with].map(|count| f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// A document of a search. Of two, the newer one is the larger; all local ones are larger than those of other archives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum DocumentId {
    /// A document of another archive: its index among those that were found there.
    Remote(Reverse<usize>),
    /// A document of this archive: its row.
    Local(i64),
}

/// A message next to a candidate: its terms, and its id if it is of this archive.
pub(super) type Neighbour = (Option<DocumentId>, Rc<DocumentTerms>);

/// A document that has parts of the query.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) id: DocumentId,
    pub(super) terms: DocumentTerms,
    /// Its score in the first ranking.
    pub(super) first: f64,
    /// The messages before it, the nearest first.
    pub(super) before: Vec<Neighbour>,
    /// The messages after it.
    pub(super) after: Vec<Neighbour>,
}

/// A query, and statistics of the documents that answer it.
#[derive(Debug)]
pub(super) struct Ranking<'a> {
    pub(super) wanted: &'a [Wanted],
    pub(super) asks_when: bool,
    /// The best score of the first ranking.
    pub(super) best: f64,
}

impl Ranking<'_> {
    /// Returns the score of a candidate.
    pub(super) fn score(&self, candidate: &Candidate) -> f64 {
        let (mut score, mut has, mut all) = (0.0, 0.0, 0.0);
        for wanted in self.wanted {
            let own = weight(wanted.count(Some(candidate.id), &candidate.terms), candidate.terms.words);
            let around = if wanted.is_term { around(wanted, candidate) } else { 0.0 };
            score += wanted.worth * (own + around * if own > 0.0 { AGAIN } else { 1.0 });
            if wanted.is_term {
                all += wanted.worth;
                has += wanted.worth * if own > 0.0 { 1.0 } else { around };
            }
        }
        let marks = candidate.terms.marks;
        let only_asks = marks.asks && candidate.terms.words <= ONLY_ASKS;
        score
            * (1.0 + COVERAGE * share(has, all))
            * (1.0 + EXACT * share(candidate.first, self.best))
            * (1.0 - ASKS * f64::from(u8::from(only_asks)))
            * (1.0 + DATED * f64::from(u8::from(self.asks_when && marks.dated)))
    }

    /// Returns how well a candidate fits the whole query, from 0 to 1: like its share of the terms, but a term of a long
    /// text counts less, because a long text has some of the words of any query.
    pub(super) fn fit(&self, candidate: &Candidate) -> f64 {
        let (mut has, mut all) = (0.0, 0.0);
        for wanted in self.wanted.iter().filter(|wanted| wanted.is_term) {
            let own = weight(wanted.count(Some(candidate.id), &candidate.terms), candidate.terms.words);
            all += wanted.worth;
            has += wanted.worth * own.max(around(wanted, candidate)).min(1.0);
        }
        share(has, all)
    }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Returns BM25's weight of a term that occurs `count` times in `words` words. It is 1 for one occurrence in a short
/// text.
fn weight(count: f64, words: u32) -> f64 {
    let length = f64::from(words).max(SHORT) / SHORT;
    count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length))
}

/// Returns the weight of the best message around that has it. A long text has its own context, so messages around it
/// count less; and of a long message around, one word says little.
fn around(wanted: &Wanted, candidate: &Candidate) -> f64 {
    let sides = [(&candidate.before, &BEFORE[..]), (&candidate.after, &AFTER[..])];
    let near = sides.into_iter().flat_map(|(messages, weights)| messages.iter().zip(weights));
    let share = |((id, terms), near): (&Neighbour, &f64)| near * weight(wanted.count(*id, terms), terms.words).min(1.0);
    let own_length = f64::from(candidate.terms.words).max(SHORT) / SHORT;
    near.map(share).fold(0.0, f64::max) / own_length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::{Marks, hash};
    use crate::token::tokens;

    fn terms(text: &str) -> DocumentTerms {
        let tokens = tokens(text);
        DocumentTerms::of(tokens.counting, tokens.marks)
    }

    fn wanted(words: &[&str]) -> Vec<Wanted> {
        let one = |word: &&str| Wanted {
            worth: 1.0,
            having: Having::Terms(vec![(hash(word), 1.0)]),
            is_term: true,
            remote: HashMap::new(),
        };
        words.iter().map(one).collect()
    }

    fn candidate(text: &str, before: &[&str], after: &[&str]) -> Candidate {
        let all = |texts: &[&str]| texts.iter().map(|text| (None, Rc::new(terms(text)))).collect();
        Candidate { id: DocumentId::Local(1), terms: terms(text), first: 0.0, before: all(before), after: all(after) }
    }

    fn score(words: &[&str], candidate: &Candidate) -> f64 {
        Ranking { wanted: &wanted(words), asks_when: false, best: 0.0 }.score(candidate)
    }

    #[test]
    fn each_of_these_is_better_than_the_next() {
        let words = ["queue", "full"];
        let texts = [
            candidate("the queue was full", &[], &[]),
            candidate("the queue was slow", &["is it full"], &[]),
            candidate("the queue was slow", &["x", "is it full"], &[]),
            candidate("the queue was slow", &[], &["it is full"]),
            candidate("the queue was slow", &[], &[]),
            candidate("the queue was slow?", &[], &[]),
            candidate("nothing of it", &[], &[]),
        ];
        let scores: Vec<f64> = texts.iter().map(|candidate| score(&words, candidate)).collect();
        assert!(scores.is_sorted_by(|one, next| one > next), "{scores:?}");
    }

    #[test]
    fn repeated_words_count_less_and_less_and_long_texts_are_held_against_them() {
        let scores = ["queue", "queue queue", "queue queue queue queue"]
            .map(|text| score(&["queue"], &candidate(text, &[], &[])));
        assert!(scores[1] - scores[0] > scores[2] - scores[1], "{scores:?}");
        let long = format!("queue {}", "and more of it ".repeat(50));
        assert!(score(&["queue"], &candidate(&long, &[], &[])) < scores[0]);
    }

    #[test]
    fn who_asks_when_is_given_times_first() {
        let [dated, undated] = ["it landed yesterday", "it landed again there"].map(|text| candidate(text, &[], &[]));
        let score =
            |asks_when, candidate| Ranking { wanted: &wanted(&["land"]), asks_when, best: 0.0 }.score(candidate);
        assert!(score(true, &dated) > score(true, &undated));
        assert!(score(false, &dated) >= score(false, &undated));
        assert_eq!(Marks { asks: false, dated: true }, dated.terms.marks);
    }

    #[test]
    fn what_few_have_says_more() {
        assert!(rarity(1_000, 1) > rarity(1_000, 10) && rarity(1_000, 1_000) > 0.0 && rarity(1, 5).is_finite());
    }
}
