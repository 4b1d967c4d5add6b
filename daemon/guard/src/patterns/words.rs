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
    /// The phrases that are found by it, in the order of the table.
    pub(super) phrases: Vec<Phrase>,
}

impl Words {
    /// The word of this number.
    pub(super) fn at(&self, number: PatternID) -> &Word {
        &self.words[number.as_usize()]
    }

    #[expect(clippy::expect_used, reason = "two hundred short constants are far below the automaton's limits")]
    pub(super) fn of_table() -> Self {
        let mut by_word: BTreeMap<Vec<u8>, Vec<Phrase>> = BTreeMap::new();
        for (pattern, row) in table::PATTERNS.iter().enumerate() {
            for (part, expression) in row.parts.iter().enumerate() {
                for way in notation::parse(expression) {
                    let phrase = phrase(pattern, part, way);
                    let word = phrase.word.iter().map(|byte| WORD_LETTERS[usize::from(*byte)]).collect();
                    by_word.entry(word).or_default().push(phrase);
                }
            }
        }
        let automaton = DFA::builder()
            .start_kind(StartKind::Unanchored)
            .build(by_word.keys())
            .expect("the words fit into an automaton");
        let words = by_word.into_iter().map(|(word, phrases)| Word { length: word.len(), phrases });
        Self { automaton, words: words.collect() }
    }
}

/// Splits a way to write a part at its longest literal, the first of several.
fn phrase(pattern: usize, part: usize, mut way: Vec<Element>) -> Phrase {
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
    Phrase { pattern, part, before: way, behind, word }
}
