//! The two views of a text that is not plain ASCII: as it stands, and as a reader sees it.
//!
//! Folding looks at one character at a time: its compatibility form without marks, each letter of
//! it replaced by the Latin one it looks like, what cannot be seen dropped, white space and
//! typographic signs made plain. A letter of another alphabet is read as Latin only if its whole
//! word can be, or if Latin letters stand in the same word: honest words of other languages stay
//! opaque. ASCII is never changed, so a text of ASCII alone is its own folded view.

use crate::view::{CANDIDATE, CANDIDATE_STROKE, FOREIGN, STROKE, WORD, is_word};

mod alphabet;
mod chars;
mod lookalikes;
mod pages;

pub(crate) use pages::{Traits, traits};

/// Bytes that are tested together for being ASCII.
const BLOCK: usize = 16;

/// A text as a reader sees it.
pub(crate) struct Folded {
    /// No byte, one or several for each character; see [`places`].
    pub(crate) view: Vec<u8>,
    /// Whether every pattern that is in the raw view is in the folded one too.
    pub(crate) has_all: bool,
}

/// The folded view of a text.
pub(crate) fn folded(text: &str) -> Folded {
    let mut traits = Traits::default();
    let mut view = view(text, |entry, view| {
        traits = traits.and(entry.traits);
        match *entry.folded {
            [one] => view.push(one),
            ref several => view.extend_from_slice(several),
        }
    });
    settle(&mut view);
    Folded { view, has_all: !traits.contains(Traits::CHANGED) }
}

/// The raw view of a text: one byte for each character.
pub(crate) fn raw(text: &str) -> Vec<u8> {
    view(text, |entry, view| view.push(entry.raw))
}

/// A view to which ASCII is copied and each other character is added by `push`.
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

/// The characters of a text that gave certain bytes of its folded view.
///
/// `bytes` are places in the folded view, ascending. For each the answer has the number of the
/// character that gave it and the number of the character after that one and the marks on it.
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

/// Decides for every word with candidates whether it is to be read as Latin.
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

/// How many bytes of ASCII a text begins with.
fn ascii_length(bytes: &[u8]) -> usize {
    let blocks = bytes.chunks_exact(BLOCK).take_while(|block| block.is_ascii()).count();
    let start = blocks * BLOCK;
    let rest = bytes[start..].iter().position(|byte| !byte.is_ascii());
    rest.map_or(bytes.len(), |length| start + length)
}
