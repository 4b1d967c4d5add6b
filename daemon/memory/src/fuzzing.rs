//! Properties that hold for every input of the private parts. Only with the feature `fuzzing`.
#![allow(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a panic is the finding")]

use std::sync::Arc;

use crate::entries::Entry;
use crate::journal::line::{Head, read_head, read_row, write_row};
use crate::recovery::merge;
use crate::{entries, pending};

/// Checks a line of a journal: a readable row can be written and read again.
pub fn journal_line(line: &[u8]) {
    let head = read_head(line);
    let Some(row) = read_row(line) else { return };
    let Some(Head::Row(head)) = head else { panic!("a row without a head") };
    assert_eq!((head.revision, &head.action), (row.revision, &row.action));
    let mut written = Vec::new();
    write_row(&row, &mut written);
    let again = read_row(&written).unwrap();
    assert_eq!((again.revision, &again.before, &again.after), (row.revision, &row.before, &row.after));
}

/// Merges two edits of a store's text. Each merged entry must be from one of them, and no added entry may be lost.
pub fn merged(base: &str, ours: &str, theirs: &str) {
    let read = |text: &str| -> Vec<Entry> { entries::without_duplicates(entries::parse(text)) };
    let (base, ours, theirs) = (read(base), read(ours), read(theirs));
    let merged = merge(&base, &ours, &theirs);
    for entry in &merged {
        assert!(ours.contains(entry) || theirs.contains(entry));
    }
    // An entry that one side added must be in the result.
    for entry in theirs.iter().filter(|entry| !base.contains(entry)) {
        assert!(merged.contains(entry));
    }
    for entry in ours.iter().filter(|entry| !base.contains(entry)) {
        assert!(merged.contains(entry));
    }
    assert_eq!(merge(&base, &base, &theirs), theirs);
    let joined = entries::join(&merged);
    drop(entries::parse(&joined));
}

/// Checks the text of a store: parsed entries can be written and read again.
pub fn store_text(text: &str) {
    let entries = entries::parse(text);
    assert_eq!(entries::chars(&entries), entries::join(&entries).chars().count());
    for entry in entries.iter().filter(|entry| !entries::would_split(entry)) {
        assert_eq!(entries::normalised(entry), *entries::normalised(&entries::normalised(entry)));
    }
    let clean: Vec<Entry> = entries.iter().map(Arc::clone).filter(|entry| !entries::would_split(entry)).collect();
    assert_eq!(entries::parse(&entries::join(&clean)).len(), clean.len());
}

/// Parses the file of a write that waits for approval. No input may cause a panic.
pub fn pending_write(text: &str) {
    if let Ok(write) = serde_json::from_str::<pending::PendingWrite>(text) {
        drop((write.target(), write.call()));
    }
}
