//! What a summary has to pass before it may stand in the place of the turns it covers.
//!
//! A model wrote it, from text that anybody may have had a hand in. What can be repaired is
//! repaired by fixed rules and reported: boundaries and role marks are defused, secrets masked,
//! sentences that the guard would not let in are replaced, quotations that nobody said are marked.
//! The rest is refused: nothing, too much, another language than the user's.
//!
//! The guard looks at the scope of text that enters an agent's context. What it finds at the
//! strict scope only (paths of keys, names of agent files) belongs into honest records of work.

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

/// How often the repairs are repeated until they change nothing any more. One repair seldom makes
/// work for another (a masked secret can look like one that is masked shorter); a text that needs
/// more rounds was made to.
const MOST_ROUNDS: usize = 6;

/// What is known of the turns that a summary covers.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    /// The turns, of every role; the words of the user are taken from them.
    pub turns: &'a [&'a Message],
    /// The summary so far, if the new one continues it.
    pub previous: Option<&'a str>,
    /// The standing rules of the user, verbatim.
    pub constraints: &'a [&'a str],
    /// Chars of what the summary replaces, an earlier summary included.
    pub replaced_chars: usize,
    /// What is configured for the guard's findings: what blocks is replaced, what warns is
    /// reported.
    pub policy: &'a Policy,
}

/// A summary that passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The text, repaired.
    pub body: String,
    /// Quotations of the user that do not occur in the span, without their marks, in order.
    pub unverified: Vec<String>,
    /// What was repaired, and what was let in with a warning: sentences for the report. Nothing of
    /// the text is repeated in them.
    pub warnings: Vec<String>,
}

/// A summary that did not pass: a failure of the summarizer. Nothing of the text is in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It says nothing, or nothing once the repairs are done.
    #[error("the summary is empty")]
    Empty,
    /// It is longer than what it is to replace.
    #[error("the summary has {} chars, more than the {} that it replaces", thousands(*.chars), thousands(*.replaced_chars))]
    TooLong {
        /// Chars of the summary.
        chars: usize,
        /// Chars of what it replaces.
        replaced_chars: usize,
    },
    /// It is written in another language than the user's.
    #[error("the summary is written in {got}, but the user writes in {expected}")]
    Language {
        /// The user's language, or the user's script where that is all that is known.
        expected: &'static str,
        /// The summary's.
        got: &'static str,
    },
    /// The repairs do not come to an end.
    #[error("the summary cannot be repaired")]
    Unrepairable,
}

/// Checks a summary, and repairs it where that is possible. What passed once passes again, and is
/// not changed by that.
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

/// What a round of repairs did.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    ChangedNothing,
    ChangedSomething,
}

impl Checked {
    /// One round of all repairs.
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
