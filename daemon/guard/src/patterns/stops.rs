//! Where the stretches end that a hit can't leave.

use super::pattern::Reach;
use crate::view::{is_space, is_word};

/// The last places that end a stretch of each kind, as far as the view has been read.
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
    /// Whether a stretch of this kind in which byte `from` lies has ended before byte `to`.
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

    /// Whether the word round byte `at`, or the part of it before, is the name of a variable: it
    /// stands behind `$` or `${`.
    pub(super) fn is_in_variable(&mut self, view: &[u8], at: usize) -> bool {
        let before = &view[..self.read(view, at).word];
        before.strip_suffix(b"{").unwrap_or(before).ends_with(b"$")
    }

    /// Reads on to byte `to`; does nothing if that is read already.
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
