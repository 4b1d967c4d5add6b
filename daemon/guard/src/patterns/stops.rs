//! Where the gaps between the parts of patterns end.

use super::Gap;
use crate::view::{is_space, is_word};

/// The last places that end a gap of each kind, as far as the view has been read.
#[derive(Debug, Default)]
pub(super) struct Stops {
    /// Everything before this byte has been read.
    read: usize,
    /// The place behind the last byte that is neither of a word nor white space.
    sign: usize,
    /// The place behind the last line's end.
    line: usize,
    /// The place behind the last `>`.
    tag: usize,
    /// The place behind the last byte that is not of a word.
    word: usize,
}

impl Stops {
    /// Reads on to byte `to`; does nothing if that is read already.
    pub(super) fn read_to(&mut self, view: &[u8], to: usize) {
        for (behind, byte) in (self.read + 1..).zip(view.get(self.read..to).unwrap_or_default()) {
            if is_word(*byte) {
                continue;
            }
            self.word = behind;
            if !is_space(*byte) {
                self.sign = behind;
            }
            match byte {
                b'\n' => self.line = behind,
                b'>' => self.tag = behind,
                _ => {}
            }
        }
        self.read = self.read.max(to);
    }

    /// Reads on to byte `at`, and tells whether its word begins as the name of a variable does.
    pub(super) fn is_in_variable(&mut self, view: &[u8], at: usize) -> bool {
        self.read_to(view, at);
        self.word.checked_sub(1).is_some_and(|before| matches!(view[before], b'$' | b'{'))
    }

    /// Where the word begins in which the reading has stopped.
    pub(super) fn word_start(&self) -> usize {
        self.word
    }

    /// Whether a gap of this kind that begins at byte `from` has ended.
    pub(super) fn ended(&self, gap: Gap, from: usize) -> bool {
        let stop = match gap {
            Gap::Words => self.sign,
            Gap::Line => self.line,
            Gap::Tag => self.tag,
            Gap::Letters => self.word,
            Gap::Text => 0,
        };
        stop > from
    }
}
