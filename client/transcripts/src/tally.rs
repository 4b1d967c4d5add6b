//! Counts of skipped records.

use std::collections::BTreeMap;

/// The most kinds that are counted separately. A file with more kinds is not a transcript; the rest is counted as one
/// kind.
const KINDS: usize = 60;

/// The most chars of a kind's name.
const NAME: usize = 40;

/// The kind of a line that is not valid JSON.
pub(crate) const NO_JSON: &str = "line that is not JSON";

/// The kind of a last line that its program has not finished, or that a crash cut off.
pub const UNFINISHED: &str = "incomplete last line";

/// The kind of a record that is in the file twice.
pub(crate) const TWICE: &str = "duplicate record";

/// The kinds of records with what agents note for themselves: settings, requests, costs, lists of tools, their own
/// summaries. Nobody said what is in them.
const NOTES: [&str; 27] = [
    "agent-name",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "attachment",
    "command",
    "compacted",
    "context of the client",
    "cost-state",
    "custom-title",
    "developer message",
    "event_msg",
    "file-history-snapshot",
    "last-prompt",
    "meta",
    "mode",
    "permission-mode",
    "progress",
    "queue-operation",
    "summary",
    "system",
    "token_usage_record",
    "tools-used",
    "turn_context",
    "world_state",
];

/// Returns whether records of this kind are what an agent notes for itself.
#[must_use]
pub fn is_note(kind: &str) -> bool {
    NOTES.binary_search(&kind).is_ok()
}

/// The number of skipped records of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    counts: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts one record of a kind. The name may come from a file.
    pub fn add(&mut self, kind: &str) {
        self.add_many(kind, 1);
    }

    fn add_many(&mut self, kind: &str, count: u64) {
        let kind: String = kind.chars().filter(|char| !char.is_control()).take(NAME).collect();
        let is_room = self.counts.len() < KINDS || self.counts.contains_key(&kind);
        let counted = self.counts.entry(if is_room { kind } else { "other".to_owned() }).or_default();
        *counted = counted.saturating_add(count);
    }

    /// Adds the counts of another tally.
    pub fn add_all(&mut self, other: &Self) {
        other.counts.iter().for_each(|(kind, count)| self.add_many(kind, *count));
    }

    /// Returns the number of lines that are not valid JSON, or not wholly.
    #[must_use]
    pub fn torn(&self) -> u64 {
        self.counts.get(NO_JSON).copied().unwrap_or_default()
    }

    /// Returns the kinds and their counts, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.counts.iter().map(|(kind, count)| (kind.as_str(), *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_known_by_their_kind() {
        assert!(NOTES.is_sorted() && NOTES.iter().all(|kind| is_note(kind)));
        assert!(!is_note("API error") && !is_note(NO_JSON) && !is_note(""));
    }

    #[test]
    fn kinds_are_counted_and_bounded() {
        let mut tally = Tally::default();
        for number in 0..100 {
            tally.add(&format!("kind {:02}\n{}", number % 70, "x".repeat(100)));
        }
        assert_eq!(tally.iter().map(|(_, count)| count).sum::<u64>(), 100);
        assert_eq!(tally.iter().count(), KINDS + 1);
        assert!(tally.iter().all(|(kind, _)| kind.chars().count() <= NAME && !kind.contains('\n')));
        let mut both = tally.clone();
        both.add_all(&tally);
        assert_eq!(both.iter().map(|(_, count)| count).sum::<u64>(), 200);
    }
}
