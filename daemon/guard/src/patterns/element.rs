//! Matching one part of a pattern round its word.

use std::ops::Range;

use crate::view::{is_blank, is_space, is_word, reads_as};

/// The smallest piece of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Element {
    /// Small ASCII letters and signs.
    Literal(Vec<u8>),
    /// A run of bytes of one kind, as long as it goes.
    Run(Kind, Length),
    /// One byte of a kind.
    One(Kind),
    /// The beginning of a word.
    WordStart,
    /// The end of a word.
    WordEnd,
    /// The end of the text.
    TextEnd,
    /// `$` or `${` and the beginning of the name that goes on here.
    Variable,
    /// The first of some ways that matches.
    Choice(Vec<Vec<Element>>),
    /// The same, but not counted as part of the hit.
    Ahead(Vec<Vec<Element>>),
    /// The same behind up to three words.
    Near(Vec<Vec<Element>>),
}

/// A kind of byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// White space.
    Space,
    /// White space within the line.
    Blank,
    /// Letters, digits, underscores.
    Word,
    /// A set of ASCII characters, one bit for each.
    Set(u128),
}

/// How long a run must be at least, in bytes.
pub(super) type Length = usize;

/// At most so many words lie before what is [`Element::Near`].
const NEAR: usize = 3;

/// One way to write a part of a pattern.
#[derive(Debug)]
pub(super) struct Phrase {
    /// The place of the pattern in the table.
    pub(super) pattern: usize,
    /// The place of the part in the pattern.
    pub(super) part: usize,
    /// What stands before the word that the automaton finds, and what behind it.
    pub(super) before: Vec<Element>,
    pub(super) behind: Vec<Element>,
    /// The word itself, which the automaton does not find exactly.
    pub(super) word: Vec<u8>,
}

impl Phrase {
    /// The bytes of the whole phrase if its word is at the bytes `word`. `word_start` is where the
    /// run of letters round the word begins.
    pub(super) fn match_round(&self, word: &Range<usize>, view: &[u8], word_start: usize) -> Option<Range<usize>> {
        if !reads(&view[word.clone()], &self.word) {
            return None;
        }
        let start = self.before.iter().rev().try_fold(word.start, |at, element| element.back(view, at, word_start))?;
        let end = forward(&self.behind, view, word.end)?;
        Some(start..end)
    }
}

/// Where elements end that begin at byte `at`.
fn forward(elements: &[Element], view: &[u8], at: usize) -> Option<usize> {
    elements.iter().try_fold(at, |at, element| element.forward(view, at))
}

fn first_of(ways: &[Vec<Element>], view: &[u8], at: usize) -> Option<usize> {
    ways.iter().find_map(|way| forward(way, view, at))
}

impl Element {
    /// Where the element ends that begins at byte `at`.
    fn forward(&self, view: &[u8], at: usize) -> Option<usize> {
        let rest = &view[at..];
        match self {
            Self::Literal(letters) => {
                let here = rest.get(..letters.len())?;
                reads(here, letters).then_some(at + letters.len())
            }
            Self::Run(kind, least) => {
                let length = rest.iter().take_while(|byte| kind.has(**byte)).count();
                (length >= *least).then_some(at + length)
            }
            Self::One(kind) => kind.has(*rest.first()?).then_some(at + 1),
            Self::WordStart | Self::WordEnd => is_edge(self, view, at).then_some(at),
            Self::TextEnd => rest.is_empty().then_some(at),
            Self::Variable => None,
            Self::Choice(ways) => first_of(ways, view, at),
            Self::Ahead(ways) => first_of(ways, view, at).map(|_| at),
            Self::Near(ways) => near(ways, view, at),
        }
    }

    /// Where the element begins that ends at byte `at`.
    fn back(&self, view: &[u8], at: usize, word_start: usize) -> Option<usize> {
        let rest = &view[..at];
        match self {
            Self::Literal(letters) => {
                let start = at.checked_sub(letters.len())?;
                reads(&rest[start..], letters).then_some(start)
            }
            Self::Run(kind, least) => {
                let length = rest.iter().rev().take_while(|byte| kind.has(**byte)).count();
                (length >= *least).then_some(at - length)
            }
            Self::One(kind) => kind.has(*rest.last()?).then(|| at - 1),
            Self::WordStart | Self::WordEnd => is_edge(self, view, at).then_some(at),
            Self::Variable => {
                let sigil = view[..word_start].strip_suffix(b"{").unwrap_or(&view[..word_start]);
                sigil.ends_with(b"$").then(|| sigil.len() - 1)
            }
            Self::Choice(ways) => ways
                .iter()
                .find_map(|way| way.iter().rev().try_fold(at, |at, element| element.back(view, at, word_start))),
            Self::TextEnd | Self::Ahead(_) | Self::Near(_) => None,
        }
    }
}

impl Kind {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Space => is_space(byte),
            Self::Blank => is_blank(byte),
            Self::Word => is_word(byte),
            Self::Set(members) => byte.is_ascii() && members >> byte & 1 == 1,
        }
    }
}

fn near(ways: &[Vec<Element>], view: &[u8], mut at: usize) -> Option<usize> {
    const WORD: [Element; 2] = [Element::Run(Kind::Word, 1), Element::Run(Kind::Space, 1)];
    for _ in 0..NEAR {
        match first_of(ways, view, at) {
            Some(end) => return Some(end),
            None => at = forward(&WORD, view, at)?,
        }
    }
    first_of(ways, view, at)
}

fn is_edge(edge: &Element, view: &[u8], at: usize) -> bool {
    let neighbour = match edge {
        Element::WordStart => view[..at].last(),
        _ => view.get(at),
    };
    !neighbour.is_some_and(|byte| is_word(*byte))
}

fn reads(bytes: &[u8], letters: &[u8]) -> bool {
    bytes.iter().zip(letters).all(|(byte, letter)| reads_as(*byte, *letter))
}
