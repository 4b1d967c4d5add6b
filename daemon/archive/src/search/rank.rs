//! How well a document answers a query.
//!
//! Pure. A document is ranked by BM25 (Robertson and Zaragoza, 2009) over its own terms; a term that it
//! lacks counts in part where one of the messages around it has it, those before it more than
//! those behind it: an answer stands behind its question, and what a talk is about was said at
//! its beginning. The weights were chosen on the questions of `benches/relevance`, where little
//! changes when they are half or twice as large.

use std::collections::{HashMap, HashSet};

use crate::terms::DocumentTerms;

/// How soon a repeated term says nothing more.
const K1: f64 = 0.9;

/// How much a long text is held against its terms.
const B: f64 = 0.3;

/// What a term counts that is not here but so many messages before, the nearest first.
pub(super) const BEFORE: [f64; 6] = [0.7, 0.5, 0.4, 0.3, 0.25, 0.2];

/// The same behind.
pub(super) const AFTER: [f64; 3] = [0.3, 0.2, 0.15];

/// Of that, what a term counts that is here too.
const AGAIN: f64 = 0.3;

/// What a document that has all terms gains on one that has none.
const COVERAGE: f64 = 0.5;

/// What a question loses: it is seldom the answer.
const ASKS: f64 = 0.1;

/// What a text gains that says a time, where one is asked for.
const DATED: f64 = 0.15;

/// What the first rank gains, which knows the exact forms of words.
pub(super) const EXACT: f64 = 0.05;

/// What words that follow each other as they do in the query are worth, beside what they are worth
/// alone.
pub(super) const SEQUENCE: f64 = 0.5;

/// Something that a document may have.
#[derive(Debug)]
pub(super) struct Wanted {
    /// What having it is worth.
    pub(super) worth: f64,
    pub(super) having: Having,
    /// Messages around may have it too, and not having it is a gap.
    pub(super) is_term: bool,
    /// Documents of other archives that have it, or a longer word, whatever their terms say: what that counts.
    pub(super) elsewhere: HashMap<i64, f64>,
}

/// How it is known which documents have it.
#[derive(Debug)]
pub(super) enum Having {
    /// By the hashes of terms, each with what it counts of a whole occurrence.
    Terms(Vec<(u32, f64)>),
    /// These have it; of very many the newest.
    Documents(HashSet<i64>),
}

impl Wanted {
    /// How often a document has it.
    fn count(&self, id: i64, terms: &DocumentTerms) -> f64 {
        let own: f64 = match &self.having {
            Having::Terms(hashes) => hashes.iter().map(|(hash, weight)| terms.count(*hash) * weight).sum(),
            Having::Documents(all) => f64::from(u8::from(all.contains(&id))),
        };
        self.elsewhere.get(&id).map_or(own, |counts| own.max(*counts))
    }
}

/// What it says about a document that it has what `with` of `all` have.
#[must_use]
pub fn rarity(all: usize, with: usize) -> f64 {
    let [all, with] = [all.max(with), with].map(|count| f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// A document that has some of the query.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) id: i64,
    pub(super) terms: DocumentTerms,
    /// By the first rank.
    pub(super) first: f64,
    /// The messages before it, the nearest first.
    pub(super) before: Vec<(i64, std::rc::Rc<DocumentTerms>)>,
    /// Those behind it.
    pub(super) after: Vec<(i64, std::rc::Rc<DocumentTerms>)>,
}

/// A query, and what is known of the documents that answer it.
#[derive(Debug)]
pub(super) struct Ranking<'a> {
    pub(super) wanted: &'a [Wanted],
    pub(super) asks_when: bool,
    /// Words of a document on average.
    pub(super) words: f64,
    /// The best of the first rank.
    pub(super) best: f64,
}

impl Ranking<'_> {
    /// What a candidate is worth.
    pub(super) fn score(&self, candidate: &Candidate) -> f64 {
        let (mut score, mut has, mut all) = (0.0, 0.0, 0.0);
        for wanted in self.wanted {
            let own = self.weight(wanted.count(candidate.id, &candidate.terms), candidate.terms.words);
            let around = if wanted.is_term { around(wanted, candidate) } else { 0.0 };
            score += wanted.worth * (own + around * if own > 0.0 { AGAIN } else { 1.0 });
            if wanted.is_term {
                all += wanted.worth;
                has += wanted.worth * if own > 0.0 { 1.0 } else { around };
            }
        }
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let marks = candidate.terms.marks;
        score
            * (1.0 + COVERAGE * share(has, all))
            * (1.0 + EXACT * share(candidate.first, self.best))
            * (1.0 - ASKS * f64::from(u8::from(marks.asks)))
            * (1.0 + DATED * f64::from(u8::from(self.asks_when && marks.dated)))
    }

    /// BM25's weight of a term that occurs so often in so many words.
    fn weight(&self, count: f64, words: u32) -> f64 {
        let length = f64::from(words) / self.words.max(1.0);
        count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length))
    }
}

/// What it counts that the messages around have it: as much as the best one of them.
fn around(wanted: &Wanted, candidate: &Candidate) -> f64 {
    let sides = [(&candidate.before, &BEFORE[..]), (&candidate.after, &AFTER[..])];
    let near = sides.into_iter().flat_map(|(messages, weights)| messages.iter().zip(weights));
    near.filter(|((id, terms), _)| wanted.count(*id, terms) > 0.0).map(|(_, weight)| *weight).fold(0.0, f64::max)
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
            elsewhere: HashMap::new(),
        };
        words.iter().map(one).collect()
    }

    fn candidate(text: &str, before: &[&str], after: &[&str]) -> Candidate {
        let all = |texts: &[&str]| texts.iter().map(|text| (0, std::rc::Rc::new(terms(text)))).collect();
        Candidate { id: 1, terms: terms(text), first: 0.0, before: all(before), after: all(after) }
    }

    fn score(words: &[&str], candidate: &Candidate) -> f64 {
        Ranking { wanted: &wanted(words), asks_when: false, words: 4.0, best: 0.0 }.score(candidate)
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
        let score = |asks_when, candidate| {
            Ranking { wanted: &wanted(&["land"]), asks_when, words: 3.0, best: 0.0 }.score(candidate)
        };
        assert!(score(true, &dated) > score(true, &undated));
        assert!(score(false, &dated) >= score(false, &undated));
        assert_eq!(Marks { asks: false, dated: true }, dated.terms.marks);
    }

    #[test]
    fn what_few_have_says_more() {
        assert!(rarity(1_000, 1) > rarity(1_000, 10) && rarity(1_000, 1_000) > 0.0 && rarity(1, 5).is_finite());
    }
}
