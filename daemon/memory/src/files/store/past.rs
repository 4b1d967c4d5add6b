//! Reads past states from the journal.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{DiskError, FileAction, FilePath, FileRow, FileStoreError, Files, State, StoreError};
use crate::files::row::FileChange;
use crate::journal::Journal;
use crate::journal::line::{Author, Replaced};

/// Texts by their paths.
pub(super) type Texts = BTreeMap<FilePath, Arc<str>>;

/// Creates the first row of a journal, which lists all files.
pub(super) fn found(revision: u64, time: f64, state: &State) -> FileRow {
    let change = |(path, (text, revision)): (&FilePath, &(Arc<str>, u64))| FileChange {
        path: path.clone(),
        before: None,
        after: Some(Arc::clone(text)),
        replaced: Replaced::Unknown,
        revision: Some(*revision),
    };
    let changes = state.iter().map(change).collect();
    let (folders_made, folders_gone) = (Vec::new(), Vec::new());
    FileRow {
        revision,
        time,
        action: FileAction::Found,
        author: Author::default(),
        changes,
        folders_made,
        folders_gone,
    }
}

/// Applies the rows of a journal up to a revision, and returns the files.
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

/// Returns all texts at a revision.
pub(super) fn texts_at(journal: &Journal<FileRow>, files: &Files, revision: u64) -> Result<Texts, FileStoreError> {
    let not_kept = |oldest: Option<u64>| {
        Err(FileStoreError::NotKept { revision, kept: oldest.map(|oldest| (oldest, files.revision)) })
    };
    let mut texts: Texts = files.files.iter().map(|(path, file)| (path.clone(), Arc::clone(&file.text))).collect();
    // The texts are from the revision `at`.
    let mut at = files.revision;
    if revision > at || journal.newest().is_none() {
        return not_kept(journal.newest().map(|_| at));
    }
    for mark in journal.marks().rev() {
        // A missing row, or a row that lists the found files, has no texts from before it.
        if at == revision || mark.revision != at {
            break;
        }
        let row = journal.row_at(mark).map_err(unreadable)?;
        if row.action == FileAction::Found {
            break;
        }
        for change in row.changes {
            match change.before {
                Some(text) => drop(texts.insert(change.path, text)),
                None => drop(texts.remove(&change.path)),
            }
        }
        at = mark.revision.saturating_sub(1);
    }
    if at == revision { Ok(texts) } else { not_kept(Some(at)) }
}

pub(super) fn unreadable(error: DiskError) -> StoreError {
    StoreError::Unreadable { path: error.path, reason: error.source.to_string() }
}
