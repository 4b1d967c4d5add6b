//! Finds the next hit in a file that is read block by block.

use memchr::memmem::Finder;
use regex::{Regex, RegexBuilder};

use super::{LONGEST, Needle};
use crate::SpillError;
use crate::facts::{to_u64, to_usize};
use crate::located::Located;

/// Bytes of one read, and the maximum length of a piece of a line that a pattern sees.
const BLOCK: u64 = 1 << 20;

/// Overlap of two pieces of a line, in bytes.
const OVERLAP: u64 = 64 << 10;

/// The maximum length of a char in bytes.
const CHAR: usize = 4;

/// The maximum memory of a pattern, in bytes.
const PATTERN: usize = 4 << 20;

/// A needle that is compiled for searching.
#[derive(Debug)]
pub(crate) enum Ready {
    Literal(Box<Finder<'static>>),
    Regex(Regex),
}

impl Ready {
    /// # Errors
    /// [`SpillError::Pattern`] if the query is empty, too long or no pattern.
    pub(crate) fn new(needle: &Needle) -> Result<Self, SpillError> {
        let refuse = |words: String| Err(SpillError::Pattern(words));
        let (Needle::Literal(text) | Needle::Regex(text)) = needle;
        if text.is_empty() {
            return refuse("it is empty".into());
        }
        if text.chars().nth(LONGEST).is_some() {
            return refuse(format!("it is longer than {LONGEST} chars"));
        }
        match needle {
            Needle::Literal(text) if text.contains('\n') => refuse("it has a line end, and rows are lines".into()),
            Needle::Literal(text) => Ok(Self::Literal(Box::new(Finder::new(text.as_bytes()).into_owned()))),
            Needle::Regex(text) => {
                let built = RegexBuilder::new(text).size_limit(PATTERN).dfa_size_limit(PATTERN).build();
                built.map(Self::Regex).or_else(|error| refuse(error.to_string()))
            }
        }
    }
}

/// Searches a file from hit to hit.
pub(crate) struct Hits<'a> {
    ready: &'a Ready,
    file: &'a Located,
    is_cancelled: &'a dyn Fn() -> bool,
    /// The offset of the bytes in memory, and the bytes.
    base: u64,
    block: String,
    bytes: Vec<u8>,
    /// Whether the file ends with them.
    is_at_end: bool,
}

impl<'a> Hits<'a> {
    pub(crate) const fn new(ready: &'a Ready, file: &'a Located, is_cancelled: &'a dyn Fn() -> bool) -> Self {
        Self { ready, file, is_cancelled, base: 0, block: String::new(), bytes: Vec::new(), is_at_end: false }
    }

    /// Returns the first hit that begins at `from` or later, as its ends in bytes.
    pub(crate) fn next(&mut self, from: u64) -> Result<Option<(u64, u64)>, SpillError> {
        match self.ready {
            Ready::Literal(finder) => self.literal(finder, from),
            Ready::Regex(regex) => self.regex(regex, from),
        }
    }

    fn literal(&mut self, finder: &Finder<'static>, mut from: u64) -> Result<Option<(u64, u64)>, SpillError> {
        let length = to_u64(finder.needle().len());
        let end = self.file.length();
        loop {
            if from < self.base || from + length > self.base + to_u64(self.bytes.len()) {
                if from + length > end {
                    return Ok(None);
                }
                self.check()?;
                self.bytes.resize(to_usize((BLOCK + length).min(end - from)), 0);
                let filled = self.file.fill(from, &mut self.bytes)?;
                self.bytes.truncate(filled);
                self.base = from;
                if to_u64(filled) < length {
                    return Ok(None);
                }
            }
            if let Some(at) = finder.find(&self.bytes[to_usize(from - self.base)..]) {
                let start = from + to_u64(at);
                return Ok(Some((start, start + length)));
            }
            from = self.base + to_u64(self.bytes.len()) + 1 - length;
        }
    }

    fn regex(&mut self, regex: &Regex, mut from: u64) -> Result<Option<(u64, u64)>, SpillError> {
        loop {
            if !self.holds(from) && !self.load_round(from)? {
                return Ok(None);
            }
            // The line, or the piece of one, that contains `from`.
            let at = to_usize(from - self.base);
            let begin = memchr::memrchr(b'\n', &self.block.as_bytes()[..at]).map_or(0, |newline| newline + 1);
            let newline = memchr::memchr(b'\n', &self.block.as_bytes()[at..]).map(|newline| at + newline);
            let is_last = newline.is_some() || self.is_at_end;
            let end = newline.unwrap_or(self.block.len());
            // A hit that begins near the end of a piece is left to the next piece, which has more of the text.
            let piece_end = if is_last { usize::MAX } else { self.block.len() - to_usize(OVERLAP) };
            if !is_last && begin > 0 {
                // The line continues after the block, so it is loaded from its beginning.
                self.load(self.base + to_u64(begin))?;
                continue;
            }
            if at >= piece_end {
                self.load_round(from)?;
                continue;
            }
            let shown = match newline {
                Some(newline) if newline > at && self.block.as_bytes()[newline - 1] == b'\r' => newline - 1,
                _ => end,
            };
            let line = &self.block[begin..shown];
            let hit = (at <= shown).then(|| regex.find_at(line, at - begin)).flatten();
            if let Some(hit) = hit.filter(|hit| begin + hit.start() < piece_end) {
                let start = self.base + to_u64(begin + hit.start());
                return Ok(Some((start, start + to_u64(hit.len()))));
            }
            if is_last && newline.is_none() {
                return Ok(None);
            }
            if is_last {
                from = self.base + to_u64(end) + 1;
            } else {
                from = self.base + to_u64(self.block.floor_char_boundary(piece_end));
                self.load_round(from)?;
            }
        }
    }

    fn holds(&self, from: u64) -> bool {
        !self.block.is_empty() && from >= self.base && from < self.base + to_u64(self.block.len())
    }

    /// Loads the text from the char before `from` on, so that a pattern does not take `from` for the beginning of a
    /// line. Returns false at the end.
    fn load_round(&mut self, from: u64) -> Result<bool, SpillError> {
        let mut before = [0; CHAR];
        let start = from.saturating_sub(to_u64(CHAR));
        let before = &mut before[..to_usize(from - start)];
        let filled = self.file.fill(start, before)?;
        let cut = before[..filled].iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
        if from >= self.file.length() { self.load(from) } else { self.load(start + to_u64(cut)) }
    }

    /// Loads the text from `from` on. Returns false at the end.
    fn load(&mut self, from: u64) -> Result<bool, SpillError> {
        self.check()?;
        self.block.clear();
        if from >= self.file.length() {
            return Ok(false);
        }
        self.bytes.resize(to_usize((BLOCK + to_u64(CHAR)).min(self.file.length() - from)), 0);
        let filled = self.file.fill(from, &mut self.bytes)?;
        // A file may be shorter by now than when it was opened.
        self.is_at_end = filled < self.bytes.len() || from + to_u64(filled) >= self.file.length();
        let bytes = &self.bytes[..filled];
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            // The end of the block splits a char.
            Err(error) if error.error_len().is_none() && !self.is_at_end => {
                std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(error) => return Err(self.file.not_text(from + to_u64(error.valid_up_to()))),
        };
        self.block.push_str(text);
        self.base = from;
        Ok(!self.block.is_empty())
    }

    fn check(&self) -> Result<(), SpillError> {
        if (self.is_cancelled)() { Err(SpillError::Cancelled) } else { Ok(()) }
    }
}
