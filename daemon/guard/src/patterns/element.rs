//! Matching one part of a pattern round its word.

use std::ops::Range;
use std::sync::Arc;

use super::ways::Ways;
use crate::view::{SPACE, STROKE, is_blank, is_space, is_word, reads_as};

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
    Choice(Arc<Ways>),
    /// The same, but not counted as part of the hit.
    Ahead(Arc<Ways>),
    /// The same behind up to three words.
    Near(Arc<Ways>),
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
    /// What stands before the word that the automaton finds, and what behind it.
    pub(super) before: Vec<Element>,
    pub(super) behind: Vec<Element>,
    /// The word itself, if the automaton does not find it exactly.
    pub(super) word: Option<Vec<u8>>,
}

impl Phrase {
    /// The bytes of the whole phrase if its word is at the bytes `word`. `word_start` is where the
    /// run of letters round the word begins.
    pub(super) fn match_round(&self, word: &Range<usize>, view: &[u8], word_start: usize) -> Option<Range<usize>> {
        let start = backward(&self.before, view, word.start, word_start)?;
        let end = forward(&self.behind, view, word.end)?;
        let is_word = self.word.as_ref().is_none_or(|letters| reads(&view[word.clone()], letters));
        is_word.then_some(start..end)
    }
}

/// Where elements end that begin at byte `at`.
pub(super) fn forward(elements: &[Element], view: &[u8], at: usize) -> Option<usize> {
    elements.iter().try_fold(at, |at, element| element.forward(view, at))
}

/// Where elements begin that end at byte `at`. The run of letters round the word of the phrase
/// begins at `word_start`.
pub(super) fn backward(elements: &[Element], view: &[u8], at: usize, word_start: usize) -> Option<usize> {
    elements.iter().rev().try_fold(at, |at, element| element.backward(view, at, word_start))
}

impl Element {
    /// Where the element ends that begins at byte `at`.
    fn forward(&self, view: &[u8], at: usize) -> Option<usize> {
        let rest = &view[at..];
        match self {
            Self::Literal(letters) => literal_behind(letters, view, at),
            Self::Run(kind, least) => {
                let length = rest.iter().take_while(|byte| kind.has(**byte)).count();
                (length >= *least).then_some(at + length)
            }
            Self::One(kind) => kind.has(*rest.first()?).then_some(at + 1),
            Self::WordStart | Self::WordEnd => is_edge(self, view, at).then_some(at),
            Self::TextEnd => rest.is_empty().then_some(at),
            Self::Variable => None,
            Self::Choice(ways) => ways.forward(view, at),
            Self::Ahead(ways) => ways.forward(view, at).map(|_| at),
            Self::Near(ways) => near(ways, view, at),
        }
    }

    /// Where the element begins that ends at byte `at`.
    fn backward(&self, view: &[u8], at: usize, word_start: usize) -> Option<usize> {
        let rest = &view[..at];
        match self {
            Self::Literal(letters) => literal_before(letters, view, at),
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
            Self::Choice(ways) => ways.backward(view, at, word_start),
            Self::TextEnd | Self::Ahead(_) | Self::Near(_) => None,
        }
    }
}

impl Kind {
    /// Whether the byte is of this kind.
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Space => is_space(byte),
            Self::Blank => is_blank(byte),
            Self::Word => is_word(byte),
            Self::Set(members) => {
                let letter = match byte {
                    STROKE => b'l',
                    // A set that has a vertical tab has all white space.
                    SPACE => b'\x0B',
                    byte => byte,
                };
                letter.is_ascii() && members >> letter & 1 == 1
            }
        }
    }

    /// Whether some letter, digit or underscore is of this kind.
    pub(super) fn has_word(self) -> bool {
        match self {
            Self::Space | Self::Blank => false,
            Self::Word => true,
            Self::Set(_) => (0..STROKE).any(|byte| is_word(byte) && self.has(byte)),
        }
    }

    /// Whether some white space is of this kind.
    pub(super) fn has_space(self) -> bool {
        matches!(self, Self::Space | Self::Blank) || b"\t\n\x0B\x0C\r ".iter().any(|byte| self.has(*byte))
    }
}

fn near(ways: &Ways, view: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..NEAR {
        if let Some(end) = ways.forward(view, at) {
            return Some(end);
        }
        let word = view[at..].iter().position(|byte| !is_word(*byte)).filter(|length| *length > 0)?;
        let behind = &view[at + word..];
        let space = behind.iter().position(|byte| !is_space(*byte)).unwrap_or(behind.len());
        if space == 0 {
            return None;
        }
        at += word + space;
    }
    ways.forward(view, at)
}

fn is_edge(edge: &Element, view: &[u8], at: usize) -> bool {
    let neighbour = match edge {
        Element::WordStart => view[..at].last(),
        _ => view.get(at),
    };
    !neighbour.is_some_and(|byte| is_word(*byte))
}

/// Where the letters end if they stand behind byte `at`.
pub(super) fn literal_behind(letters: &[u8], view: &[u8], at: usize) -> Option<usize> {
    let end = at + letters.len();
    reads(view.get(at..end)?, letters).then_some(end)
}

/// Where the letters begin if they stand before byte `at`.
pub(super) fn literal_before(letters: &[u8], view: &[u8], at: usize) -> Option<usize> {
    let start = at.checked_sub(letters.len())?;
    reads(&view[start..at], letters).then_some(start)
}

/// Whether as many bytes as there are letters are to be read as these.
fn reads(bytes: &[u8], letters: &[u8]) -> bool {
    bytes.iter().zip(letters).all(|(byte, letter)| reads_as(*byte, *letter))
}
