//! Reasons to refuse a change, in words that a model can act on.

use std::path::PathBuf;

use herma_guard::{Finding, Policy, Severity, threat_message};

use crate::bound::MARK;
use crate::render::shown;
use crate::target::Target;
use crate::usage::{Thousands, Usage};

/// Chars of the preview of an entry that `old_text` may mean.
const PREVIEW: usize = 80;

/// Chars of the caller's own text that an error repeats.
const ECHO: usize = 200;

/// The reason why a change is refused. Its display text is the `error` of the write result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The content to add is empty.
    #[error("content is empty; give the text of the new entry")]
    EmptyContent,
    /// The replacement text is empty.
    #[error("content is empty; to delete an entry use the action remove")]
    EmptyReplacement,
    /// The text to look for is empty.
    #[error("old_text is empty; give a part of the entry that no other entry has")]
    EmptyOldText,
    /// The batch has no operation.
    #[error("operations is empty; give at least one")]
    EmptyBatch,
    /// Reading the file again would split the text into several entries.
    #[error(
        "an entry can't have a line that is only \"§\", because that line separates entries; leave it out or add several entries"
    )]
    Delimiter,
    /// The change would remove entries that it does not name.
    #[error(
        "the change would take away entries that it does not name, so nothing was written; that is a fault of herma"
    )]
    Loss,
    /// The text has a character that would control a terminal.
    #[error(
        "content has the control character U+{:04X} at char {at}; of those an entry can only have tabs and newlines",
        u32::from(*char)
    )]
    Control {
        /// The character.
        char: char,
        /// The number of chars before it.
        at: usize,
    },
    /// The guard found something in the text.
    #[error("{message}")]
    Poisoned {
        /// The guard's message.
        message: String,
        /// The guard's findings.
        findings: Vec<Finding>,
    },
    /// No entry contains the text.
    #[error(
        "no entry contains {:?}; look at the current entries and give a part of one of them, copied exactly",
        echo(old_text)
    )]
    NoMatch {
        /// The text that was looked for.
        old_text: String,
    },
    /// Several entries contain the text.
    #[error("Multiple entries contain {:?}; be more specific so that only one of them is meant", echo(old_text))]
    Several {
        /// The text that was looked for.
        old_text: String,
        /// The beginnings of those entries.
        matches: Vec<String>,
    },
    /// The store would be too long.
    #[error(
        "{what} would exceed the limit of {} chars by {}: {target} holds {} chars and would hold {}. Consolidate in this same turn: merge entries with replace or drop stale ones with remove until at least {} chars are free, then retry",
        Thousands(*limit), Thousands(total - limit), Thousands(*current), Thousands(*total), Thousands(total - limit),
        what = if *adding { "adding this entry" } else { "this change" }
    )]
    Overflow {
        /// The store.
        target: Target,
        /// Current number of chars.
        current: usize,
        /// Chars after the change.
        total: usize,
        /// Maximum number of chars.
        limit: usize,
        /// Whether the change only adds an entry.
        adding: bool,
    },
    /// An entry is longer than the whole limit, so another program wrote it.
    #[error(
        "{} was changed by another program: it has an entry of {} chars, more than the whole limit of {}. Nothing was written. {}",
        target.file_name(), Thousands(*longest), Thousands(*limit), copy_of(backup.as_ref())
    )]
    Drift {
        /// The store.
        target: Target,
        /// Chars of its longest entry.
        longest: usize,
        /// Maximum number of chars of the whole store.
        limit: usize,
        /// The path of the backup, or the reason why there is none.
        backup: Option<Result<PathBuf, String>>,
    },
    /// A batch would empty the store.
    #[error(
        "these operations would leave the store empty, which a batch may not do; keep at least one entry, or set allow_empty if a person asked for it"
    )]
    WouldEmpty,
    /// A change affects both shared and host-bound entries.
    #[error(
        "this changes entries that all hosts share and entries that begin with {MARK:?} and stay on this host; change them one after the other: first what stays here, then what is shared"
    )]
    Mixed,
    /// One operation of a batch is refused, so all are.
    #[error("operation {number}: {}. None of the operations was applied", refusal.to_string().trim_end_matches('.'))]
    Operation {
        /// The operation's number, from 1.
        number: usize,
        /// The reason.
        refusal: Box<Self>,
    },
    /// The journal has no change to undo.
    #[error("there is nothing to undo: the journal has no earlier text of {}", target.file_name())]
    NothingToUndo {
        /// The store.
        target: Target,
    },
    /// A later change replaced or removed an entry that the change to revert added.
    #[error(
        "revision {revision} can't be reverted: it added {entry:?}, which a later change replaced or removed. Change the entry itself, or restore an earlier revision"
    )]
    ChangedLater {
        /// The revision to revert.
        revision: u64,
        /// The beginning of the entry.
        entry: String,
    },
    /// The write can't be staged for approval.
    #[error("{0}")]
    NotStaged(String),
    /// The model's arguments are wrong.
    #[error("{0}")]
    Arguments(String),
}

impl Refusal {
    pub(crate) fn poisoned(target: Target, text: &str, findings: Vec<Finding>) -> Self {
        let first = findings.iter().find(|finding| finding.severity == Severity::Block);
        let message = first.map(|finding| threat_message(finding, text));
        let message =
            message.unwrap_or_else(|| format!("Blocked: this text may not be written to {}", target.file_name()));
        Self::Poisoned { message, findings }
    }

    pub(crate) fn several<'a>(
        policy: &Policy,
        target: Target,
        old_text: &str,
        entries: impl Iterator<Item = &'a str>,
    ) -> Self {
        let matches = entries.map(|entry| preview(&shown(policy, target, entry))).collect();
        Self::Several { old_text: old_text.to_owned(), matches }
    }

    pub(crate) fn changed_later(policy: &Policy, target: Target, revision: u64, entry: &str) -> Self {
        Self::ChangedLater { revision, entry: preview(&shown(policy, target, entry)) }
    }

    pub(crate) fn in_operation(self, number: usize) -> Self {
        Self::Operation { number, refusal: Box::new(self) }
    }

    /// Returns the refusal without the number of its operation.
    #[must_use]
    pub fn root(&self) -> &Self {
        match self {
            Self::Operation { refusal, .. } => refusal.root(),
            other => other,
        }
    }

    /// Returns the store's usage for an overflow.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        match self.root() {
            Self::Overflow { current, limit, .. } => Some(Usage { chars: *current, limit: *limit }),
            _ => None,
        }
    }

    /// Returns how many chars must be freed before the same change fits.
    #[must_use]
    pub fn over_by(&self) -> Option<usize> {
        match self.root() {
            Self::Overflow { total, limit, .. } => Some(total - limit),
            _ => None,
        }
    }

    /// Returns advice for a person about a drifted store.
    #[must_use]
    pub fn remediation(&self) -> Option<String> {
        match self.root() {
            Self::Drift { target, .. } => Some(format!(
                "Edit {} so that every entry is short enough, with a line that is only \"§\" between entries; or repeat the call with allow_drift to change it as it is.",
                target.file_name()
            )),
            _ => None,
        }
    }
}

fn copy_of(backup: Option<&Result<PathBuf, String>>) -> String {
    match backup {
        Some(Ok(path)) => format!("A copy is at {}", path.display()),
        Some(Err(reason)) => format!("A copy could not be made: {reason}"),
        None => "The file was left as it is".into(),
    }
}

fn preview(entry: &str) -> String {
    cut(entry, PREVIEW)
}

fn echo(text: &str) -> String {
    cut(text, ECHO)
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overflow_says_what_to_free() {
        let refusal =
            Refusal::Overflow { target: Target::Memory, current: 2100, total: 2311, limit: 2200, adding: true };
        let words = refusal.to_string();
        for needed in ["would exceed the limit", "2,200", "by 111", "replace", "remove", "retry"] {
            assert!(words.contains(needed), "{words}");
        }
        assert_eq!(refusal.over_by(), Some(111));
        assert_eq!(refusal.usage().map(Usage::fraction), Some("2,100/2,200".into()));
    }

    #[test]
    fn previews_are_cut_at_chars() {
        let entry = "é".repeat(81);
        let refusal = Refusal::several(&Policy::default(), Target::User, "é", [entry.as_str(), "é"].into_iter());
        let expected = vec![format!("{}...", "é".repeat(80)), "é".to_owned()];
        assert!(refusal.to_string().starts_with("Multiple"));
        assert_eq!(refusal, Refusal::Several { old_text: "é".into(), matches: expected });
    }
}
