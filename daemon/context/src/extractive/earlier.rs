//! The parts of an earlier summary that the next one continues.

use super::{ACTIONS, BLOCKED, CONSTRAINTS, CONTEXT, DECISIONS, FILES, GOAL, NOTHING, RESOLVED, STATE, TURNS};
use crate::constants::{IN_PROGRESS_HEADING, PENDING_HEADING, REMAINING_HEADING, TASK_HEADING};
use crate::text::cut_with;

/// The most chars of a continued line.
const LINE_CHARS: usize = 600;

/// Sentences of the records themselves. Each record writes them itself, so they are not continued.
pub(super) const OWN_CHOSEN: &str =
    "This record was made without a model, from the turns themselves; read the goal from the user's words in it.";
pub(super) const OWN_FAILED: &str =
    "This is a deterministic fallback record, made without a model; read the goal from the user's words in it.";
pub(super) const OWN_EARLIER: &str = "An earlier summary exists and is carried on here.";
pub(super) const OWN_FIRST: &str = "There is no earlier summary.";
/// The sentence for requests that are quoted elsewhere in the handoff.
pub(super) const OWN_ASKS: &str = "The requests stand with the user's own words below.";
pub(super) const OWN_COUNT: &str = "This record stands for";
pub(super) const OWN_UNAVAILABLE: &str = "Summary generation was unavailable";

/// The parts of an earlier summary, newest item first.
#[derive(Debug, Default)]
pub(super) struct EarlierSummary {
    pub(super) asks: Vec<String>,
    pub(super) actions: Vec<String>,
    pub(super) blocked: Vec<String>,
    pub(super) files: Vec<String>,
    /// Heading, newline, line; in their order.
    pub(super) notes: Vec<String>,
}

impl EarlierSummary {
    /// Reads a summary of any form; lines without a known heading count as critical context.
    pub(super) fn read(text: &str) -> Self {
        let mut out = Self::default();
        let mut heading = CONTEXT;
        for line in text.lines().map(str::trim) {
            if line.starts_with("## ") {
                heading = known(line);
            } else if says_something(line) {
                out.take(heading, &cut_with(line, LINE_CHARS, " ..."));
            }
        }
        for list in [&mut out.asks, &mut out.actions, &mut out.blocked, &mut out.files] {
            list.reverse();
        }
        out
    }

    fn take(&mut self, heading: &str, line: &str) {
        let item = bare(line).to_owned();
        match heading {
            TASK_HEADING => {
                let ask = item.strip_prefix("User asked: ").unwrap_or(&item).to_owned();
                self.asks.push(ask);
            }
            // In the text the newest request comes before the older ones.
            PENDING_HEADING => {
                let newest = self.asks.len().saturating_sub(1);
                self.asks.insert(newest, item);
            }
            ACTIONS => self.actions.push(item),
            BLOCKED => self.blocked.push(item),
            FILES => self.files.push(item),
            TURNS | IN_PROGRESS_HEADING | REMAINING_HEADING => {}
            _ => self.notes.push(format!("{heading}\n{line}")),
        }
    }
}

/// Returns the heading as this module names it; unknown ones count as critical context.
fn known(line: &str) -> &'static str {
    [
        TASK_HEADING,
        GOAL,
        CONSTRAINTS,
        ACTIONS,
        STATE,
        IN_PROGRESS_HEADING,
        BLOCKED,
        DECISIONS,
        RESOLVED,
        PENDING_HEADING,
        FILES,
        REMAINING_HEADING,
        TURNS,
    ]
    .into_iter()
    .find(|heading| *heading == line)
    .unwrap_or(CONTEXT)
}

/// Returns an item without its number or dash.
fn bare(line: &str) -> &str {
    let line = line.strip_prefix("- ").unwrap_or(line);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    match digits {
        0 => line,
        _ => line.get(digits..).and_then(|rest| rest.strip_prefix(". ")).unwrap_or(line),
    }
}

fn says_something(line: &str) -> bool {
    let own = [OWN_ASKS, OWN_CHOSEN, OWN_FAILED, OWN_COUNT, OWN_UNAVAILABLE, super::UNKNOWN_TASK, super::CUT_MARK];
    !line.is_empty()
        && line != NOTHING
        && !line.trim_end_matches('.').eq_ignore_ascii_case("none")
        && !own.iter().any(|sentence| line.starts_with(sentence))
}
