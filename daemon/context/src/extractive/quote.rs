//! Quotes texts in a record: without secrets, on one line, not too long.

use std::borrow::Cow;

use crate::redaction::Redaction;
use crate::text::{collapse, cut_with, head, longer_than, tail};

/// The most chars of any text on a line.
const LINE_CHARS: usize = 700;
/// The most chars of a request or an action that stays whole.
const QUOTE_CHARS: usize = 600;
/// Chars that stay at the beginning of a longer one.
const QUOTE_HEAD: usize = 420;
/// Chars that stay at the end of a longer one.
const QUOTE_TAIL: usize = 160;
/// Chars at each end of a huge text that are examined; far more than are ever shown.
const LOOK_CHARS: usize = 8_000;

/// Writes quotations.
pub(super) struct Quoter(Redaction);

impl Quoter {
    pub(super) fn new(redaction: Redaction) -> Self {
        Self(redaction.without_model())
    }

    /// Returns the text without its secrets.
    pub(super) fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.0.apply(text)
    }

    fn one_line(&self, text: &str) -> String {
        if longer_than(text, 2 * LOOK_CHARS) {
            let ends = format!("{} ... {}", head(text, LOOK_CHARS), tail(text, LOOK_CHARS));
            collapse(&self.clean(&ends))
        } else {
            collapse(&self.clean(text))
        }
    }

    /// Returns the text on one line, with its end cut.
    pub(super) fn line(&self, text: &str) -> String {
        cut_with(&self.one_line(text), LINE_CHARS, " ...[truncated]")
    }

    /// Returns the text on one line, with its middle cut.
    pub(super) fn quote(&self, text: &str) -> String {
        let text = self.one_line(text);
        if longer_than(&text, QUOTE_CHARS) {
            format!("{} ... {}", head(&text, QUOTE_HEAD).trim_end(), tail(&text, QUOTE_TAIL).trim_start())
        } else {
            text
        }
    }
}
