//! Input: any file and any journal of a store. Accepted changes are still there when the store is opened again, and no
//! revision is assigned twice.

#![allow(clippy::unwrap_used, reason = "a panic is the finding")]
#![allow(clippy::disallowed_methods, reason = "the files are as other programs left them")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use herma_guard::Policy;
use herma_memory::change::{Change, Changes, Drift};
use herma_memory::{Author, Edit, EditError, Limits, Paths, Store, Target};
use tempfile::TempDir;

use crate::{folder, lines};

thread_local!(static FOLDER: TempDir = folder());

/// Checks one input.
pub fn run(bytes: &[u8]) {
    FOLDER.with(|folder| check(folder.path(), bytes));
}

fn check(folder: &Path, bytes: &[u8]) {
    let paths = Paths { file: folder.join("MEMORY.md"), journal: folder.join("memory.jsonl") };
    let split = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (file, journal) = bytes.split_at(split);
    fs::write(&paths.file, file).unwrap();
    fs::write(&paths.journal, lines(journal.get(1..).unwrap_or_default()).collect::<Vec<_>>().concat()).unwrap();
    let open = || {
        let limits = Limits { chars: 2_200, revisions: 10 };
        Store::new(paths.clone(), Target::Memory, limits, Arc::new(Policy::default()))
    };
    let mut store = open();
    let Ok(before) = store.view() else { return };
    let Ok(Some(mut transaction)) = store.begin() else { return };
    let change = Change::Add { content: "what was said last".into() };
    let edit = Edit::Change { changes: Changes::Single(change), drift: Drift::Refused };
    let applied = match transaction.apply(&edit, &Author::default()) {
        Ok(applied) => applied.entries,
        Err(EditError::Refused(_)) => return,
        Err(other) => panic!("{other:?}"),
    };
    let revision = transaction.revision();
    assert!(revision >= before.revision);
    if transaction.commit().is_err() {
        return;
    }
    drop(store);
    let after = open().view().unwrap();
    assert_eq!(*after.entries, *applied);
    assert_eq!(after.revision, revision);
}
