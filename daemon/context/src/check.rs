//! The checks of a summary before it may replace the turns it covers.
//!
//! A model wrote it, from text that anybody may have influenced. Fixed rules repair and report some faults:
//! they defuse boundaries and role marks, mask secrets, replace sentences that the guard blocks, and mark
//! quotations that nobody said. Other faults reject the summary: it is empty, too long, or in another
//! language than the user's.
//!
//! The guard uses its scope for text that enters an agent's context. Findings of the strict scope (paths of
//! keys, names of agent files) are legitimate in a record of work.

mod boundaries;
mod language;
mod quotes;
mod script;
mod sections;
mod threats;
mod unverified;
mod user_words;

use herma_guard::Policy;

use crate::handoff;
use crate::message::Message;
use crate::redaction::Redaction;
use crate::text::thousands;

/// The most rounds of repairs; they repeat until a round changes nothing. One repair seldom makes work for
/// another (a masked secret can look like one that is masked shorter). A text that needs more rounds was
/// crafted to.
const MOST_ROUNDS: usize = 6;

/// Facts about the turns that a summary covers.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    /// The turns, of every role; the user's words come from them.
    pub turns: &'a [&'a Message],
    /// The summary so far, if the new one continues it.
    pub previous: Option<&'a str>,
    /// The standing rules of the user, verbatim.
    pub constraints: &'a [&'a str],
    /// Chars of the text that the summary replaces, an earlier summary included.
    pub replaced_chars: usize,
    /// The policy for the guard's findings: a blocked finding is replaced, a warning is reported.
    pub policy: &'a Policy,
}

/// A summary that passed the checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The text, repaired.
    pub body: String,
    /// Quotations of the user that do not occur in the span, without their marks, in order.
    pub unverified: Vec<String>,
    /// What was repaired, and what passed with a warning, as sentences for the report. They repeat no text of
    /// the summary.
    pub warnings: Vec<String>,
}

/// The error for a summary that did not pass: a failure of the summarizer. It contains no text of the
/// summary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The summary is empty, or empty after the repairs.
    #[error("the summary is empty")]
    Empty,
    /// The summary is longer than the text it is to replace.
    #[error("the summary has {} chars, more than the {} that it replaces", thousands(*.chars), thousands(*.replaced_chars))]
    TooLong {
        /// Chars of the summary.
        chars: usize,
        /// Chars of what it replaces.
        replaced_chars: usize,
    },
    /// The summary is in another language than the user's.
    #[error("the summary is written in {got}, but the user writes in {expected}")]
    Language {
        /// The user's language, or the user's script if only that is known.
        expected: &'static str,
        /// The summary's language.
        got: &'static str,
    },
    /// The repairs do not end.
    #[error("the summary cannot be repaired")]
    Unrepairable,
}

/// Checks a summary, and repairs it where possible. A summary that passed once passes again unchanged.
pub fn check(body: &str, facts: &Span<'_>) -> Result<Checked, Refused> {
    let body = handoff::strip(body);
    refuse_length(body, facts)?;
    let said = user_words::UserWords::of(facts);
    let mut checked = Checked { body: body.to_owned(), unverified: Vec::new(), warnings: Vec::new() };
    if !(0..MOST_ROUNDS).any(|_| checked.repair(facts.policy, &said) == Round::ChangedNothing) {
        return Err(Refused::Unrepairable);
    }
    checked.note_unverified();
    refuse_length(&checked.body, facts)?;
    if sections::is_bare(&checked.body) {
        return Err(Refused::Empty);
    }
    match language::mismatch(&checked.body, facts.turns) {
        Some((expected, got)) => Err(Refused::Language { expected, got }),
        None => Ok(checked),
    }
}

fn refuse_length(body: &str, facts: &Span<'_>) -> Result<(), Refused> {
    let (chars, replaced_chars) = (body.chars().count(), facts.replaced_chars);
    match chars {
        0 => Err(Refused::Empty),
        _ if chars > replaced_chars => Err(Refused::TooLong { chars, replaced_chars }),
        _ => Ok(()),
    }
}

/// The result of a round of repairs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    ChangedNothing,
    ChangedSomething,
}

impl Checked {
    /// Runs all repairs once.
    fn repair(&mut self, policy: &Policy, said: &user_words::UserWords) -> Round {
        let before = std::mem::take(&mut self.body);
        let text = boundaries::defused(&before, &mut self.warnings);
        let masked = Redaction::On.apply(&text);
        if masked != text {
            self.warnings.push("secrets were masked".to_owned());
        }
        let text = threats::replaced(&masked, policy, &mut self.warnings);
        let marked = unverified::marked(text.trim(), said);
        self.body = marked.text;
        self.unverified = marked.unverified;
        if self.body == before { Round::ChangedNothing } else { Round::ChangedSomething }
    }

    fn note_unverified(&mut self) {
        if !self.unverified.is_empty() {
            let count = self.unverified.len();
            self.warnings.push(format!("quotations of the user that do not occur in the turns, marked: {count}"));
        }
        let mut seen = std::collections::HashSet::new();
        self.warnings.retain(|warning| seen.insert(warning.clone()));
    }
}

#[cfg(test)]
mod tests;
