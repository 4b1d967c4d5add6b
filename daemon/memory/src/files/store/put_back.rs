//! Restores earlier texts from the journal.

use std::sync::Arc;

use super::past::{texts_at, unreadable};
use super::{FileAction, FilePath, FileRefusal, FileRow, FileStoreError, Files};
use crate::files::edit::{Done, Draft, Outcome, whole};
use crate::files::file_set::Place;
use crate::files::limits::FileLimits;
use crate::files::rules::{check_kept, check_room};
use crate::journal::Journal;

/// Returns the draft that undoes the newest change of a path.
pub(super) fn undo(
    journal: &Journal<FileRow>,
    files: &Files,
    path: &FilePath,
    limits: FileLimits,
) -> Result<Draft, FileStoreError> {
    let nothing = || FileStoreError::from(FileRefusal::NothingToUndo(path.clone()));
    let mut at = files.revision;
    for mark in journal.marks().rev() {
        // A row is missing, so its changes are unknown.
        if mark.revision != at {
            return Err(nothing());
        }
        at = at.saturating_sub(1);
        let row = journal.row_at(mark).map_err(unreadable)?;
        if row.action == FileAction::Found {
            return Err(nothing());
        }
        if !row.changes.iter().any(|change| concerns(path, &change.path)) {
            continue;
        }
        for change in &row.changes {
            if files.files.get(&change.path).map(|file| &*file.text) != change.after.as_deref() {
                let path = change.path.clone();
                return Err(FileRefusal::ChangedSince { revision: row.revision, path }.into());
            }
        }
        let outcomes = row.changes.into_iter().map(|change| Outcome { path: change.path, text: change.before });
        let mut draft = draft(files, outcomes.collect(), row.revision.saturating_sub(1), limits)?;
        draft.folders_gone.extend(row.folders_made.into_iter().rev());
        draft.folders_made = row.folders_gone;
        return Ok(draft);
    }
    Err(nothing())
}

/// Returns the draft that restores a path as of a revision.
pub(super) fn restore(
    journal: &Journal<FileRow>,
    files: &Files,
    path: &FilePath,
    revision: u64,
    limits: FileLimits,
) -> Result<Draft, FileStoreError> {
    let then = texts_at(journal, files, revision)?;
    let gone = files.files.keys().filter(|path| !then.contains_key(*path));
    let gone = gone.map(|path| Outcome { path: path.clone(), text: None });
    let come = then.iter().filter(|(path, text)| files.files.get(*path).is_none_or(|file| file.text != **text));
    let come = come.map(|(path, text)| Outcome { path: path.clone(), text: Some(Arc::clone(text)) });
    let outcomes: Vec<Outcome> = gone.chain(come).filter(|outcome| concerns(path, &outcome.path)).collect();
    // Folders that have no files at that revision did not exist then, or nobody knows whether they did.
    let emptied = outcomes.iter().filter(|outcome| outcome.text.is_none()).flat_map(|outcome| outcome.path.above());
    let emptied: Vec<FilePath> = emptied.collect();
    let mut draft = draft(files, outcomes, revision, limits)?;
    draft.folders_gone.extend(emptied);
    deepest_first(&mut draft.folders_gone);
    Ok(draft)
}

/// Whether a path is the wanted one or inside it.
pub(super) fn concerns(wanted: &FilePath, path: &FilePath) -> bool {
    path == wanted || path.below(wanted).is_some()
}

/// Restored texts are checked only for their size. They never replace an entry that can't be read.
fn draft(files: &Files, outcomes: Vec<Outcome>, revision: u64, limits: FileLimits) -> Result<Draft, FileStoreError> {
    let length = |outcome: &Outcome| outcome.text.as_ref().map_or(0, |text| text.len());
    let changed: Vec<(&FilePath, usize)> = outcomes.iter().map(|outcome| (&outcome.path, length(outcome))).collect();
    check_room(files, &changed, limits)?;
    let is_gone = |path: &FilePath| outcomes.iter().any(|outcome| outcome.path == *path && outcome.text.is_none());
    let mut folders_gone = Vec::new();
    for Outcome { path, .. } in outcomes.iter().filter(|outcome| outcome.text.is_some()) {
        for there in [path.clone()].into_iter().chain(path.above()) {
            match files.at(&there) {
                Place::Ignored(why) => {
                    let why = why.to_owned();
                    return Err(FileRefusal::Ignored { path: there, why }.into());
                }
                // A folder without files gives way to a file.
                Place::Folder if there == *path => {
                    check_kept(files, &there)?;
                    if files.below(&there).any(|(below, _)| !is_gone(below)) {
                        return Err(FileRefusal::Taken(there).into());
                    }
                    folders_gone.extend(whole(files, &there));
                }
                Place::File(_) if there != *path && !is_gone(&there) => {
                    return Err(FileRefusal::BelowFile { path: path.clone(), file: there }.into());
                }
                Place::Folder | Place::File(_) | Place::Nothing => {}
            }
        }
    }
    deepest_first(&mut folders_gone);
    Ok(Draft { outcomes, folders_gone, folders_made: Vec::new(), done: Done::PutBack(revision), warnings: Vec::new() })
}

fn deepest_first(folders: &mut Vec<FilePath>) {
    folders.sort_by_key(|path| (std::cmp::Reverse(path.names().count()), path.clone()));
    folders.dedup();
}
