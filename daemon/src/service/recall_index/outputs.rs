//! Indexing of spilled outputs: in parts, with several small outputs at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use herma_archive::index::OutputPart;
use herma_spill::SpillError;
use herma_spill::catalog::{Record, State as Fate};
use herma_spill::handle::Handle;
use herma_spill::page::{Next, Page, Part};

use super::RecallIndexer;
use crate::data::error::{Error, Outcome};
use crate::data::numbers::to_u64;
use crate::owners::blocking::on_thread;

/// The size of a part of an output in the index, in bytes. A hit leads to its part.
const PART: usize = 8 << 10;

/// The size of the texts that are indexed at once, in bytes, so that other jobs do not wait long.
const SLICE: usize = 1 << 20;

/// The number of lines that are read from an output at once.
const LINES: usize = 4000;

/// The number of chars up to which an output is indexed. `output.search` finds text beyond that.
const LONGEST: usize = 8 << 20;

/// Indexes outputs, several small ones at once.
pub(super) async fn file_all(indexer: &RecallIndexer, handles: BTreeSet<String>) -> Outcome<()> {
    let mut parts = Vec::new();
    let mut bytes = 0;
    for handle in handles {
        let Some(record) = Handle::parse(&handle).and_then(|handle| indexer.outputs.record(handle)).map(Arc::new)
        else {
            continue;
        };
        let mut place = Some(Place { part: Part::Lines { line: 1, lines: LINES }, line: 1, chars: 0 });
        while let Some(here) = place {
            let (read, next) = match read(indexer, &record, here).await {
                Ok(read) => read,
                Err(error) if error.is_missing() => break,
                Err(error) => {
                    tracing::warn!("an output that can't be found by recall: {error}");
                    break;
                }
            };
            bytes += read.iter().map(|part| part.text.len()).sum::<usize>();
            parts.extend(read);
            place = next;
            if bytes >= SLICE {
                file(indexer, std::mem::take(&mut parts)).await?;
                bytes = 0;
            }
        }
    }
    file(indexer, parts).await
}

async fn file(indexer: &RecallIndexer, parts: Vec<Filed>) -> Outcome<()> {
    if parts.is_empty() {
        return Ok(());
    }
    let outputs = Arc::clone(&indexer.outputs);
    // An output that was removed meanwhile would be found for ever.
    let is_kept =
        move |part: &Filed| outputs.record(part.record.handle).is_some_and(|record| record.state == Fate::Kept);
    indexer.archive.index_outputs(parts, move |part: &Filed| is_kept(part).then(|| part.part())).await
}

/// A part of an output to be indexed.
#[derive(Debug)]
struct Filed {
    handle: String,
    record: Arc<Record>,
    line: u64,
    start: u64,
    text: String,
    is_first: bool,
    is_last: bool,
}

impl Filed {
    fn part(&self) -> OutputPart<'_> {
        OutputPart {
            handle: &self.handle,
            session: &self.record.session,
            profile: &self.record.profile,
            time: self.record.created_at,
            line: self.line,
            start: self.start,
            chars: to_u64(self.text.chars().count()),
            text: &self.text,
            is_first: self.is_first,
            is_last: self.is_last,
        }
    }
}

/// The position in an output where the next parts begin.
#[derive(Debug, Clone, Copy)]
struct Place {
    part: Part,
    line: u64,
    chars: usize,
}

/// Returns the next parts of an output.
async fn read(indexer: &RecallIndexer, record: &Arc<Record>, place: Place) -> Outcome<(Vec<Filed>, Option<Place>)> {
    let (outputs, record) = (Arc::clone(&indexer.outputs), Arc::clone(record));
    let read = move || -> Result<_, SpillError> {
        let Page { text, next, .. } = outputs.peek(&record.handle.to_string(), place.part)?;
        let chars = place.chars.saturating_add(text.chars().count());
        let line = place.line + count_lines(&text);
        let next = next.filter(|_| chars < LONGEST).map(|next| {
            let part = match next {
                Next::Line(line) => Part::Lines { line, lines: LINES },
                Next::Offset(offset) => Part::Chars { offset, limit: herma_spill::page::MOST },
            };
            Place { part, line, chars }
        });
        let mut start = to_u64(place.chars);
        let mut parts = cut(&text, place.line)
            .into_iter()
            .map(|(line, text)| Filed {
                handle: record.handle.to_string(),
                record: Arc::clone(&record),
                line,
                start: {
                    let own = start;
                    start += to_u64(text.chars().count());
                    own
                },
                text: text.to_owned(),
                is_first: false,
                is_last: false,
            })
            .collect::<Vec<_>>();
        if place.chars == 0
            && let Some(first) = parts.first_mut()
        {
            first.is_first = true;
        }
        if next.is_none()
            && let Some(last) = parts.last_mut()
        {
            last.is_last = true;
        }
        Ok((parts, next))
    };
    on_thread(read).await.ok_or_else(|| Error::internal("the index"))?.map_err(Error::from)
}

fn count_lines(text: &str) -> u64 {
    to_u64(memchr::memchr_iter(b'\n', text.as_bytes()).count())
}

/// Cuts a text into parts, at line ends if possible, each with the number of its first line.
fn cut(text: &str, first_line: u64) -> Vec<(u64, &str)> {
    let (mut parts, mut rest, mut line) = (Vec::new(), text, first_line);
    while !rest.is_empty() {
        let most = rest.floor_char_boundary(PART);
        let end = match rest[..most].rfind('\n') {
            _ if most == rest.len() => most,
            Some(newline) => newline + 1,
            None => most,
        };
        parts.push((line, &rest[..end]));
        line += count_lines(&rest[..end]);
        rest = &rest[end..];
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_end_with_lines_and_know_their_own() {
        let text = format!("{}\n{}\nlast", "a".repeat(PART - 10), "b".repeat(PART + 10));
        let parts = cut(&text, 7);
        let lengths: Vec<(u64, usize)> = parts.iter().map(|(line, text)| (*line, text.len())).collect();
        assert_eq!(lengths, [(7, PART - 9), (8, PART), (8, 10 + 1 + 4)]);
        assert_eq!(parts.iter().map(|(_, text)| *text).collect::<String>(), text);
        assert!(cut("", 1).is_empty());
        assert_eq!(cut("日本", 1), [(1, "日本")]);
    }
}
