//! Ends of the stretches that a match can't cross.

use super::pattern::Reach;
use crate::view::{is_space, is_word};

/// The last end of a stretch of each kind, in the part of the view that was read.
#[derive(Debug, Default)]
pub(super) struct StretchEnds {
    /// A byte that is neither part of a word nor white space.
    sign: LastEnd,
    /// A newline.
    line: LastEnd,
    /// A `>`.
    tag: LastEnd,
    /// A byte that is not part of a word.
    word: LastEnd,
}

/// The last byte of one kind.
#[derive(Debug, Default)]
struct LastEnd {
    /// The view was read up to this byte.
    read: usize,
    /// Offset after the last such byte.
    end: usize,
}

impl StretchEnds {
    /// Returns whether the stretch of this kind that contains byte `from` has ended before byte `to`.
    pub(super) fn ended(&mut self, reach: Reach, from: usize, to: usize, view: &[u8]) -> bool {
        let stop = match reach {
            Reach::Word => return true,
            Reach::Text => return false,
            Reach::Words => self.sign.before(to, view, |byte| !is_word(byte) && !is_space(byte)),
            Reach::Line | Reach::WholeLine => self.line.before(to, view, |byte| byte == b'\n'),
            Reach::Tag => self.tag.before(to, view, |byte| byte == b'>'),
        };
        stop > from
    }

    /// Returns whether the part of a word before byte `at` begins the name of a variable: it follows `$` or `${`.
    pub(super) fn is_in_variable(&mut self, view: &[u8], at: usize) -> bool {
        let before = &view[..self.word.before(at, view, |byte| !is_word(byte))];
        before.strip_suffix(b"{").unwrap_or(before).ends_with(b"$")
    }
}

impl LastEnd {
    /// Returns the last end before byte `to`, or before a later byte if the view was read up to there. It searches
    /// backward and reads every byte at most once: mostly only a few of them.
    fn before(&mut self, to: usize, view: &[u8], is_end: impl Fn(u8) -> bool) -> usize {
        let new = view.get(self.read..to).unwrap_or_default();
        if let Some(at) = new.iter().rposition(|byte| is_end(*byte)) {
            self.end = self.read + at + 1;
        }
        self.read = self.read.max(to);
        self.end
    }
}
