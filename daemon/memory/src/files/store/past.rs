//! What the journal says of the past.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{DiskError, FileAction, FileDenied, FilePath, FileRow, Files, State, StoreError};
use crate::files::row::FileChange;
use crate::journal::Journal;
use crate::journal::line::{Author, Replaced};

/// Texts by their paths.
pub(super) type Texts = BTreeMap<FilePath, Arc<str>>;

/// The row that a journal begins with.
pub(super) fn found(revision: u64, time: f64, state: &State) -> FileRow {
    let change = |(path, (text, revision)): (&FilePath, &(Arc<str>, u64))| FileChange {
        path: path.clone(),
        before: None,
        after: Some(Arc::clone(text)),
        replaced: Replaced::Unknown,
        revision: Some(*revision),
    };
    let changes = state.iter().map(change).collect();
    FileRow { revision, time, action: FileAction::Found, author: Author::default(), changes }
}

/// What the rows of a journal come to, up to a revision.
pub(super) fn state(journal: &Journal<FileRow>, up_to: Option<u64>) -> Result<State, StoreError> {
    let mut state = BTreeMap::new();
    for mark in journal.marks().take_while(|mark| up_to.is_none_or(|up_to| mark.revision <= up_to)) {
        let row = journal.row_at(mark).map_err(unreadable)?;
        if row.action == FileAction::Found {
            state.clear();
        }
        for change in row.changes {
            match change.after {
                Some(text) => drop(state.insert(change.path, (text, change.revision.unwrap_or(row.revision)))),
                None => drop(state.remove(&change.path)),
            }
        }
    }
    Ok(state)
}

/// All texts as they were at a revision.
pub(super) fn texts_at(journal: &Journal<FileRow>, files: &Files, revision: u64) -> Result<Texts, FileDenied> {
    let first = journal.marks().next().map(|mark| journal.row_at(mark)).transpose().map_err(unreadable)?;
    // A change says what was before it; what was found does not.
    let oldest = first.map(|row| row.revision - u64::from(row.action != FileAction::Found));
    let kept = oldest.map(|oldest| (oldest, files.revision));
    if kept.is_none_or(|(oldest, newest)| !(oldest..=newest).contains(&revision)) {
        return Err(FileDenied::NotKept { revision, kept });
    }
    let mut texts: Texts = files.files.iter().map(|(path, file)| (path.clone(), Arc::clone(&file.text))).collect();
    for mark in journal.marks().rev().take_while(|mark| mark.revision > revision) {
        for change in journal.row_at(mark).map_err(unreadable)?.changes {
            match change.before {
                Some(text) => drop(texts.insert(change.path, text)),
                None => drop(texts.remove(&change.path)),
            }
        }
    }
    Ok(texts)
}

pub(super) fn unreadable(error: DiskError) -> StoreError {
    StoreError::Unreadable { path: error.path, reason: error.source.to_string() }
}
