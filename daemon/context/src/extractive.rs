//! A summary without a model: the sections of the prompt, filled with quotations, counts and lists.

mod allot;
mod digest;
mod earlier;
mod files;
mod gather;
mod quote;

use hashbrown::HashSet;

use allot::{Pool, allot};
pub(crate) use digest::Digest;
use earlier::EarlierSummary;
use gather::{Material, gather};
use quote::Quoter;

use crate::constants::{END_MARKER, IN_PROGRESS_HEADING, PENDING_HEADING, PREFIX, REMAINING_HEADING, TASK_HEADING};
use crate::handoff;
use crate::message::Message;
use crate::redaction::Redaction;
use crate::text::{collapse, cut_with, head, thousands};
use crate::tokens::tokens_to_chars;

/// The smallest size of a whole handoff, in chars. The item counts assume this size.
const MIN_CHARS: usize = 8_000;
/// The newlines between the parts of the frame.
const FRAME_LINES: usize = 3;
/// The smallest room for the record when other sections are appended.
const MIN_BODY_CHARS: usize = 2_000;
/// Chars that a record loses at its end if it is still too long, the mark included.
const CUT_CHARS: usize = 42;
/// A record with fewer chars than this is left empty.
const MIN_RECORD_CHARS: usize = 120;
/// The mark at the end of a cut record.
const CUT_MARK: &str = "...[fallback summary truncated]";
/// The most chars of a failure's reason in the record.
const REASON_CHARS: usize = 220;

const GOAL: &str = "## Goal";
const CONSTRAINTS: &str = "## Constraints & Preferences";
const ACTIONS: &str = "## Completed Actions";
const STATE: &str = "## Active State";
const BLOCKED: &str = "## Blocked";
const DECISIONS: &str = "## Key Decisions";
const RESOLVED: &str = "## Resolved Questions";
const FILES: &str = "## Relevant Files";
const TURNS: &str = "## Last Dropped Turns";
const CONTEXT: &str = "## Critical Context";
/// The text below a heading without content.
const NOTHING: &str = "None recorded.";

/// The input of a record.
pub struct Extract<'a> {
    /// The turns to cover, pruned. Secrets in them are removed as far as the guard can still recognise them.
    pub turns: &'a [Message],
    /// The same turns before pruning.
    pub originals: &'a [&'a Message],
    /// The messages in the list after the handoff; the record does not repeat their texts.
    pub tail: &'a [Message],
    /// The summary so far.
    pub previous: Option<&'a str>,
    /// Tokens that the summary may take.
    pub budget_tokens: u64,
    /// Chars of the sections appended to the record, which reduce its room.
    pub reserved_chars: usize,
    /// The user's words as quoted after the record. The record does not list them as pending asks.
    pub said: &'a str,
    /// How many messages the handoff replaces.
    pub dropped: usize,
    /// Why no model writes the summary.
    pub reason: Reason<'a>,
    /// Whether secrets are masked.
    pub redaction: Redaction,
    /// Which sections the record has.
    pub skeleton: Skeleton,
}

/// Which sections a record has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Skeleton {
    /// All sections of the skeleton, in their order.
    #[default]
    Whole,
    /// Only sections that say something which the user's words after the record do not: for a handoff without
    /// room for more.
    Short,
}

/// Why a record is made without a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason<'a> {
    /// The session's configuration selects it.
    Chosen,
    /// A model failed, for this reason.
    Failed(&'a str),
}

impl Extract<'_> {
    /// Returns the most chars of the whole handoff, prefix and end marker included.
    fn handoff_chars(&self) -> usize {
        tokens_to_chars(self.budget_tokens).max(MIN_CHARS)
    }

    /// Returns the most chars of the record.
    fn body_chars(&self) -> usize {
        let frame = PREFIX.chars().count() + END_MARKER.chars().count() + FRAME_LINES;
        let least = match self.skeleton {
            Skeleton::Whole => MIN_BODY_CHARS,
            Skeleton::Short => 0,
        };
        self.handoff_chars().saturating_sub(frame + self.reserved_chars).max(least)
    }

    /// Scales an item count to the budget.
    fn scaled(&self, count: usize) -> usize {
        count.saturating_mul(self.handoff_chars()) / MIN_CHARS
    }

    /// Writes the record.
    pub fn write(&self) -> String {
        let quoter = Quoter::new(self.redaction);
        let mut found = gather(self, &quoter);
        if let Some(previous) = self.previous {
            let quoted = quoter.clean(previous);
            let mut earlier = EarlierSummary::read(&quoted);
            let said = collapse(self.said);
            earlier.asks.retain(|ask| !is_said(ask, &said));
            found.append(earlier, &self.kept_items(&quoter), |count| self.scaled(count));
        }
        if self.skeleton == Skeleton::Short {
            let said = collapse(self.said);
            found.last.retain(|turn| !is_said(turn.strip_prefix("USER: ").unwrap_or(turn), &said));
        }
        let fixed = self.render(&Material::bare(&found), &quoter).chars().count();
        let room = self.body_chars().saturating_sub(fixed);
        let mut pools = [
            Pool::new(22, &mut found.asks),
            Pool::new(30, &mut found.actions),
            Pool::new(12, &mut found.blocked),
            Pool::new(10, &mut found.files),
            Pool::new(14, &mut found.notes),
            Pool::new(12, &mut found.last),
        ];
        allot(room, &mut pools);
        self.bounded(self.render(&found, &quoter))
    }

    /// Returns the items that the messages of the tail would make.
    fn kept_items(&self, quoter: &Quoter) -> HashSet<String> {
        let texts = self.tail.iter().map(Message::text).filter(|text| !text.trim().is_empty());
        let quotes = texts.map(|text| quoter.quote(&text));
        quotes.flat_map(|quote| [format!("'{quote}'"), quote]).collect()
    }

    fn bounded(&self, text: String) -> String {
        let limit = self.body_chars();
        if text.chars().count() <= limit {
            return text;
        }
        if self.skeleton == Skeleton::Short {
            return handoff::whole_sections(&text, limit);
        }
        if limit < MIN_RECORD_CHARS {
            return String::new();
        }
        let kept = head(&text, limit.saturating_sub(CUT_CHARS)).trim_end();
        format!("{kept}\n{CUT_MARK}")
    }

    fn render(&self, found: &Material, quoter: &Quoter) -> String {
        let is_whole = self.skeleton == Skeleton::Whole;
        // A sentence of the record about itself.
        let own = |text: String| if is_whole { text } else { NOTHING.to_owned() };
        let own_with_notes =
            |text: String, heading| if is_whole { with_notes(text, found, heading) } else { noted(found, heading) };
        let sections = [
            (TASK_HEADING, found.task.clone().unwrap_or_else(|| UNKNOWN_TASK.to_owned())),
            (GOAL, own_with_notes(self.goal(), GOAL)),
            (CONSTRAINTS, noted(found, CONSTRAINTS)),
            (ACTIONS, numbered(&found.actions)),
            (STATE, noted(found, STATE)),
            (IN_PROGRESS_HEADING, found.in_progress.clone().unwrap_or_else(|| NOTHING.to_owned())),
            (BLOCKED, bullets(&found.blocked)),
            (DECISIONS, noted(found, DECISIONS)),
            (RESOLVED, noted(found, RESOLVED)),
            (PENDING_HEADING, if found.asks.is_empty() { own(self.no_asks()) } else { bullets(&found.asks) }),
            (FILES, bullets(&found.files)),
            (REMAINING_HEADING, own("Not known; ask the user or read the latest message.".to_owned())),
            (TURNS, bullets(&found.last)),
            (CONTEXT, own_with_notes(self.context(quoter), CONTEXT)),
        ];
        let shown = sections.iter().filter(|(_, text)| is_whole || text != NOTHING);
        let blocks: Vec<String> = shown.map(|(heading, text)| format!("{heading}\n{text}")).collect();
        blocks.join("\n\n")
    }

    fn goal(&self) -> String {
        let what = match self.reason {
            Reason::Chosen => earlier::OWN_CHOSEN,
            Reason::Failed(_) => earlier::OWN_FAILED,
        };
        let before = match self.previous {
            Some(_) => earlier::OWN_EARLIER,
            None => earlier::OWN_FIRST,
        };
        format!("{what} {before}")
    }

    /// Returns the text for a record without pending asks.
    fn no_asks(&self) -> String {
        if self.said.is_empty() { NOTHING.to_owned() } else { earlier::OWN_ASKS.to_owned() }
    }

    fn context(&self, quoter: &Quoter) -> String {
        let count = thousands(self.dropped);
        match self.reason {
            Reason::Chosen => format!("{} {count} messages.", earlier::OWN_COUNT),
            Reason::Failed(why) => format!(
                "{} ({}). {} {count} messages.",
                earlier::OWN_UNAVAILABLE,
                cut_with(&quoter.line(why), REASON_CHARS, "..."),
                earlier::OWN_COUNT,
            ),
        }
    }
}

/// Whether the user's words after the record contain this ask, compared up to its first omission.
fn is_said(ask: &str, said: &str) -> bool {
    let words = ask.trim_matches('\'').split(" ... ").next().unwrap_or("");
    !words.is_empty() && said.contains(words)
}

/// The text for the task if the turns do not state one.
const UNKNOWN_TASK: &str =
    "Unknown: the replaced turns hold no request of the user that the kept ones do not hold too.";

/// Returns the items, which are stored newest first, as a numbered list, oldest first.
fn numbered(items: &[String]) -> String {
    let lines = items.iter().rev().enumerate();
    listed(lines.map(|(at, item)| format!("{}. {item}", at + 1)).collect())
}

fn bullets(items: &[String]) -> String {
    listed(items.iter().rev().map(|item| format!("- {item}")).collect())
}

fn listed(lines: Vec<String>) -> String {
    if lines.is_empty() { NOTHING.to_owned() } else { lines.join("\n") }
}

/// Returns the lines of an earlier summary below a heading.
fn notes<'a>(found: &'a Material, heading: &str) -> Vec<&'a str> {
    let below = found.notes.iter().filter_map(|note| {
        let (of, line) = note.split_once('\n')?;
        (of == heading).then_some(line)
    });
    below.collect()
}

fn noted(found: &Material, heading: &str) -> String {
    listed(notes(found, heading).into_iter().map(str::to_owned).collect())
}

fn with_notes(text: String, found: &Material, heading: &str) -> String {
    notes(found, heading).into_iter().fold(text, |all, line| all + "\n" + line)
}

#[cfg(test)]
mod tests;
