//! A text on disk, of which only the needed parts are read.

use std::cell::RefCell;
use std::sync::Arc;

use herma_disk::regular::Regular;

use crate::SpillError;
use crate::facts::{count_chars, count_newlines, to_u64, to_usize};
use crate::index::{Checkpoint, Index};
use crate::page::{MOST, Next, Page, Part};

/// A text file and its index.
#[derive(Debug)]
pub(crate) struct Located {
    file: Regular,
    index: Arc<Index>,
    /// The part between two checkpoints that was read last.
    block: RefCell<(u64, Vec<u8>)>,
}

impl Located {
    pub(crate) const fn new(file: Regular, index: Arc<Index>) -> Self {
        Self { file, index, block: RefCell::new((u64::MAX, Vec::new())) }
    }

    /// Returns the index of the text.
    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    /// Returns a part of the text, which begins and ends between two chars.
    pub(crate) fn text(&self, from: u64, to: u64) -> Result<String, SpillError> {
        let bytes = self.file.range(from, to_usize(to.saturating_sub(from)))?;
        String::from_utf8(bytes).map_err(|error| SpillError::NotText {
            path: self.file.path().to_owned(),
            byte: from + to_u64(error.utf8_error().valid_up_to()),
        })
    }

    /// Returns the bytes of the file.
    pub(crate) const fn length(&self) -> u64 {
        self.file.length()
    }

    /// Fills the buffer from an offset on. Returns how many bytes there were.
    pub(crate) fn fill(&self, from: u64, buffer: &mut [u8]) -> Result<usize, SpillError> {
        Ok(self.file.fill(from, buffer)?)
    }

    /// Returns where the char after the one at an offset begins.
    pub(crate) fn next_char(&self, byte: u64) -> Result<u64, SpillError> {
        let bytes = self.file.range(byte, 4)?;
        Ok(byte + to_u64(1 + bytes.iter().skip(1).take_while(|byte| **byte & 0xC0 == 0x80).count()))
    }

    /// Returns the error for a file that is no text from this byte on.
    pub(crate) fn not_text(&self, byte: u64) -> SpillError {
        SpillError::NotText { path: self.file.path().to_owned(), byte }
    }

    /// Returns the bytes of a part of the text.
    pub(crate) fn bytes(&self, from: u64, to: u64) -> Result<Vec<u8>, SpillError> {
        Ok(self.file.range(from, to_usize(to.saturating_sub(from)))?)
    }

    /// Calls `find` with the bytes from a checkpoint to the next one.
    fn within<T>(&self, from: u64, to: u64, find: impl FnOnce(&[u8]) -> T) -> Result<T, SpillError> {
        let mut block = self.block.borrow_mut();
        if block.0 != from {
            *block = (from, self.file.range(from, to_usize(to - from))?);
        }
        Ok(find(&block.1))
    }

    /// Returns the offset in bytes at which line `line` (from 0) begins; the end if there are fewer.
    pub(crate) fn byte_of_line(&self, line: u64) -> Result<u64, SpillError> {
        if line == 0 {
            return Ok(0);
        }
        if line > self.index.newlines() {
            return Ok(self.index.bytes());
        }
        // The line begins after the newline of this number, which counts from 0.
        let newline = line - 1;
        let (point, next) = self.index.before(newline, |point| point.newlines);
        let nth = to_usize(newline - point.newlines);
        let found = self.within(point.byte, next, |bytes| memchr::memchr_iter(b'\n', bytes).nth(nth))?;
        Ok(found.map_or(next, |at| point.byte + to_u64(at) + 1))
    }

    /// Returns the offset in bytes at which char `char` (from 0) begins; the end if there are fewer.
    pub(crate) fn byte_of_char(&self, char: u64) -> Result<u64, SpillError> {
        if char >= self.index.chars() {
            return Ok(self.index.bytes());
        }
        let (point, next) = self.index.before(char, |point| point.chars);
        let nth = to_usize(char - point.chars);
        let found = self.within(point.byte, next, |bytes| {
            bytes.iter().enumerate().filter(|(_, byte)| **byte & 0xC0 != 0x80).nth(nth).map(|(at, _)| at)
        })?;
        Ok(found.map_or(next, |at| point.byte + to_u64(at)))
    }

    /// Returns how many chars and newlines are before an offset in bytes.
    pub(crate) fn place(&self, byte: u64) -> Result<Checkpoint, SpillError> {
        let (point, next) = self.index.before(byte, |point| point.byte);
        self.within(point.byte, next, |bytes| {
            let before = &bytes[..to_usize(byte - point.byte).min(bytes.len())];
            Checkpoint {
                byte,
                chars: point.chars + count_chars(before),
                newlines: point.newlines + count_newlines(before),
            }
        })
    }

    /// Cuts a page out of the text, exactly as [`crate::page::page`] does.
    pub(crate) fn page(&self, part: Part) -> Result<Page, SpillError> {
        let (total_lines, total_chars) = (self.index.lines(), self.index.chars());
        let (from, to, next) = match part {
            Part::Lines { line, lines } => {
                let first = to_u64(line.max(1) - 1);
                let after = first.saturating_add(to_u64(lines));
                let (from, to) = (self.byte_of_line(first)?, self.byte_of_line(after)?);
                let most = self.place(from)?.chars.saturating_add(to_u64(MOST));
                let bound = self.byte_of_char(most)?;
                if bound < to {
                    (from, bound, Some(Next::Offset(to_usize(most))))
                } else {
                    (from, to, (after < total_lines).then(|| Next::Line(to_usize(after) + 1)))
                }
            }
            Part::Chars { offset, limit } => {
                let after = to_u64(offset).saturating_add(to_u64(limit.min(MOST)));
                let next = (after < total_chars).then(|| Next::Offset(to_usize(after)));
                (self.byte_of_char(to_u64(offset))?, self.byte_of_char(after)?, next)
            }
            Part::Tail(count) => {
                let from = self.byte_of_line(total_lines.saturating_sub(to_u64(count)))?;
                let bound = self.byte_of_char(total_chars.saturating_sub(to_u64(MOST)))?;
                (from.max(bound), self.index.bytes(), None)
            }
        };
        let text = self.text(from, to)?;
        Ok(Page { text, next, total_lines: to_usize(total_lines), total_chars: to_usize(total_chars) })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use proptest::prelude::*;

    use super::*;
    use crate::page::page;

    fn located(folder: &std::path::Path, text: &str) -> Located {
        let path = folder.join("a.txt");
        let temporary = herma_disk::file::Temporary { prefix: ".t", suffix: "" };
        herma_disk::file::replace(&path, text.as_bytes(), temporary).unwrap();
        Located::new(Regular::open(&path).unwrap().unwrap(), Arc::new(Index::of(text)))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn an_indexed_page_is_the_plain_one_and_pages_fit_together(
            piece in "[a-cé漢😀\r\n]{0,40}",
            repeat in prop_oneof![Just(1_usize), 2_000..9_000_usize],
            (first, size) in (0..4_000_usize, 1..3_000_usize),
        ) {
            let text = piece.repeat(repeat);
            let folder = tempfile::tempdir().unwrap();
            let located = located(folder.path(), &text);
            for part in [
                Part::Lines { line: first, lines: size },
                Part::Lines { line: first * 20, lines: usize::MAX },
                Part::Chars { offset: first * 50, limit: size },
                Part::Tail(first),
                Part::Tail(0),
            ] {
                prop_assert_eq!(located.page(part).unwrap(), page(&text, part), "{:?}", part);
            }
            for mut part in [
                Part::Lines { line: 1, lines: size.max(text.len() / 50) },
                Part::Chars { offset: 0, limit: size.max(text.len() / 50) },
            ] {
                let mut whole = String::new();
                loop {
                    let page = located.page(part).unwrap();
                    whole.push_str(&page.text);
                    part = match (page.next, part) {
                        (None, _) => break,
                        (Some(Next::Line(line)), Part::Lines { lines, .. }) => Part::Lines { line, lines },
                        (Some(Next::Offset(offset)), _) => Part::Chars { offset, limit: 90_000 },
                        _ => unreachable!(),
                    };
                }
                prop_assert_eq!(&whole, &text);
            }
        }
    }

    #[test]
    fn no_page_is_longer_than_the_most_and_only_its_part_is_read() {
        let text = format!("short\n{}\nend", "é".repeat(MOST + 9));
        let folder = tempfile::tempdir().unwrap();
        let located = located(folder.path(), &text);
        for part in [
            Part::Lines { line: 1, lines: 2 },
            Part::Lines { line: 2, lines: 1 },
            Part::Chars { offset: 3, limit: usize::MAX },
            Part::Tail(2),
            Part::Tail(1),
        ] {
            assert_eq!(located.page(part).unwrap(), page(&text, part), "{part:?}");
        }
    }
}
