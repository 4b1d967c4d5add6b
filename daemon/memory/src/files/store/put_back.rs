//! Earlier texts from the journal.

use std::sync::Arc;

use super::past::{texts_at, unreadable};
use super::{FileAction, FileDenied, FilePath, FileRefusal, FileRow, Files};
use crate::files::edit::{Done, Draft, Outcome};
use crate::files::held::Place;
use crate::journal::Journal;

/// What takes the newest change of a path back, and its revision.
pub(super) fn undo(journal: &Journal<FileRow>, files: &Files, path: &FilePath) -> Result<(Draft, u64), FileDenied> {
    let nothing = || FileDenied::from(FileRefusal::NothingToUndo(path.clone()));
    for mark in journal.marks().rev() {
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
        return Ok((draft(files, outcomes.collect(), row.revision.saturating_sub(1))?, row.revision));
    }
    Err(nothing())
}

/// What puts a path back as it was at a revision.
pub(super) fn restore(
    journal: &Journal<FileRow>,
    files: &Files,
    path: &FilePath,
    revision: u64,
) -> Result<Draft, FileDenied> {
    let then = texts_at(journal, files, revision)?;
    let gone = files.files.keys().filter(|path| !then.contains_key(*path));
    let gone = gone.map(|path| Outcome { path: path.clone(), text: None });
    let come = then.iter().filter(|(path, text)| files.files.get(*path).is_none_or(|file| file.text != **text));
    let come = come.map(|(path, text)| Outcome { path: path.clone(), text: Some(Arc::clone(text)) });
    let outcomes = gone.chain(come).filter(|outcome| concerns(path, &outcome.path)).collect();
    draft(files, outcomes, revision)
}

/// Whether a path is this one, or in this folder.
pub(super) fn concerns(wanted: &FilePath, path: &FilePath) -> bool {
    path == wanted || path.below(wanted).is_some()
}

/// What is put back is not judged anew; but nothing takes the place of what can't be read.
fn draft(files: &Files, outcomes: Vec<Outcome>, revision: u64) -> Result<Draft, FileDenied> {
    for Outcome { path, text } in &outcomes {
        let in_the_way = [path.clone()].into_iter().chain(path.above());
        for there in in_the_way.filter(|_| text.is_some()) {
            match files.at(&there) {
                Place::Unkept(why) => {
                    let why = why.to_owned();
                    return Err(FileRefusal::Unkept { path: there, why }.into());
                }
                Place::Folder if there == *path => return Err(FileRefusal::Taken(there).into()),
                Place::File(_) if there != *path && !outcomes.iter().any(|gone| gone.path == there) => {
                    return Err(FileRefusal::BelowFile { path: path.clone(), file: there }.into());
                }
                Place::Folder | Place::File(_) | Place::Nothing => {}
            }
        }
    }
    let mut folders_gone: Vec<FilePath> =
        outcomes.iter().filter(|outcome| outcome.text.is_none()).flat_map(|outcome| outcome.path.above()).collect();
    folders_gone.sort_by_key(|path| std::cmp::Reverse(path.names().count()));
    folders_gone.dedup();
    Ok(Draft { outcomes, folders_gone, folders_made: Vec::new(), done: Done::PutBack(revision), warnings: Vec::new() })
}
