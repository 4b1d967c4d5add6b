//! Positions of chars and lines in a long text: a checkpoint every 64 KiB.

use crate::facts::{count_chars, count_newlines, to_u64, to_usize};

/// The approximate distance of checkpoints in bytes; each is where a char begins.
const STEP: usize = 64 << 10;

/// The first bytes of an index file; the last of them is the version.
const MAGIC: [u8; 8] = *b"outidx\0\x01";

/// Bytes of a stamp.
const STAMP: usize = 40;

/// Bytes of the file before its checkpoints: magic, stamp, and the end as a checkpoint.
const HEAD: usize = MAGIC.len() + STAMP + POINT + 1;

/// Bytes of a checkpoint.
const POINT: usize = 24;

/// Bytes of the checksum at the end.
const CRC: usize = 4;

/// A position in a text, and what precedes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its offset in bytes.
    pub byte: u64,
    /// Chars before it.
    pub chars: u64,
    /// Newlines before it.
    pub newlines: u64,
}

/// The checkpoints of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// The first one is the beginning.
    points: Vec<Checkpoint>,
    /// The end of the text.
    end: Checkpoint,
    /// Whether the last line of the text has no newline.
    is_open: bool,
}

impl Index {
    /// Builds the index of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut builder = Builder::default();
        builder.add(text.as_bytes());
        builder.finish()
    }

    /// Returns the bytes of the text.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.end.byte
    }

    /// Returns the chars of the text.
    #[must_use]
    pub const fn chars(&self) -> u64 {
        self.end.chars
    }

    /// Returns the lines of the text. A final newline starts no further one.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.end.newlines + u64::from(self.is_open)
    }

    /// Returns the newlines of the text.
    pub(crate) const fn newlines(&self) -> u64 {
        self.end.newlines
    }

    /// Returns the last checkpoint whose `key` is at most `value`, and the byte of the next one.
    pub(crate) fn before(&self, value: u64, key: impl Fn(&Checkpoint) -> u64) -> (Checkpoint, u64) {
        let after = self.points.partition_point(|point| key(point) <= value).max(1);
        let next = self.points.get(after).map_or(self.end.byte, |point| point.byte);
        (self.points[after - 1], next)
    }

    /// Encodes the index as a file that belongs to the text with this stamp.
    #[must_use]
    pub fn to_bytes(&self, stamp: &[u8; STAMP]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + self.points.len() * POINT + CRC);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(stamp);
        let put = |bytes: &mut Vec<u8>, point: &Checkpoint| {
            for number in [point.byte, point.chars, point.newlines] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        };
        put(&mut bytes, &self.end);
        bytes.push(u8::from(self.is_open));
        self.points.iter().for_each(|point| put(&mut bytes, point));
        let crc = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Decodes the result of [`Index::to_bytes`]; `None` if it is damaged, of another version or of another text.
    #[must_use]
    pub fn from_bytes(bytes: &[u8], stamp: &[u8; STAMP]) -> Option<Self> {
        let (body, crc) = bytes.split_last_chunk::<CRC>()?;
        let rest = body.strip_prefix(&MAGIC)?.strip_prefix(stamp)?;
        if crc32fast::hash(body) != u32::from_le_bytes(*crc) {
            return None;
        }
        let (end, rest) = rest.split_at_checked(POINT)?;
        let (is_open, points) = rest.split_first()?;
        let number = |bytes: &[u8], at: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&bytes[8 * at..8 * at + 8]);
            u64::from_le_bytes(number)
        };
        let point =
            |bytes: &[u8]| Checkpoint { byte: number(bytes, 0), chars: number(bytes, 1), newlines: number(bytes, 2) };
        let points: Vec<Checkpoint> = points.chunks_exact(POINT).map(point).collect();
        (points.first() == Some(&Checkpoint::default())).then(|| Self {
            points,
            end: point(end),
            is_open: *is_open != 0,
        })
    }

    /// Returns the maximum length of the index file of a text with `bytes` bytes.
    #[must_use]
    pub fn longest(bytes: u64) -> u64 {
        to_u64(HEAD + CRC + POINT * 2) + bytes / to_u64(STEP - 4) * to_u64(POINT)
    }
}

/// Builds an index of a text that arrives in pieces.
#[derive(Debug)]
pub struct Builder {
    points: Vec<Checkpoint>,
    end: Checkpoint,
    last: u8,
}

impl Default for Builder {
    fn default() -> Self {
        Self { points: vec![Checkpoint::default()], end: Checkpoint::default(), last: b'\n' }
    }
}

impl Builder {
    /// Adds the next piece, which may end within a char.
    pub fn add(&mut self, mut piece: &[u8]) {
        while let Some(last) = piece.last() {
            let wanted = to_u64(self.points.len()) * to_u64(STEP);
            let mut cut = to_usize(wanted.saturating_sub(self.end.byte)).min(piece.len());
            while piece.get(cut).is_some_and(|byte| byte & 0xC0 == 0x80) {
                cut += 1;
            }
            let (part, rest) = piece.split_at(cut);
            self.end.byte += to_u64(part.len());
            self.end.chars += count_chars(part);
            self.end.newlines += count_newlines(part);
            if self.end.byte >= wanted && !rest.is_empty() {
                self.points.push(self.end);
            }
            self.last = *last;
            piece = rest;
        }
    }

    /// Returns the index of all pieces.
    #[must_use]
    pub fn finish(self) -> Index {
        Index { points: self.points, end: self.end, is_open: self.last != b'\n' }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn checkpoints_are_where_chars_begin_and_count_what_is_before() {
        let text = "aé漢😀\r\n".repeat(60_000);
        let index = Index::of(&text);
        assert!(index.points.len() > 9);
        for point in &index.points {
            let before = &text[..to_usize(point.byte)];
            assert_eq!(point.chars, to_u64(before.chars().count()));
            assert_eq!(point.newlines, to_u64(before.matches('\n').count()));
        }
        for size in [1, 7, 65_535, 65_537, 300_000] {
            let mut builder = Builder::default();
            text.as_bytes().chunks(size).for_each(|piece| builder.add(piece));
            let other = builder.finish();
            assert_eq!((other.chars(), other.lines(), other.bytes()), (index.chars(), 60_000, to_u64(text.len())));
            assert!(other.points.iter().all(|point| text.is_char_boundary(to_usize(point.byte))), "{size}");
        }
    }

    #[test]
    fn a_file_of_an_index_is_read_back_unless_it_is_damaged_or_of_another_text() {
        let index = Index::of(&"line\n".repeat(50_000));
        let bytes = index.to_bytes(&[7; STAMP]);
        assert!(to_u64(bytes.len()) <= Index::longest(index.bytes()));
        assert_eq!(Index::from_bytes(&bytes, &[7; STAMP]), Some(index));
        assert_eq!(Index::from_bytes(&bytes, &[8; STAMP]), None);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(Index::from_bytes(&damaged, &[7; STAMP]), None);
            assert_eq!(Index::from_bytes(&bytes[..at], &[7; STAMP]), None);
        }
    }
}
