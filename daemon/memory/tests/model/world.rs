//! A store on a disk, and the model of the same operations.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use herma_memory::{Author, Edit, EditError, Entry, Limits, LogQuery, Paths, Store, Target};
use tempfile::TempDir;

use super::operation::Operation;
use super::rules::{DELIMITER, LIMIT, changed, name, parsed};

/// Revisions that the journal keeps at least.
const KEPT: usize = 6;

/// A revision in the model.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    revision: u64,
    action: String,
    before: Vec<String>,
    after: Vec<String>,
}

/// A store and its model.
pub(crate) struct World {
    folder: TempDir,
    store: Store,
    /// The revisions. The last row is the newest one.
    rows: Vec<Row>,
    /// Revisions at which the journal says that the file was durable.
    settled: BTreeSet<u64>,
}

impl World {
    pub(crate) fn new() -> Self {
        // In memory where possible, because every change is synced.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let mut store = open(folder.path());
        // Anything written from now on is a change.
        assert_eq!(store.view().unwrap().revision, 0);
        Self { folder, store, rows: Vec::new(), settled: BTreeSet::new() }
    }

    fn paths(&self) -> Paths {
        paths(self.folder.path())
    }

    /// The path of the file from before the last edit.
    fn kept(&self) -> PathBuf {
        self.folder.path().join("kept")
    }

    /// The lock file of all writers.
    pub(crate) fn lock(&self) -> PathBuf {
        self.paths().file.with_extension("md.lock")
    }

    /// Opens the store again after a kill.
    pub(crate) fn open_again(&mut self) {
        self.store = open(self.folder.path());
        self.store.tidy().unwrap();
    }

    /// Reads the file.
    pub(crate) fn text(&self) -> String {
        fs::read_to_string(self.paths().file).unwrap_or_default()
    }

    /// Returns the entries according to the store.
    pub(crate) fn entries(&mut self) -> Vec<Entry> {
        self.store.view().unwrap().entries.to_vec()
    }

    fn expected(&self) -> (u64, Vec<String>) {
        self.rows.last().map_or_else(Default::default, |row| (row.revision, row.after.clone()))
    }

    /// Applies an operation to both and compares them.
    pub(crate) fn step(&mut self, operation: &Operation) {
        match operation {
            Operation::Edit(edit) => self.edit(edit),
            Operation::External(text) => {
                self.write(text);
                self.seen(parsed(text));
            }
            Operation::Rewrite => {
                if self.paths().file.is_file() {
                    self.write(&self.text());
                }
            }
            Operation::Compact => {
                self.store.maintain().unwrap();
                if self.rows.len() >= 2 * KEPT {
                    self.rows.drain(..self.rows.len() - KEPT);
                }
            }
            Operation::Reopen { settled } => self.reopen(*settled, |_| false),
            Operation::ReopenWith { settled, text } => self.reopen(*settled, |world| {
                world.write(text);
                false
            }),
            Operation::LoseLine { bytes } => self.reopen(false, |world| {
                world.lose_line(*bytes);
                false
            }),
            Operation::LoseFile => self.reopen(false, Self::lose_file),
        }
        let view = self.store.view().unwrap();
        let entries: Vec<String> = view.entries.iter().map(|entry| entry.to_string()).collect();
        assert_eq!((view.revision, entries), self.expected(), "{operation:?}");
        assert_eq!(view.damaged, 0);
        assert_eq!(parsed(&self.text()), self.expected().1, "{operation:?}");
    }

    fn edit(&mut self, edit: &Edit) {
        let (_, before) = self.expected();
        let (Paths { file, .. }, kept) = (self.paths(), self.kept());
        drop(fs::remove_file(&kept));
        drop(fs::hard_link(file, kept));
        let (expected, action) = match edit {
            Edit::Change { changes, drift } => (changed(&before, changes, *drift), action(edit)),
            Edit::Undo => (self.undone(), "undo"),
            Edit::Restore(revision) => (self.restored(*revision), "restore"),
            Edit::Revert(revision) => {
                // The places of entries that are back are the store's choice.
                let (found, expected) = (self.applied(edit), self.reverted(*revision));
                assert_eq!(found.clone().map(sorted), expected.map(sorted), "{edit:?} of {before:?}");
                return self.wrote("revert", &before, found);
            }
        };
        let found = self.applied(edit);
        assert_eq!(found, expected, "{edit:?} of {before:?}");
        self.wrote(action, &before, found);
    }

    /// Notes the result of an edit.
    fn wrote(&mut self, action: &str, before: &[String], expected: Result<Vec<String>, String>) {
        if let Some(after) = expected.ok().filter(|after| after != before) {
            self.push(action, after);
            assert_eq!(self.text(), self.expected().1.join(DELIMITER));
        }
    }

    /// The entries after an edit, or the name of the refusal.
    pub(crate) fn applied(&mut self, edit: &Edit) -> Result<Vec<String>, String> {
        let mut transaction = self.store.begin().unwrap().unwrap();
        let applied = match transaction.apply(edit, &Author::default()) {
            Ok(applied) => Ok(applied.entries.iter().map(|entry| entry.to_string()).collect()),
            Err(EditError::Refused(refusal)) => Err(name(&refusal)),
            Err(EditError::NotKept { revision, kept }) => Err(format!("{revision} is not kept, but {kept:?}")),
            Err(EditError::Bound) => Err("bound".into()),
            Err(EditError::Store(error)) => panic!("{error}"),
        };
        transaction.commit().unwrap();
        applied
    }

    fn undone(&self) -> Result<Vec<String>, String> {
        let newest = self.rows.last().filter(|row| row.before != row.after);
        newest.map(|row| row.before.clone()).ok_or_else(|| "nothing to undo".into())
    }

    fn restored(&self, revision: u64) -> Result<Vec<String>, String> {
        if let Some(row) = self.rows.iter().find(|row| row.revision == revision) {
            return Ok(row.after.clone());
        }
        match self.rows.first() {
            Some(oldest) if oldest.revision == revision + 1 => Ok(oldest.before.clone()),
            oldest => {
                let kept = oldest.map(|oldest| (oldest.revision - 1, self.expected().0));
                Err(format!("{revision} is not kept, but {kept:?}"))
            }
        }
    }

    fn reverted(&self, revision: u64) -> Result<Vec<String>, String> {
        let Some(row) = self.rows.iter().find(|row| row.revision == revision) else {
            let kept = self.rows.first().map(|oldest| (oldest.revision, self.expected().0));
            return Err(format!("{revision} is not kept, but {kept:?}"));
        };
        let (_, mut entries) = self.expected();
        let before = entries.clone();
        for added in row.after.iter().filter(|entry| !row.before.contains(entry)) {
            let at = entries.iter().position(|entry| entry == added);
            entries.remove(at.ok_or_else(|| format!("{revision} was changed later"))?);
        }
        for removed in row.before.iter().filter(|entry| !row.after.contains(entry)) {
            if !entries.contains(removed) {
                entries.push(removed.clone());
            }
        }
        let [size, total] = [&before, &entries].map(|entries| entries.join(DELIMITER).chars().count());
        if total > LIMIT && total >= size && sorted(entries.clone()) != sorted(before) {
            return Err(format!("overflow by {}", total - LIMIT));
        }
        Ok(entries)
    }

    fn push(&mut self, action: &str, after: Vec<String>) {
        let (revision, before) = self.expected();
        self.rows.push(Row { revision: revision + 1, action: action.into(), before, after });
    }

    /// Adds the revision for content by another program.
    fn seen(&mut self, found: Vec<String>) {
        if found != self.expected().1 {
            self.push("external", found);
        }
    }

    /// Closes the store, calls `meanwhile` on its files, and opens it again. `meanwhile` returns whether the file is
    /// the one from before the last change.
    fn reopen(&mut self, settled: bool, meanwhile: impl FnOnce(&mut Self) -> bool) {
        if settled {
            self.store.flush().unwrap();
            self.settled.extend(self.rows.last().map(|row| row.revision));
        }
        self.store = open(self.folder.path());
        let is_old = meanwhile(self);
        let found = parsed(&self.text());
        self.store.tidy().unwrap();
        match self.rows.last() {
            // A store that is older than its journal starts with a revision without a past.
            None if !found.is_empty() => {
                self.push("external", found.clone());
                self.rows[0].before = found;
            }
            None => {}
            // The store's last change never reached the file, so the store writes it there.
            Some(newest) if newest.action != "external" && !self.is_settled() && found == newest.before && is_old => {}
            Some(_) => self.seen(found),
        }
    }

    fn is_settled(&self) -> bool {
        self.settled.contains(&self.expected().0)
    }

    /// Writes the file as another program does, with a modification time later than any time in the journal.
    pub(crate) fn write(&self, text: &str) {
        let path = self.paths().file;
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let temporary = path.with_extension("new");
        fs::write(&temporary, text).unwrap();
        date(&temporary);
        fs::rename(temporary, path).unwrap();
    }

    /// The last change does not reach the file. If another program made that change, that program reverts it instead.
    fn lose_file(&mut self) -> bool {
        let Some(newest) = self.rows.last().filter(|row| row.before != row.after) else { return false };
        let (Paths { file, .. }, kept) = (self.paths(), self.kept());
        if newest.action == "external" {
            self.write(&newest.before.join(DELIMITER));
        } else {
            fs::remove_file(&file).unwrap();
            drop(fs::hard_link(kept, file));
        }
        true
    }

    fn lose_line(&mut self, bytes: usize) {
        let Paths { file, journal } = self.paths();
        let text = fs::read(&journal).unwrap_or_default();
        let Some(whole) = text.strip_suffix(b"\n") else { return };
        let start = whole.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let end = text.len().saturating_sub(bytes).max(start);
        File::options().write(true).open(journal).unwrap().set_len(u64::try_from(end).unwrap()).unwrap();
        if file.is_file() {
            date(&file);
        }
        // The last line is the settled note, if there is one.
        if !self.settled.remove(&self.expected().0) {
            self.rows.pop();
        }
    }

    /// Checks that the log has the rows of the model.
    pub(crate) fn check_log(&mut self) {
        let (rows, more) = self.store.log(&LogQuery::default()).unwrap();
        let texts = |entries: &[Entry]| entries.iter().map(|entry| entry.to_string()).collect();
        let logged: Vec<Row> = rows
            .iter()
            .rev()
            .map(|row| Row {
                revision: row.revision,
                action: row.action.name().into(),
                before: texts(&row.before),
                after: texts(&row.after),
            })
            .collect();
        assert_eq!((logged, more), (self.rows.clone(), false));
    }
}

fn paths(folder: &Path) -> Paths {
    let at = |name: &str| -> PathBuf { folder.join(name) };
    Paths { file: at("memories/MEMORY.md"), journal: at("journal/memory.jsonl") }
}

fn open(folder: &Path) -> Store {
    Store::new(paths(folder), Target::Memory, Limits { chars: LIMIT, revisions: KEPT }, Arc::default())
}

/// Sets a file's modification time to one hour from now.
fn date(path: &Path) {
    let later = SystemTime::now() + Duration::from_hours(1);
    File::options().write(true).open(path).unwrap().set_modified(later).unwrap();
}

fn sorted(mut entries: Vec<String>) -> Vec<String> {
    entries.sort();
    entries
}

fn action(edit: &Edit) -> &'static str {
    use herma_memory::Change::{Add, Remove, Replace};
    use herma_memory::change::Changes::{Batch, Single};
    match edit {
        Edit::Change { changes: Single(Add { .. }), .. } => "add",
        Edit::Change { changes: Single(Replace { .. }), .. } => "replace",
        Edit::Change { changes: Single(Remove { .. }), .. } => "remove",
        Edit::Change { changes: Batch { .. }, .. } => "batch",
        Edit::Undo => "undo",
        Edit::Restore(_) => "restore",
        Edit::Revert(_) => "revert",
    }
}
