//! What the user said, for looking quotations up.

use memchr::memmem::Finder;

use super::{Span, quotes, sections};
use crate::handoff;
use crate::message::{Message, Role};
use crate::redaction::Redaction;
use crate::text::collapse;

/// What a quotation may leave words out with, and what masks and placeholders look like in one.
const ELISIONS: [&str; 7] = ["[...]", "[truncated]", "...", "…", "[REDACTED]", "[media attachment]", "***"];
/// What a quotation may have at its end although it was not said.
const END_SIGNS: [char; 7] = [',', '.', ';', ':', '!', '?', '。'];
/// What joins the pieces of a quotation while it is taken apart; no text has it.
const GAP: char = '\u{0}';

/// The words of the user, each text on one line.
pub(super) struct UserWords(Vec<String>);

impl UserWords {
    /// All that the user is known to have said in the span: the user's turns, the rules, and what
    /// an earlier summary quotes without a mark. What others said is not the user's, and an
    /// earlier summary may have it anywhere else.
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

    /// Whether the user said this: white space and the form of quotation marks aside exactly this,
    /// with the gaps that it shows itself.
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

    /// A turn of the user; an earlier handoff in front of the user's own words is no such words.
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
            } else if sections::is_users(heading) {
                own.push_str(line);
            }
        }
        self.add(&own);
    }
}

/// Whether all pieces occur, one behind the other.
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

/// A text on one line, with plain quotation marks and without the escapes of a defused text.
fn normalised(text: &str) -> String {
    let plain = text.replace("&lt;", "<").replace(['’', '‘'], "'").replace(['“', '”', '„'], "\"");
    collapse(&plain)
}
