//! Walks the files, and finds changes by other programs or by a crash.

use std::sync::Arc;
use std::time::SystemTime;

use herma_disk::stamp::Stamp;
use herma_disk::tree::{Change, Kind, Tree};

use super::past::{state, unreadable};
use super::{
    DiskError, FileAction, FileEvent, FilePath, FileRow, FileStore, Files, Journalling, MAX_ENTRIES, MAX_FILE_BYTES,
    MAX_TOTAL_BYTES, State, StoreError, past, sweep, unix_now,
};
use crate::files::file_set::{Entry, FileSet};
use crate::files::row::FileChange;
use crate::files::rules::control;
use crate::journal::Journal;
use crate::journal::line::{Author, Replaced};

impl FileStore {
    /// Walks the tree, and makes a revision of changes by other programs.
    pub(super) fn look(&mut self, journalling: Journalling) -> Result<&Files, StoreError> {
        self.unwritten = None;
        let looked = self.looked(journalling);
        match looked {
            Ok(known) => {
                let known = self.known.insert(known);
                Ok(self.unwritten.as_ref().unwrap_or(known))
            }
            Err(error) => {
                self.forget();
                Err(error)
            }
        }
    }

    fn looked(&mut self, journalling: Journalling) -> Result<Files, StoreError> {
        if self.journal.as_ref().is_some_and(|journal| !journal.is_current()) {
            self.forget();
        }
        let known = match self.known.take() {
            Some(known) => known,
            None => self.opened()?,
        };
        self.newest = self.newest.max(known.revision);
        let mut found = find(&self.tree, &known)?;
        found.revision = known.revision;
        let changes = differences(&known, &found);
        if changes.is_empty() {
            return Ok(found);
        }
        match self.record_external_changes(&known, changes, &mut found) {
            Ok(()) => Ok(found),
            Err(error) if journalling == Journalling::Wanted => {
                tracing::debug!("what another program did to memory files is not in the journal yet: {error}");
                found.revision = known.revision;
                self.unwritten = Some(found);
                Ok(known)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the journal, puts its newest change in place, and returns the files according to it.
    fn opened(&mut self) -> Result<Files, StoreError> {
        sweep(&self.journal_path)?;
        // Temporary files of a killed process must not keep a folder from being removed.
        self.tree.sweep(MAX_ENTRIES).map_err(unreadable)?;
        let mut journal: Journal<FileRow> = Journal::open(&self.journal_path).map_err(unreadable)?;
        let is_unsettled = !journal.is_settled();
        if let Some(newest) = journal.newest().filter(|row| is_unsettled && !is_external(&row.action)) {
            match replay(&self.tree, newest) {
                // Another program changed the file first. The walk that follows reads it.
                Err(error) if error.is_changed() => {}
                replayed => replayed?,
            }
            journal.settle()?;
        }
        let state = state(&journal, None)?;
        let revision = journal.revision().max(self.newest);
        self.journal = Some(journal);
        let file_set = |(path, (text, revision)): (FilePath, (Arc<str>, u64))| {
            (path, FileSet { text, revision, modified_at: 0.0, stamp: None, settled: false })
        };
        Ok(Files { revision, files: state.into_iter().map(file_set).collect(), ..Files::default() })
    }

    /// Makes a revision of changes by other programs.
    fn record_external_changes(
        &mut self,
        known: &Files,
        changes: Vec<FileChange>,
        found: &mut Files,
    ) -> Result<(), DiskError> {
        let revision = known.revision + 1;
        for change in &changes {
            if let Some(file) = found.files.get_mut(&change.path) {
                file.revision = revision;
            }
            if let Err(error) = self.tree.sync(change.path.as_str()) {
                // If a power cut undoes this change, that counts as the next change by another program.
                tracing::debug!("a memory file that another program changed is not synced: {error}");
            }
        }
        // A new or damaged journal does not have the files from before.
        let is_known =
            self.journal.as_ref().is_some_and(|journal| journal.newest().is_some() && journal.damaged() == 0);
        let row = if is_known {
            let (author, action) = (Author::default(), FileAction::External);
            let (folders_made, folders_gone) = (Vec::new(), Vec::new());
            FileRow { revision, time: unix_now(), action, author, changes, folders_made, folders_gone }
        } else {
            past::found(revision, unix_now(), &texts(found))
        };
        let paths = row.changes.iter().map(|change| change.path.clone()).collect();
        let event = FileEvent { revision, action: row.action.clone(), paths, session: None, agent: None };
        if let Some(journal) = &mut self.journal {
            journal.append(vec![row])?;
            found.revision = revision;
            self.events.push(event);
        }
        if let Err(error) = self.maintain() {
            tracing::warn!("the journal of the memory files stays long: {error}");
        }
        Ok(())
    }
}

/// Returns the texts and their revisions.
fn texts(files: &Files) -> State {
    files.files.iter().map(|(path, file)| (path.clone(), (Arc::clone(&file.text), file.revision))).collect()
}

/// Whether a row records found files or changes by other programs, not herma's own changes.
fn is_external(action: &FileAction) -> bool {
    matches!(action, FileAction::External | FileAction::Found)
}

/// Puts a change in place for those files that are still the ones it replaces.
fn replay(tree: &Tree, row: &FileRow) -> Result<(), DiskError> {
    let mut changes = Vec::new();
    for change in &row.changes {
        // An unreadable entry belongs to another program and is left alone.
        let Ok(there) = tree.read(change.path.as_str(), MAX_FILE_BYTES) else { continue };
        let is_old = match (&there, &change.before) {
            (None, None) => change.replaced == Replaced::Nothing,
            (Some((bytes, stamp)), Some(before)) => {
                bytes == before.as_bytes() && change.replaced == Replaced::of(Some(stamp.modified_nanos()))
            }
            _ => false,
        };
        if is_old {
            let content = change.after.as_deref().map(str::as_bytes);
            let expected = there.map(|(_, stamp)| stamp);
            changes.push(Change { path: change.path.as_str(), content, expected });
        }
    }
    let folders: Vec<&str> = row.folders_gone.iter().map(FilePath::as_str).collect();
    if !changes.is_empty() {
        tracing::info!(
            revision = row.revision,
            files = changes.len(),
            "memory files are put in their places after a crash"
        );
        let staged = tree.stage(&changes, &folders)?;
        staged.sync()?;
        staged.commit()?;
    }
    finish_folders(tree, row);
    Ok(())
}

/// Creates and removes the empty folders of a change. An error is only logged, because the files are in place.
pub(super) fn finish_folders(tree: &Tree, row: &FileRow) {
    let mut made = row.folders_made.iter();
    let made = made.try_for_each(|folder| tree.make_folder(folder.as_str()));
    let mut gone = row.folders_gone.iter().filter(|folder| !row.folders_made.contains(folder));
    let gone = gone.try_for_each(|folder| tree.remove_empty(folder.as_str()).map(drop));
    if let Err(error) = made.and(gone) {
        tracing::debug!("an empty folder of memory files is not as it was to be: {error}");
    }
}

/// Returns the content of the tree. Does not read known files that have not changed.
fn find(tree: &Tree, known: &Files) -> Result<Files, StoreError> {
    let walk = tree.walk(MAX_ENTRIES).map_err(unreadable)?;
    let now = SystemTime::now();
    let mut found = Files { root_bytes: walk.root_bytes, ..Files::default() };
    let mut file_set = 0_u64;
    for entry in walk.entries {
        let path = FilePath::found(&entry.path);
        let can_be_named = FilePath::parse(&path.to_string()).as_ref() == Ok(&path);
        let why = match entry.kind {
            Kind::Hidden => {
                found.hidden.insert(path, "its name begins with a dot".to_owned());
                continue;
            }
            Kind::Folder(_) | Kind::File(_) if !can_be_named => "no path can name it".to_owned(),
            Kind::Folder(bytes) => {
                found.entries.push(Entry { path, folder_bytes: Some(bytes) });
                continue;
            }
            Kind::Closed => "it is a folder that can't be looked into".to_owned(),
            Kind::Other => "it is a link, or no file or folder with a name that is text".to_owned(),
            Kind::File(stamp) => {
                match file(tree, &path, stamp, known.files.get(&path), now, MAX_TOTAL_BYTES - file_set) {
                    Ok(Some(file)) => {
                        file_set += u64::try_from(file.text.len()).unwrap_or(u64::MAX);
                        found.entries.push(Entry { path: path.clone(), folder_bytes: None });
                        found.files.insert(path, file);
                        continue;
                    }
                    // The file was removed during the walk.
                    Ok(None) => continue,
                    Err(why) => why,
                }
            }
        };
        found.ignored.insert(path, why);
    }
    Ok(found)
}

/// Returns the current file, or the reason why it is not kept.
fn file(
    tree: &Tree,
    path: &FilePath,
    stamp: Stamp,
    known: Option<&FileSet>,
    now: SystemTime,
    room: u64,
) -> Result<Option<FileSet>, String> {
    if stamp.size() > room {
        return Err(format!("all files have more than {MAX_TOTAL_BYTES} bytes together, and no more are read"));
    }
    if let Some(known) = known.filter(|known| known.stamp == Some(stamp) && known.settled) {
        return Ok(Some(known.clone()));
    }
    if stamp.size() > MAX_FILE_BYTES {
        return Err(format!("it has {} bytes, and at most {MAX_FILE_BYTES} are read", stamp.size()));
    }
    let read = tree.read(path.as_str(), MAX_FILE_BYTES).map_err(|error| error.source.to_string())?;
    let Some((bytes, stamp)) = read else { return Ok(None) };
    let text = String::from_utf8(bytes)
        .map_err(|error| format!("it is no UTF-8 at byte {}", error.utf8_error().valid_up_to()))?;
    if let Some((at, char)) = control(&text) {
        return Err(format!("it has the control char U+{:04X} at char {at}", u32::from(char)));
    }
    let (text, revision) = match known {
        Some(known) if *known.text == text => (Arc::clone(&known.text), known.revision),
        _ => (text.into(), 0),
    };
    Ok(Some(FileSet {
        text,
        revision,
        modified_at: stamp.modified_at(),
        stamp: Some(stamp),
        settled: stamp.is_settled(now),
    }))
}

/// Returns the changes by other programs: new files, removed files, and files with another text.
fn differences(known: &Files, found: &Files) -> Vec<FileChange> {
    let change = |path: &FilePath, before: Option<&FileSet>, after: Option<&FileSet>| FileChange {
        path: path.clone(),
        before: before.map(|file| Arc::clone(&file.text)),
        after: after.map(|file| Arc::clone(&file.text)),
        replaced: Replaced::Unknown,
        revision: None,
    };
    let gone = known.files.iter().filter(|(path, _)| !found.files.contains_key(*path));
    let gone = gone.map(|(path, file)| change(path, Some(file), None));
    let come = found.files.iter().filter_map(|(path, file)| match known.files.get(path) {
        // A file that was not read again shares its text.
        Some(before) if Arc::ptr_eq(&before.text, &file.text) || before.text == file.text => None,
        before => Some(change(path, before, Some(file))),
    });
    gone.chain(come).collect()
}
