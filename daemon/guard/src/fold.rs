//! The two views of a text that is not plain ASCII: the raw view, and the folded view as a reader sees it.
//!
//! Folding handles one character at a time. It takes the compatibility form without marks, replaces
//! each letter by the Latin one that it looks like, drops invisible characters, and makes white
//! space and typographic signs plain. A letter of another alphabet becomes Latin only if its whole
//! word can become Latin, or if the word also contains Latin letters. So ordinary words of other
//! languages match nothing. ASCII never changes, so a pure ASCII text is its own folded view.

use crate::view::{CANDIDATE, CANDIDATE_STROKE, FOREIGN, STROKE, WORD, is_space, is_word};

mod alphabet;
mod chars;
mod lookalikes;
mod pages;

pub(crate) use pages::{Traits, traits};

/// The number of bytes tested together for being ASCII.
const BLOCK: usize = 16;

/// The folded view of a text.
pub(crate) struct Folded {
    /// Zero, one or several bytes for each character; see [`places`].
    pub(crate) view: Vec<u8>,
    /// Whether every pattern that matches the raw view also matches this one.
    pub(crate) has_all: bool,
}

/// Folds a text.
pub(crate) fn folded(text: &str) -> Folded {
    let mut traits = Traits::default();
    let mut view = view(text, |entry, view| {
        if !is_dropped_mark(&entry, view.last()) {
            traits = traits.and(entry.traits);
        }
        match *entry.folded {
            [one] => view.push(one),
            ref several => view.extend_from_slice(several),
        }
    });
    settle(&mut view);
    Folded { view, has_all: !traits.contains(Traits::CHANGED) }
}

/// Returns whether the character is dropped from the folded view without effect on any match: a mark, joiner or
/// selector behind a visible character. A pattern that requires part of a word requires white space or
/// another part of the word before it.
fn is_dropped_mark(entry: &pages::Entry<'_>, before: Option<&u8>) -> bool {
    entry.folded.is_empty() && is_word(entry.raw) && before.is_some_and(|byte| !is_space(*byte))
}

/// Returns the raw view of a text: one byte per character.
pub(crate) fn raw(text: &str) -> Vec<u8> {
    view(text, |entry, view| view.push(entry.raw))
}

/// Builds a view: copies ASCII and calls `push` for each other character.
fn view(text: &str, mut push: impl FnMut(pages::Entry<'_>, &mut Vec<u8>)) -> Vec<u8> {
    let mut view = Vec::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (ascii, other) = rest.split_at(ascii_length(rest.as_bytes()));
        view.extend_from_slice(ascii.as_bytes());
        rest = "";
        let mut reader = pages::Reader::default();
        for (at, c) in other.char_indices() {
            if c.is_ascii() {
                rest = &other[at..];
                break;
            }
            push(reader.entry(c), &mut view);
        }
    }
    view
}

/// Maps bytes of the folded view back to characters of the text.
///
/// `bytes` are ascending offsets in the folded view. For each, returns the number of its character,
/// and the number of the next character that is not a mark on it.
pub(crate) fn places(text: &str, bytes: &[usize]) -> Vec<(usize, usize)> {
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(bytes.len());
    let mut reader = pages::Reader::default();
    let mut position = 0;
    for (number, c) in text.chars().enumerate() {
        let (length, is_mark) = if c.is_ascii() {
            (1, false)
        } else {
            let entry = reader.entry(c);
            (entry.folded.len(), entry.traits.contains(Traits::MARK))
        };
        if is_mark {
            places.iter_mut().rev().take_while(|place| place.1 == number).for_each(|place| place.1 += 1);
            continue;
        }
        let last_is_closed = places.last().is_some_and(|place| place.1 < number);
        if places.len() == bytes.len() && last_is_closed {
            break;
        }
        position += length;
        while bytes.get(places.len()).is_some_and(|byte| *byte < position) {
            places.push((number, number + 1));
        }
    }
    places
}

/// Decides for each word with candidate letters whether to read it as Latin.
fn settle(folded: &mut [u8]) {
    let mut done = 0;
    while let Some(ahead) = folded[done..].iter().position(|byte| *byte >= CANDIDATE) {
        let first = done + ahead;
        let before = folded[done..first].iter().rposition(|byte| !is_word(*byte));
        let start = before.map_or(done, |at| done + at + 1);
        let length = folded[first..].iter().position(|byte| !is_word(*byte));
        let end = length.map_or(folded.len(), |length| first + length);
        settle_word(&mut folded[start..end]);
        done = end;
    }
}

fn settle_word(word: &mut [u8]) {
    let is_foreign = word.contains(&FOREIGN) && !word.iter().any(u8::is_ascii_alphabetic);
    for byte in word.iter_mut().filter(|byte| **byte >= CANDIDATE) {
        *byte = match *byte {
            _ if is_foreign => WORD,
            CANDIDATE_STROKE => STROKE,
            candidate => candidate & 0x7F,
        };
    }
}

/// Returns how many ASCII bytes a text begins with.
fn ascii_length(bytes: &[u8]) -> usize {
    let blocks = bytes.chunks_exact(BLOCK).take_while(|block| block.is_ascii()).count();
    let start = blocks * BLOCK;
    let rest = bytes[start..].iter().position(|byte| !byte.is_ascii());
    rest.map_or(bytes.len(), |length| start + length)
}
