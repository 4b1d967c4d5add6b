//! Ends of the stretches that a match can't cross.

use super::pattern::Reach;
use crate::view::{is_space, is_word};

/// The last end of a stretch of each kind, in the part of the view that was read.
#[derive(Debug, Default)]
pub(super) struct StretchEnds {
    /// The view was read up to this byte.
    read: usize,
    /// Offset after the last byte that is neither part of a word nor white space.
    sign: usize,
    /// Offset after the last newline.
    line: usize,
    /// Offset after the last `>`.
    tag: usize,
    /// Offset after the last byte that is not part of a word.
    word: usize,
}

impl StretchEnds {
    /// Returns whether the stretch of this kind that contains byte `from` has ended before byte `to`.
    pub(super) fn ended(&mut self, reach: Reach, from: usize, to: usize, view: &[u8]) -> bool {
        let stop = match reach {
            Reach::Word => return true,
            Reach::Text => return false,
            Reach::Words => self.read(view, to).sign,
            Reach::Line => self.read(view, to).line,
            Reach::Tag => self.read(view, to).tag,
        };
        stop > from
    }

    /// Returns whether the part of a word before byte `at` begins the name of a variable: it follows `$` or `${`.
    pub(super) fn is_in_variable(&mut self, view: &[u8], at: usize) -> bool {
        let before = &view[..self.read(view, at).word];
        before.strip_suffix(b"{").unwrap_or(before).ends_with(b"$")
    }

    /// Reads on up to byte `to`; does nothing if it was already read.
    fn read(&mut self, view: &[u8], to: usize) -> &Self {
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
        self
    }
}
