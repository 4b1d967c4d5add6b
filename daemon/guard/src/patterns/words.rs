//! The words by which the parts of patterns are found.

use std::collections::BTreeMap;

use aho_corasick::dfa::DFA;
use aho_corasick::{PatternID, StartKind};

use super::element::{Element, Phrase};
use super::{notation, table};
use crate::view::WORD_LETTERS;

/// All words, and the automaton that reports every occurrence of each in a view whose bytes are
/// mapped by [`WORD_LETTERS`].
pub(super) struct Words {
    pub(super) automaton: DFA,
    /// A word's place here is its number in the automaton.
    words: Vec<Word>,
}

/// One word.
pub(super) struct Word {
    /// Its bytes.
    pub(super) length: usize,
    /// The parts that are found by it, in the order of the table.
    pub(super) parts: Vec<Part>,
}

/// A part of a pattern, as far as it is found by one word.
pub(super) struct Part {
    /// The place of the pattern in the table.
    pub(super) pattern: usize,
    /// The place of the part in the pattern.
    pub(super) part: usize,
    /// The ways to write it that have the word.
    pub(super) phrases: Vec<Phrase>,
}

impl Words {
    /// The word of this number.
    pub(super) fn at(&self, number: PatternID) -> &Word {
        &self.words[number.as_usize()]
    }

    #[expect(clippy::expect_used, reason = "two hundred short constants are far below the automaton's limits")]
    pub(super) fn of_table() -> Self {
        let mut by_word: BTreeMap<Vec<u8>, Vec<Part>> = BTreeMap::new();
        for (pattern, row) in table::PATTERNS.iter().enumerate() {
            for (part, expression) in row.parts.iter().enumerate() {
                for phrase in notation::parse(expression).into_iter().map(phrase) {
                    let word = phrase.word.iter().map(|byte| WORD_LETTERS[usize::from(*byte)]).collect();
                    let parts = by_word.entry(word).or_default();
                    match parts.last_mut().filter(|last| last.pattern == pattern && last.part == part) {
                        Some(last) => last.phrases.push(phrase),
                        None => parts.push(Part { pattern, part, phrases: vec![phrase] }),
                    }
                }
            }
        }
        let automaton = DFA::builder()
            .start_kind(StartKind::Unanchored)
            .build(by_word.keys())
            .expect("the words fit into an automaton");
        let words = by_word.into_iter().map(|(word, parts)| Word { length: word.len(), parts });
        Self { automaton, words: words.collect() }
    }
}

/// Splits a way to write a part at its longest literal, the first of several.
fn phrase(mut way: Vec<Element>) -> Phrase {
    let length = |element: &Element| match element {
        Element::Literal(letters) => letters.len(),
        _ => 0,
    };
    let longest = way.iter().map(length).max().unwrap_or(0);
    let at = way.iter().position(|element| length(element) == longest).unwrap_or(0);
    let behind = way.split_off(at + 1);
    let word = match way.pop() {
        Some(Element::Literal(letters)) => letters,
        _ => Vec::new(),
    };
    Phrase { before: way, behind, word }
}
