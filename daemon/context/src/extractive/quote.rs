//! Texts as they are quoted in a record: masked, on one line, not too long.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::redaction::Redaction;
use crate::text::{collapse, cut_with, head, longer_than, tail};

/// Chars of any text on a line.
const LINE_CHARS: usize = 700;
/// Chars of a request or an action that stay whole.
const QUOTE_CHARS: usize = 600;
/// Chars of a longer one that stay at its beginning.
const QUOTE_HEAD: usize = 420;
/// Chars of a longer one that stay at its end.
const QUOTE_TAIL: usize = 160;
/// Chars at each end of a huge text that are looked at; far more than is ever shown.
const LOOK_CHARS: usize = 8_000;

/// GitHub tokens, also those that were masked to their ends already.
static GITHUB_TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    crate::pattern(r"(?:gh[pousr]_|github_pat_)(?:[A-Za-z0-9_]{0,12}\.\.\.[A-Za-z0-9_]*|[A-Za-z0-9_]{4,})")
});

/// Makes quotations.
pub(super) struct Quoter(Redaction);

impl Quoter {
    pub(super) fn new(redaction: Redaction) -> Self {
        Self(redaction)
    }

    /// The text with secrets masked.
    pub(super) fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.0 == Redaction::Off {
            return Cow::Borrowed(text);
        }
        match GITHUB_TOKEN.replace_all(text, "[REDACTED]") {
            Cow::Borrowed(text) => self.0.apply(text),
            Cow::Owned(text) => Cow::Owned(self.0.apply(&text).into_owned()),
        }
    }

    fn one_line(&self, text: &str) -> String {
        match longer_than(text, 2 * LOOK_CHARS) {
            true => {
                let ends = format!("{} ... {}", head(text, LOOK_CHARS), tail(text, LOOK_CHARS));
                collapse(&self.masked(&ends))
            }
            false => collapse(&self.masked(text)),
        }
    }

    /// The text on one line, its end cut.
    pub(super) fn line(&self, text: &str) -> String {
        cut_with(&self.one_line(text), LINE_CHARS, " ...[truncated]")
    }

    /// The text on one line, its middle cut.
    pub(super) fn quote(&self, text: &str) -> String {
        let text = self.one_line(text);
        match longer_than(&text, QUOTE_CHARS) {
            true => format!("{} ... {}", head(&text, QUOTE_HEAD).trim_end(), tail(&text, QUOTE_TAIL).trim_start()),
            false => text,
        }
    }
}
