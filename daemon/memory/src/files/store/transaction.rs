//! Applies a change and writes it to disk.

use std::sync::Arc;
use std::time::SystemTime;

use herma_disk::DiskError;
use herma_disk::stamp::Stamp;
use herma_disk::tree::{Change, StagedChanges};

use super::look::finish_folders;
use super::put_back::{restore, undo};
use super::{
    Answer, FileAction, FileEvent, FilePath, FileRefusal, FileRow, FileStore, FileStoreError, Files, Journalling,
    StoreError, unix_now,
};
use crate::files::edit::{Draft, Edit};
use crate::files::file_set::{FileSet, Place};
use crate::files::row::FileChange;
use crate::journal::Stage;
use crate::journal::line::{Author, Replaced};

/// Maximum attempts to apply a change while other programs change its files.
const TRIES: usize = 20;

/// A store right after a walk, ready for one change.
#[derive(Debug)]
pub struct Transaction<'a> {
    store: &'a mut FileStore,
}

/// A requested operation.
enum FileOperation<'a> {
    Edit(&'a Edit),
    Undo(&'a FilePath),
    Restore(&'a FilePath, u64),
}

impl<'a> Transaction<'a> {
    pub(super) const fn new(store: &'a mut FileStore) -> Self {
        Self { store }
    }

    /// Applies an edit. When this returns an answer, the edit is on disk.
    ///
    /// # Errors
    /// The reason why nothing was done.
    pub fn edit(self, edit: &Edit, expected: Option<u64>, author: &Author) -> Result<Answer, FileStoreError> {
        self.run(&FileOperation::Edit(edit), expected, author)
    }

    /// Undoes the newest change of a file or folder.
    ///
    /// # Errors
    /// The reason why nothing was done.
    pub fn undo(self, path: &FilePath, expected: Option<u64>, author: &Author) -> Result<Answer, FileStoreError> {
        self.run(&FileOperation::Undo(path), expected, author)
    }

    /// Restores a file or folder as of a revision.
    ///
    /// # Errors
    /// The reason why nothing was done.
    pub fn restore(
        self,
        path: &FilePath,
        revision: u64,
        expected: Option<u64>,
        author: &Author,
    ) -> Result<Answer, FileStoreError> {
        self.run(&FileOperation::Restore(path, revision), expected, author)
    }

    fn run(self, wish: &FileOperation<'_>, expected: Option<u64>, author: &Author) -> Result<Answer, FileStoreError> {
        for _ in 0..TRIES {
            let draft = self.draft(wish, expected)?;
            let before = self.store.known.as_ref().map_or(0, |files| files.revision);
            match self.store.write(wish, &draft, author) {
                Ok(Some(())) => return Ok(self.answer(wish, draft, before)),
                // Another program changed a file first. Walk the tree again, and draft the change from scratch.
                Ok(None) => drop(self.store.look(Journalling::Needed)?),
                Err(error) => {
                    self.store.forget();
                    return Err(error.into());
                }
            }
        }
        let reason = "other programs change the files all the time".to_owned();
        Err(StoreError::Unreadable { path: self.store.root().to_owned(), reason }.into())
    }

    fn draft(&self, wish: &FileOperation<'_>, expected: Option<u64>) -> Result<Draft, FileStoreError> {
        let store = &*self.store;
        let (Some(files), Some(journal)) = (&store.known, &store.journal) else {
            let reason = "it was not looked at".to_owned();
            return Err(StoreError::Unreadable { path: store.root().to_owned(), reason }.into());
        };
        check_revision(files, wish.path(), expected)?;
        match wish {
            FileOperation::Edit(edit) => Ok(edit.apply(files, store.rules())?),
            FileOperation::Undo(path) => undo(journal, files, path, store.limits),
            FileOperation::Restore(path, revision) => restore(journal, files, path, *revision, store.limits),
        }
    }

    fn answer(&self, wish: &FileOperation<'_>, draft: Draft, before: u64) -> Answer {
        let files = self.store.known.as_ref();
        let path = match wish {
            FileOperation::Edit(Edit::Rename { to, .. }) => to,
            wish => wish.path(),
        };
        Answer {
            done: draft.done,
            revision: files.map_or(0, |files| files.revision),
            own_revision: files.map_or(0, |files| files.revision_of(path)),
            is_same: files.map(|files| files.revision) == Some(before),
            warnings: draft.warnings,
        }
    }
}

impl FileOperation<'_> {
    const fn path(&self) -> &FilePath {
        match self {
            Self::Edit(edit) => edit.path(),
            Self::Undo(path) | Self::Restore(path, _) => path,
        }
    }

    const fn action(&self) -> FileAction {
        match self {
            Self::Edit(edit) => edit.action(),
            Self::Undo(_) => FileAction::Undo,
            Self::Restore(..) => FileAction::Restore,
        }
    }
}

/// Checks the expected revision. For the root, that is the newest revision of all files.
fn check_revision(files: &Files, path: &FilePath, expected: Option<u64>) -> Result<(), FileRefusal> {
    let revision = if path.is_root() { files.revision } else { files.revision_of(path) };
    match expected {
        Some(expected) if expected != revision => Err(FileRefusal::Stale { path: path.clone(), expected, revision }),
        _ => Ok(()),
    }
}

impl Stage for StagedChanges {
    type CommittedFile = Vec<Stamp>;

    fn sync(&self) -> Result<(), DiskError> {
        Self::sync(self)
    }

    fn commit(self) -> Result<Vec<Stamp>, DiskError> {
        Self::commit(self)
    }
}

impl FileStore {
    /// Writes a draft to disk. Returns `None` if a file has changed since the draft was made.
    fn write(&mut self, wish: &FileOperation<'_>, draft: &Draft, author: &Author) -> Result<Option<()>, StoreError> {
        let Some(files) = &self.known else { return Ok(None) };
        let changes: Vec<(FileChange, Option<Stamp>)> = draft
            .outcomes
            .iter()
            .map(|outcome| (outcome, files.files.get(&outcome.path)))
            .filter(|(outcome, before)| before.map(|file| &file.text) != outcome.text.as_ref())
            .map(|(outcome, before)| {
                let stamp = before.and_then(|file| file.stamp);
                let change = FileChange {
                    path: outcome.path.clone(),
                    before: before.map(|file| Arc::clone(&file.text)),
                    after: outcome.text.clone(),
                    replaced: Replaced::of(stamp.map(|stamp| stamp.modified_nanos())),
                    revision: None,
                };
                (change, stamp)
            })
            .collect();
        let missing = |path: &FilePath| !path.is_root() && matches!(files.at(path), Place::Nothing);
        let above =
            draft.outcomes.iter().filter(|outcome| outcome.text.is_some()).flat_map(|outcome| outcome.path.above());
        let mut folders_made: Vec<FilePath> = above.chain(draft.folders_made.iter().cloned()).filter(missing).collect();
        folders_made.sort();
        folders_made.dedup();
        let (changes, stamps): (Vec<FileChange>, Vec<Option<Stamp>>) = changes.into_iter().unzip();
        let row = FileRow {
            revision: files.revision + 1,
            time: unix_now(),
            action: wish.action(),
            author: author.clone(),
            changes,
            folders_made,
            folders_gone: draft.folders_gone.clone(),
        };
        if !row.changes.is_empty() {
            match self.commit(row.clone(), &stamps) {
                Err(StoreError::Disk(error)) if error.is_changed() => return Ok(None),
                committed => committed?,
            }
        }
        finish_folders(&self.tree, &row);
        Ok(Some(()))
    }

    fn commit(&mut self, row: FileRow, stamps: &[Option<Stamp>]) -> Result<(), StoreError> {
        let (Some(files), Some(journal)) = (&mut self.known, &mut self.journal) else { return Ok(()) };
        let (revision, changes) = (row.revision, row.changes.clone());
        let staged: Vec<Change<'_>> = changes
            .iter()
            .zip(stamps)
            .map(|(change, stamp)| Change {
                path: change.path.as_str(),
                content: change.after.as_deref().map(str::as_bytes),
                expected: *stamp,
            })
            .collect();
        let folders_gone: Vec<&str> = row.folders_gone.iter().map(FilePath::as_str).collect();
        let staged = self.tree.stage(&staged, &folders_gone)?;
        let paths = changes.iter().map(|change| change.path.clone()).collect();
        let event = FileEvent {
            revision,
            action: row.action.clone(),
            paths,
            session: row.author.session.clone(),
            agent: row.author.agent.clone(),
        };
        let stamps = journal.commit(vec![row], Some(staged))?.unwrap_or_default();
        if let Err(error) = journal.settle() {
            // The change is done. Without the note, only the next start checks that.
            tracing::debug!("that a change of memory files is in its place is not noted: {error}");
        }
        let (mut stamps, now) = (stamps.into_iter(), SystemTime::now());
        for change in changes {
            match change.after {
                Some(text) => {
                    let stamp = stamps.next();
                    let modified_at = stamp.map_or(0.0, |stamp| stamp.modified_at());
                    let settled = stamp.is_some_and(|stamp| stamp.is_settled(now));
                    files.files.insert(change.path, FileSet { text, revision, modified_at, stamp, settled });
                }
                None => drop(files.files.remove(&change.path)),
            }
        }
        files.revision = revision;
        self.events.push(event);
        if let Err(error) = self.maintain() {
            tracing::warn!("the journal of the memory files stays long: {error}");
            self.forget();
        }
        Ok(())
    }
}
