//! The words that every match of a pattern contains.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::dfa::DFA;
use aho_corasick::{PatternID, StartKind};

use super::table::PATTERNS;
use crate::view::{APOSTROPHE, WORD_LETTERS, is_space, reads_as};

/// The prefix of a step whose words count only in the name of a variable.
const IN_VARIABLE: &str = r"\$";

/// All words, and the automaton that finds them in a view. Its input are the bytes mapped by
/// [`WORD_LETTERS`], with one byte for each run of white space.
pub(super) struct Words {
    pub(super) automaton: DFA,
    /// A word's index is its number in the automaton.
    words: Vec<Word>,
}

/// One word, and the patterns that contain it.
pub(super) struct Word {
    /// Its letters and signs; a space matches a run of white space.
    letters: Vec<u8>,
    pub(super) places: Vec<Place>,
}

/// A step of a pattern in the table.
pub(super) struct Place {
    pub(super) pattern: usize,
    pub(super) step: usize,
    /// Whether the word counts only in the name of a variable.
    pub(super) in_variable: bool,
}

/// The position of a word in a view.
pub(super) struct Found {
    /// The bytes from its first to its last letter or sign.
    pub(super) letters: Range<usize>,
    /// The bytes of white space that the word requires before them, 0 or 1.
    pub(super) before: usize,
    /// The bytes of white space that it requires after them, 0 or 1.
    pub(super) behind: usize,
}

impl Word {
    /// Returns the position of the word that the automaton reports before byte `end`. `None` if it
    /// is another word, with an `i` in place of an `l`.
    pub(super) fn found(&self, view: &[u8], end: usize) -> Option<Found> {
        let before = usize::from(self.letters.starts_with(b" "));
        let behind = usize::from(self.letters.ends_with(b" "));
        let end = end - behind;
        let mut start = end;
        for letter in self.letters[before..self.letters.len() - behind].iter().rev() {
            if *letter == b' ' {
                start = view[..start].iter().rposition(|byte| !is_space(*byte))? + 1;
            } else {
                start -= 1;
                if !reads_as(view[start], *letter) {
                    return None;
                }
            }
        }
        Some(Found { letters: start..end, before, behind })
    }
}

impl Words {
    /// Returns the word with this number.
    pub(super) fn at(&self, number: PatternID) -> &Word {
        &self.words[number.as_usize()]
    }

    #[expect(clippy::expect_used, reason = "two hundred short constants are far below the automaton's limits")]
    pub(super) fn of_table() -> Self {
        let mut by_word: BTreeMap<Vec<u8>, Vec<Place>> = BTreeMap::new();
        for (pattern, row) in PATTERNS.iter().enumerate() {
            for (step, words) in row.steps.iter().enumerate() {
                let (words, in_variable) =
                    words.strip_prefix(IN_VARIABLE).map_or((*words, false), |words| (words, true));
                for word in words.split('|') {
                    by_word.entry(letters(word)).or_default().push(Place { pattern, step, in_variable });
                }
            }
        }
        let mapped = by_word.keys().map(|word| word.iter().map(|letter| WORD_LETTERS[usize::from(*letter)]).collect());
        let automaton = DFA::builder()
            .start_kind(StartKind::Unanchored)
            .prefilter(false)
            .build(mapped.collect::<Vec<Vec<u8>>>())
            .expect("the words fit into an automaton");
        let words = by_word.into_iter().map(|(letters, places)| Word { letters, places }).collect();
        Self { automaton, words }
    }
}

/// Converts a word of the table to the bytes of a view.
fn letters(word: &str) -> Vec<u8> {
    word.chars().map(|c| u8::try_from(c).unwrap_or(APOSTROPHE)).collect()
}
