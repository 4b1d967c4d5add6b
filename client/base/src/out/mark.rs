//! Texts with marks around search hits.

use herma_client::protocol::visible::visible;

use super::{is_coloured, page, paged};
use crate::Failure;

const FOUND: &str = "\u{1b}[1;31m";
const PLAIN: &str = "\u{1b}[0m";

/// How a hit is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// In bold red, for a terminal.
    Colour,
    /// Between » and «.
    Quotes,
    /// No mark.
    Nothing,
}

impl Mark {
    /// Returns `Colour` if results have colours, else the other mark.
    pub fn or(other: Self) -> Self {
        if is_coloured() { Self::Colour } else { other }
    }
}

/// A text that is built up piece by piece, with marks in it.
#[derive(Debug)]
pub struct MarkedText {
    mark: Mark,
    text: String,
}

impl MarkedText {
    /// Creates an empty text.
    pub fn new(mark: Mark) -> Self {
        Self { mark, text: String::new() }
    }

    /// Adds text without a mark.
    pub fn push(&mut self, text: &str) {
        match self.mark {
            Mark::Colour => self.text.push_str(&visible(text)),
            Mark::Quotes | Mark::Nothing => self.text.push_str(text),
        }
    }

    /// Adds a text with a mark around the chars from `start` to `end`. Positions beyond the text are cut to its end.
    pub fn push_found(&mut self, text: &str, start: u64, end: u64) {
        let byte = |char: u64| {
            let char = usize::try_from(char).unwrap_or(usize::MAX);
            text.char_indices().nth(char).map_or(text.len(), |(byte, _)| byte)
        };
        let (start, end) = (byte(start), byte(end.max(start)));
        let (open, close) = match self.mark {
            Mark::Colour => (FOUND, PLAIN),
            Mark::Quotes => ("»", "«"),
            Mark::Nothing => ("", ""),
        };
        self.push(&text[..start]);
        if start < end {
            self.text.push_str(open);
            self.push(&text[start..end]);
            self.text.push_str(close);
        }
        self.push(&text[end..]);
    }

    /// Prints the text.
    pub fn print(&self) -> Result<(), Failure> {
        match self.mark {
            // Control characters in foreign text were replaced when it was added.
            Mark::Colour => paged(&self.text),
            Mark::Quotes | Mark::Nothing => page(&self.text),
        }
    }

    /// Returns the text with its marks.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_marked_by_its_chars() {
        for (text, start, end, expected) in [
            ("the blue heron", 4, 8, "the »blue« heron"),
            ("日本語", 1, 2, "日»本«語"),
            ("all", 0, 3, "»all«"),
            ("past the end", 9, 99, "past the »end«"),
            ("nothing", 3, 3, "nothing"),
            ("turned", 4, 2, "turned"),
            ("far away", 50, 60, "far away"),
            ("", 0, 1, ""),
        ] {
            let mut marked = MarkedText::new(Mark::Quotes);
            marked.push_found(text, start, end);
            assert_eq!(marked.text(), expected);
        }
    }

    #[test]
    fn only_herma_changes_colours() {
        let mut marked = MarkedText::new(Mark::Colour);
        marked.push("\u{1b}[2J");
        marked.push_found("a\u{7}b", 1, 2);
        assert_eq!(marked.text(), "␛[2Ja\u{1b}[1;31m␇\u{1b}[0mb");
        let mut plain = MarkedText::new(Mark::Nothing);
        plain.push_found("abc", 1, 2);
        assert_eq!(plain.text(), "abc");
    }
}
