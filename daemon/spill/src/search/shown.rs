//! The row of a hit: its line, or a part of it, and the lines around it.

use super::Match;
use crate::SpillError;
use crate::facts::{count_chars, to_u64};
use crate::grapheme::{border_before, border_behind};
use crate::handle::Handle;
use crate::located::Located;

/// The maximum length of a line that is shown whole, in chars.
pub(crate) const SHOWN: usize = 2_000;

/// Bytes to either side of a hit in which the ends of its line are searched.
const REACH: u64 = 4 * (SHOWN as u64 + 64);

/// A row, and the bytes of the file that it shows.
pub(crate) struct Row {
    pub(crate) found: Match,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// Builds the row of a hit, which is given as its ends in bytes.
pub(crate) fn row(file: &Located, handle: Handle, hit: (u64, u64), context: usize) -> Result<Row, SpillError> {
    let place = file.place(hit.0)?;
    let (from, text, at) = chunk(file, hit)?;
    let hit_end = text.ceil_char_boundary((at + crate::facts::to_usize(hit.1 - hit.0)).min(text.len()));
    let begin = memchr::memrchr(b'\n', &text.as_bytes()[..at]).map(|newline| newline + 1);
    let newline = memchr::memchr(b'\n', &text.as_bytes()[at..]).map(|newline| at + newline);
    let is_whole = (begin.is_some() || from == 0) && (newline.is_some() || from + to_u64(text.len()) == file.length());
    let (begin, end) = (begin.unwrap_or(0), newline.unwrap_or(text.len()));
    let line = text[begin..end].strip_suffix('\r').filter(|_| newline.is_some()).unwrap_or(&text[begin..end]);
    let (line_end, hit_end) = (begin + line.len(), hit_end.min(begin + line.len()).max(at.min(begin + line.len())));
    let cut = !is_whole || line.chars().nth(SHOWN).is_some();
    let (first, last) = if cut { window(&text, begin, line_end, (at, hit_end)) } else { (begin, line_end) };
    let hit_end = hit_end.min(last);
    let chars = |from: usize, to: usize| text.get(from..to.max(from)).map_or(0, |part| part.chars().count());
    let found = Match {
        handle,
        line: place.newlines + 1,
        text: text[first..last].to_owned(),
        before: around(file, place.newlines.saturating_sub(to_u64(context)), place.newlines)?,
        after: around(file, place.newlines + 1, place.newlines + 1 + to_u64(context))?,
        offset: place.chars,
        start: chars(first, at.min(last)),
        end: chars(first, hit_end),
        cut,
    };
    // A row with a whole line also covers its line end.
    let to = if cut { from + to_u64(last) } else { from + to_u64(end) + 1 };
    Ok(Row { found, from: from + to_u64(first), to })
}

/// Returns the text around a hit, its offset in the file, and the offset of the hit in it.
fn chunk(file: &Located, hit: (u64, u64)) -> Result<(u64, String, usize), SpillError> {
    let wanted = hit.0.saturating_sub(REACH);
    let bytes = file.bytes(wanted, (hit.1.min(hit.0 + REACH) + REACH).min(file.length()))?;
    let skipped = bytes.iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
    let from = wanted + to_u64(skipped);
    let text = match std::str::from_utf8(&bytes[skipped..]) {
        Ok(text) => text,
        Err(error) if bytes.len() - skipped - error.valid_up_to() < 4 => {
            std::str::from_utf8(&bytes[skipped..skipped + error.valid_up_to()]).unwrap_or_default()
        }
        Err(error) => return Err(file.not_text(from + to_u64(error.valid_up_to()))),
    };
    let at = crate::facts::to_usize(hit.0.saturating_sub(from)).min(text.len());
    Ok((from, text.to_owned(), text.floor_char_boundary(at)))
}

/// Returns the part of a long line that is shown: the hit, and equally much to either side.
fn window(text: &str, begin: usize, end: usize, hit: (usize, usize)) -> (usize, usize) {
    let room = SHOWN.saturating_sub(text[hit.0..hit.1].chars().count());
    let back = |chars: usize| match chars {
        0 => hit.0,
        _ => text[begin..hit.0].char_indices().rev().nth(chars - 1).map_or(begin, |(at, _)| begin + at),
    };
    let before = count_chars(&text.as_bytes()[begin..hit.0]);
    let after = count_chars(&text.as_bytes()[hit.1..end]);
    // Space that one side doesn't need goes to the other.
    let half = to_u64(room) / 2;
    let before = before.min(half.max(to_u64(room).saturating_sub(after)));
    let first = back(crate::facts::to_usize(before));
    let last = text[first..end].char_indices().nth(SHOWN).map_or(end, |(at, _)| first + at);
    let first = if first > begin { border_behind(&text[..end], first).min(hit.0) } else { first };
    let last = if last < end { border_before(&text[..end], last).max(hit.1.min(last)) } else { last };
    (first, last)
}

/// Returns the lines in a range, counted from 0, each cut at the maximum length.
fn around(file: &Located, from: u64, to: u64) -> Result<Vec<String>, SpillError> {
    let mut lines = Vec::new();
    for line in from..to.min(file.index().lines()) {
        let (begin, end) = (file.byte_of_line(line)?, file.byte_of_line(line + 1)?);
        let (_, text, at) = chunk(file, (begin, end.min(begin + 1)))?;
        let text = text.get(at..).unwrap_or_default();
        let text = text.split('\n').next().unwrap_or_default();
        let text = text.strip_suffix('\r').unwrap_or(text);
        let cut = text.char_indices().nth(SHOWN).map_or(text.len(), |(at, _)| border_before(text, at));
        lines.push(text[..cut].to_owned());
    }
    Ok(lines)
}
