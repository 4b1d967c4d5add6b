//! A part of a text, and where the next part begins.

use crate::preview::lines;

/// The default number of lines of a page.
pub const LINES: usize = 200;

/// The default number of chars of a page by chars.
pub const CHARS: usize = 20_000;

/// The maximum number of chars of any page; the rest continues on the next one.
pub const MOST: usize = 1_000_000;

/// The part that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Lines from `line` (from 1) on.
    Lines {
        /// The first line.
        line: usize,
        /// How many lines.
        lines: usize,
    },
    /// Chars from `offset` (from 0) on.
    Chars {
        /// The first char.
        offset: usize,
        /// How many chars.
        limit: usize,
    },
    /// The last lines, this many.
    Tail(usize),
}

/// Where the next page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// At this line.
    Line(usize),
    /// At this char.
    Offset(usize),
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The part.
    pub text: String,
    /// Where the next page begins; `None` at the end.
    pub next: Option<Next>,
    /// Lines of the whole text.
    pub total_lines: usize,
    /// Chars of the whole text.
    pub total_chars: usize,
}

/// Returns a page of a text. A page past the end is empty.
#[must_use]
pub fn page(text: &str, part: Part) -> Page {
    let (total_lines, total_chars) = (lines(text), text.chars().count());
    let (text, next) = match part {
        Part::Lines { line, lines } => {
            let first = line.max(1) - 1;
            let from = line_start(text, first);
            let part = &text[from..from + line_start(&text[from..], lines)];
            let after = first.saturating_add(lines);
            bounded(text, from, part).unwrap_or((part, (after < total_lines).then(|| Next::Line(after + 1))))
        }
        Part::Chars { offset, limit } => {
            let from = char_start(text, offset);
            let limit = limit.min(MOST);
            let to = from + char_start(&text[from..], limit);
            let after = offset.saturating_add(limit);
            (&text[from..to], (after < total_chars).then_some(Next::Offset(after)))
        }
        Part::Tail(count) => {
            let part = &text[line_start(text, total_lines.saturating_sub(count))..];
            (&part[part.char_indices().rev().nth(MOST - 1).map_or(0, |(at, _)| at)..], None)
        }
    };
    Page { text: text.to_owned(), next, total_lines, total_chars }
}

/// Cuts a page by lines that has too many chars, and continues by chars. Returns `None` if all chars fit.
fn bounded<'a>(text: &str, from: usize, part: &'a str) -> Option<(&'a str, Option<Next>)> {
    let (cut, _) = part.char_indices().nth(MOST)?;
    let offset = text[..from].chars().count() + MOST;
    Some((&part[..cut], Some(Next::Offset(offset))))
}

/// Returns the byte offset at which line `index` (from 0) begins; the end if there are fewer.
fn line_start(text: &str, index: usize) -> usize {
    match index.checked_sub(1) {
        None => 0,
        Some(newline) => memchr::memchr_iter(b'\n', text.as_bytes()).nth(newline).map_or(text.len(), |at| at + 1),
    }
}

fn char_start(text: &str, index: usize) -> usize {
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_fit_together() {
        let text = "one\ntwo\n\nfour\nfünf\n";
        for (part, expected, next) in [
            (Part::Lines { line: 1, lines: 2 }, "one\ntwo\n", Some(Next::Line(3))),
            (Part::Lines { line: 3, lines: 2 }, "\nfour\n", Some(Next::Line(5))),
            (Part::Lines { line: 5, lines: 9 }, "fünf\n", None),
            (Part::Lines { line: 6, lines: 9 }, "", None),
            (Part::Lines { line: 0, lines: 1 }, "one\n", Some(Next::Line(2))),
            (Part::Lines { line: usize::MAX, lines: usize::MAX }, "", None),
            (Part::Chars { offset: 0, limit: 3 }, "one", Some(Next::Offset(3))),
            (Part::Chars { offset: 14, limit: 3 }, "fün", Some(Next::Offset(17))),
            (Part::Chars { offset: 17, limit: 30 }, "f\n", None),
            (Part::Tail(2), "four\nfünf\n", None),
            (Part::Tail(99), text, None),
            (Part::Tail(0), "", None),
        ] {
            let page = page(text, part);
            assert_eq!((page.text.as_str(), page.next), (expected, next), "{part:?}");
            assert_eq!((page.total_lines, page.total_chars), (5, 19));
        }
        assert_eq!(page("", Part::Lines { line: 1, lines: 1 }).total_lines, 0);
    }

    #[test]
    fn no_page_is_longer_than_the_most() {
        let text = format!("short\n{}", "é".repeat(MOST + 9));
        let lines = page(&text, Part::Lines { line: 1, lines: 2 });
        assert_eq!((lines.text.chars().count(), lines.next), (MOST, Some(Next::Offset(MOST))));
        let chars = page(&text, Part::Chars { offset: MOST, limit: usize::MAX });
        assert_eq!((chars.text.chars().count(), chars.next), (15, None));
        assert_eq!(page(&text, Part::Tail(1)).text.chars().count(), MOST);
    }
}
