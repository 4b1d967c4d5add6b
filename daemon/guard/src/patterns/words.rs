//! The words by which the parts of patterns are found.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::dfa::DFA;
use aho_corasick::{PatternID, StartKind};

use super::element::{Element, Kind, Phrase};
use super::neighbours::{Filter, Known};
use super::{Gap, Pattern, notation, table};
use crate::view::{WORD_LETTERS, is_word};

/// All words, and the automaton that reports every occurrence of each in a view whose bytes are
/// mapped by [`WORD_LETTERS`], with one byte for each run of white space.
pub(super) struct Words {
    pub(super) automaton: DFA,
    /// A word's place here is its number in the automaton.
    words: Vec<Word>,
}

/// One word: letters, and those before them with the white space between and around, if they are
/// sure to be there. The more the automaton asks for, the fewer places are looked at.
pub(super) struct Word {
    shape: Shape,
    /// The parts that are found by it, in the order of the table.
    pub(super) parts: Vec<Part>,
}

/// What the automaton looks for.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    /// All of it.
    letters: Vec<u8>,
    /// The bytes of its last literal, which is the word in the strict sense.
    length: usize,
    /// The bytes behind that: one if white space must follow.
    tail: usize,
}

impl Word {
    /// The bytes of the last literal if the automaton reports the word before byte `end`.
    pub(super) fn bytes(&self, end: usize) -> Range<usize> {
        let end = end - self.shape.tail;
        end - self.shape.length..end
    }
}

/// A part of a pattern, as far as it is found by one word.
pub(super) struct Part {
    /// The place of the pattern in the table.
    pub(super) pattern: usize,
    /// The place of the part in the pattern.
    pub(super) part: usize,
    /// The ways to write it that have the word.
    pub(super) phrases: Vec<Phrase>,
    /// Which of these are possible.
    pub(super) filter: Filter,
    /// It is the name of a variable: its word begins behind a `$` or `${`.
    pub(super) is_variable: bool,
}

/// A pattern, its part, and the ways to write that.
type Place = (usize, usize, Vec<Phrase>);

impl Words {
    /// The word of this number.
    pub(super) fn at(&self, number: PatternID) -> &Word {
        &self.words[number.as_usize()]
    }

    #[expect(clippy::expect_used, reason = "two hundred short constants are far below the automaton's limits")]
    pub(super) fn of_table() -> Self {
        let mut by_word: BTreeMap<Shape, Vec<Place>> = BTreeMap::new();
        for (pattern, row) in table::PATTERNS.iter().enumerate() {
            for (part, expression) in row.parts.iter().enumerate() {
                let space = space_round(row, part);
                for way in notation::parse(expression) {
                    let (shape, phrase) = split(way, &space);
                    let parts = by_word.entry(shape).or_default();
                    match parts.last_mut().filter(|last| last.0 == pattern && last.1 == part) {
                        Some((_, _, phrases)) => phrases.push(phrase),
                        None => parts.push((pattern, part, vec![phrase])),
                    }
                }
            }
        }
        let automaton = DFA::builder()
            .start_kind(StartKind::Unanchored)
            .prefilter(false)
            .build(by_word.keys().map(|shape| &shape.letters))
            .expect("the words fit into an automaton");
        let mut known = Known::default();
        let mut part = |(pattern, part, phrases): Place| {
            let filter = Filter::of(&phrases, &space_round(&table::PATTERNS[pattern], part), &mut known);
            let is_variable = table::PATTERNS[pattern].parts[part].starts_with(r"\$");
            Part { pattern, part, phrases, filter, is_variable }
        };
        let word =
            |(shape, parts): (Shape, Vec<Place>)| Word { shape, parts: parts.into_iter().map(&mut part).collect() };
        let words = by_word.into_iter().map(word).collect();
        Self { automaton, words }
    }
}

/// The white space that a gap asks for before and behind a part.
fn space_round(pattern: &Pattern, part: usize) -> [Vec<Element>; 2] {
    let space_if = |is_asked_for| if is_asked_for { vec![Element::One(Kind::Space)] } else { Vec::new() };
    let has_words = pattern.gap == Gap::Words;
    [space_if(has_words && part > 0), space_if(has_words && part + 1 < pattern.parts.len())]
}

/// Splits a way to write a part at the last literal of the longest stretch of literals and white
/// space, the first of several. `space` is what adjoins the part.
fn split(mut way: Vec<Element>, space: &[Vec<Element>; 2]) -> (Shape, Phrase) {
    let [before, behind] = space;
    let whole = [before.as_slice(), &way, behind].concat();
    let (mut longest, mut stretch) = (0, 0..0);
    let mut start = 0;
    for part in whole.split(|element| shape(element).is_none()) {
        let usable = &part[..until_sign(part)];
        let letters = usable.iter().map(|element| literal(element).len()).sum();
        if letters > longest {
            (longest, stretch) = (letters, start..start + usable.len());
        }
        start += part.len() + 1;
    }
    let mut letters: Vec<u8> = whole[stretch.clone()].iter().filter_map(shape).flatten().copied().collect();
    letters.iter_mut().for_each(|letter| *letter = WORD_LETTERS[usize::from(*letter)]);
    letters.dedup_by(|a, b| (*a, *b) == (b' ', b' '));
    let tail = usize::from(letters.last() == Some(&b' '));
    let last = whole[stretch.clone()].iter().rposition(|element| !literal(element).is_empty()).unwrap_or(0);
    let at = stretch.start + last - before.len();
    let behind = way.split_off(at + 1);
    let word = way.pop().map(|element| literal(&element).to_vec()).unwrap_or_default();
    let is_exact = !word.iter().any(|letter| matches!(letter, b'i' | b'l'));
    let shape = Shape { letters, length: word.len(), tail };
    (shape, Phrase { before: way, behind, word: (!is_exact).then_some(word) })
}

/// How many elements of a stretch may be asked for together: no literal behind one with a sign,
/// which would be taken for the end of the gap before.
fn until_sign(stretch: &[Element]) -> usize {
    let has_sign = |element: &Element| literal(element).iter().any(|byte| !is_word(*byte));
    let first = stretch.iter().position(has_sign).unwrap_or(stretch.len());
    let behind = stretch.iter().skip(first + 1).position(|element| !literal(element).is_empty());
    behind.map_or(stretch.len(), |behind| first + 1 + behind)
}

/// The letters of a literal.
fn literal(element: &Element) -> &[u8] {
    match element {
        Element::Literal(letters) => letters,
        _ => &[],
    }
}

/// What the automaton sees of an element that is the same wherever it matches.
fn shape(element: &Element) -> Option<&[u8]> {
    match element {
        Element::Literal(letters) => Some(letters),
        Element::Run(Kind::Space | Kind::Blank, 1) | Element::One(Kind::Space | Kind::Blank) => Some(b" "),
        _ => None,
    }
}
