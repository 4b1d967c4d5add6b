//! The user's words, in which quotations are looked up.

use memchr::memmem::Finder;

use super::{Span, quotes, sections};
use crate::handoff;
use crate::message::{Message, Role};
use crate::redaction::Redaction;
use crate::text::collapse;

/// Signs for left out words in a quotation, and masks and placeholders.
const ELISIONS: [&str; 7] = ["[...]", "[truncated]", "...", "…", "[REDACTED]", "[media attachment]", "***"];
/// Signs at the end of a quotation that need not be in the original.
const END_SIGNS: [char; 7] = [',', '.', ';', ':', '!', '?', '。'];
/// The separator of a quotation's pieces during a lookup; no text contains it.
const GAP: char = '\u{0}';

/// The words of the user, each text on one line.
pub(super) struct UserWords(Vec<String>);

impl UserWords {
    /// Returns the known words of the user in the span: the user's turns, the rules, and unmarked quotations
    /// of an earlier summary. Other text does not count, even elsewhere in an earlier summary.
    pub(super) fn of(facts: &Span<'_>) -> Self {
        let mut words = Self(Vec::new());
        for turn in facts.turns.iter().filter(|turn| *turn.role() == Role::User) {
            words.add_turn(turn);
        }
        facts.constraints.iter().for_each(|rule| words.add(rule));
        if let Some(previous) = facts.previous {
            words.add_summary(previous);
        }
        words
    }

    /// Whether the user said this. White space and the form of quotation marks don't matter, and the
    /// quotation may show gaps; the rest must be exact.
    pub(super) fn has(&self, quotation: &str) -> bool {
        let marked = ELISIONS.iter().fold(quotation.replace(GAP, " "), |text, elision| text.replace(elision, "\0"));
        let line = normalised(&marked);
        let line = line.trim_end_matches(END_SIGNS);
        let pieces: Vec<Finder<'_>> =
            line.split(GAP).map(str::trim).filter(|piece| !piece.is_empty()).map(Finder::new).collect();
        self.0.iter().any(|text| has_in_order(text, &pieces))
    }

    fn add(&mut self, text: &str) {
        let line = normalised(&Redaction::On.apply(text));
        if !line.is_empty() {
            self.0.push(line);
        }
    }

    /// Adds a turn of the user; an earlier handoff before the user's own words does not count as such.
    fn add_turn(&mut self, turn: &Message) {
        let text = turn.text();
        match handoff::is_handoff(turn).then(|| handoff::split(&text)).flatten() {
            Some(parts) => {
                self.add(&parts.rest);
                self.add_summary(&parts.body);
            }
            None => self.add(&text),
        }
    }

    fn add_summary(&mut self, summary: &str) {
        let trusted = quotes::without_marked(summary);
        for quote in quotes::quotes(&trusted) {
            self.add(trusted.get(quote.words).unwrap_or(""));
        }
        let mut heading = "";
        let mut own = String::new();
        for line in trusted.split_inclusive('\n') {
            if sections::is_heading(line) {
                heading = line;
                self.add(&std::mem::take(&mut own));
            } else if sections::is_user_section(heading) {
                own.push_str(line);
            }
        }
        self.add(&own);
    }
}

/// Whether all pieces occur, in this order.
fn has_in_order(text: &str, pieces: &[Finder<'_>]) -> bool {
    let mut rest = text.as_bytes();
    pieces.iter().all(|piece| match piece.find(rest) {
        Some(at) => {
            rest = rest.get(at + piece.needle().len()..).unwrap_or(&[]);
            true
        }
        None => false,
    })
}

/// Returns a text on one line, with plain quotation marks and without the escapes of a defused text.
fn normalised(text: &str) -> String {
    let plain = text.replace("&lt;", "<").replace(['’', '‘'], "'").replace(['“', '”', '„'], "\"");
    collapse(&plain)
}
