//! What must hold for every input of the private parts. Only with the feature `fuzzing`.
#![allow(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a panic is the finding")]

use std::sync::Arc;

use crate::entries::Entry;
use crate::journal::line::{Head, read_head, read_row, write_row};
use crate::recovery::merge;
use crate::{entries, pending};

/// A line of a journal: what is read can be written and read again.
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

/// Three texts of a store: what two sides made of a third comes together without a panic and
/// without a duplicate that neither had.
pub fn merged(base: &str, ours: &str, theirs: &str) {
    let read = |text: &str| -> Vec<Entry> { entries::without_duplicates(entries::parse(text)) };
    let (base, ours, theirs) = (read(base), read(ours), read(theirs));
    let merged = merge(&base, &ours, &theirs);
    for entry in &merged {
        assert!(ours.contains(entry) || theirs.contains(entry));
    }
    // What one side added is there, and it was taken out by no one.
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

/// The text of a store: once read, what is written for it is read as the same.
pub fn store_text(text: &str) {
    let entries = entries::parse(text);
    assert_eq!(entries::chars(&entries), entries::join(&entries).chars().count());
    for entry in entries.iter().filter(|entry| !entries::would_split(entry)) {
        assert_eq!(entries::normalised(entry), *entries::normalised(&entries::normalised(entry)));
    }
    let clean: Vec<Entry> = entries.iter().map(Arc::clone).filter(|entry| !entries::would_split(entry)).collect();
    assert_eq!(entries::parse(&entries::join(&clean)).len(), clean.len());
}

/// The file of a write that waits.
pub fn pending_write(text: &str) {
    if let Ok(write) = serde_json::from_str::<pending::PendingWrite>(text) {
        drop((write.target(), write.call()));
    }
}
