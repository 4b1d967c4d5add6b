//! Searching a text for the threat patterns.
//!
//! Each pattern is a regular expression of its own, built when a text first holds all the words
//! it cannot do without ([`prefilter`]); a clean text is read once and builds nothing. A search
//! asks for one match only, which the regex engine finds in linear time.

use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};

use crate::finding::Hit;
use crate::{FindingId, Scope};

mod prefilter;
mod table;

/// Upper bound of one compiled expression, in bytes; the largest here takes about a twentieth.
/// An expression over it would fail its first use, which the tests make.
const SIZE_LIMIT: usize = 16 << 20;

/// Upper bound of one expression's table of visited states, in bytes. The engine fills it only
/// as far as a text demands, and drops to a hundredfold slower search where it overflows.
const DFA_SIZE_LIMIT: usize = 8 << 20;

/// One row of the table.
struct Pattern {
    /// The name it is reported under.
    id: FindingId,
    /// The smallest scope that looks for it.
    scope: Scope,
    /// Lower-case words without which it cannot match: one of every group must be in the text.
    needs: &'static [&'static [&'static str]],
    /// What it looks for, in the notation of [`expand`].
    expression: &'static str,
    /// The expression, built at first need.
    compiled: OnceLock<Regex>,
}

impl Pattern {
    const fn new(
        id: &'static str,
        scope: Scope,
        needs: &'static [&'static [&'static str]],
        expression: &'static str,
    ) -> Self {
        Self { id: FindingId::new(id), scope, needs, expression, compiled: OnceLock::new() }
    }

    /// The first place where the pattern matches, without the space or the edges of words round it.
    fn locate(&self, text: &str) -> Option<Hit> {
        let regex = self.compiled.get_or_init(|| compile(&expand(self.expression)));
        let mut bytes = regex.find(text)?.range();
        let start_edge = self.expression.contains(WORD_START);
        let end_edge = self.expression.contains(WORD_END);
        let outside = &text[bytes.clone()];
        let inside = outside.trim_start_matches(|c| start_edge && is_no_word_char(c));
        bytes.start += outside.len() - inside.len();
        let inside = inside.trim_end_matches(|c: char| c.is_whitespace() || (end_edge && is_no_word_char(c)));
        bytes.end = bytes.start + inside.len();
        Some(Hit { id: self.id, bytes })
    }
}

/// The first hit of every pattern of `scope`, in the table's order, found as they are asked for.
pub(crate) fn find(text: &str, scope: Scope) -> impl Iterator<Item = Hit> {
    let words = prefilter::words_of(text);
    table::PATTERNS
        .iter()
        .filter(move |pattern| pattern.scope <= scope && words.allow(pattern))
        .filter_map(move |pattern| pattern.locate(text))
}

pub(crate) fn ids() -> impl Iterator<Item = FindingId> {
    table::PATTERNS.iter().map(|pattern| pattern.id)
}

/// A case-blind regular expression of this crate's own.
#[expect(clippy::expect_used, reason = "the expressions are constants, each compiled by a test")]
pub(crate) fn compile(expression: &str) -> Regex {
    RegexBuilder::new(expression)
        .case_insensitive(true)
        .size_limit(SIZE_LIMIT)
        .dfa_size_limit(DFA_SIZE_LIMIT)
        .build()
        .expect("a constant expression is well-formed")
}

/// The edges of a word in the notation of [`expand`].
const WORD_START: &str = r"\<";
const WORD_END: &str = r"\>";

/// Writes out the shorthand of the table: a space is any white space, ` … ` a filler (any number
/// of words, white space after each), `\h` one white space within the line, `\<` and `\>` the
/// edges of a word.
///
/// The edges consume the character beyond them: an assertion would make the engine give up its
/// fast search wherever the text is not ASCII, and a capturing group round what is to be reported
/// would make it build a second, larger automaton.
fn expand(expression: &str) -> String {
    expression
        .replace(" … ", r" (?:\w+ )*?")
        .replace(' ', r"\s+")
        .replace(r"\h", r"[\s&&[^\n]]")
        .replace(WORD_START, r"(?:^|\W)")
        .replace(WORD_END, r"(?:\W|$)")
}

fn is_no_word_char(c: char) -> bool {
    !c.is_alphanumeric() && c != '_'
}
