//! Input: any text as a query and as a message. The database returns no error, and a message is found by its own words.

#![allow(clippy::unwrap_used, reason = "a panic is the finding")]

use std::cell::RefCell;

use herma_archive::Archive;
use herma_archive::search::Search;
use herma_archive::session::SessionRow;
use herma_archive::transcript::Appended;
use tempfile::TempDir;

use crate::{folder, text};

/// Number of messages after which a new archive is opened.
const MOST: u64 = 500;

/// An archive and the number of its messages.
struct Open {
    _folder: TempDir,
    archive: Archive,
    next: u64,
}

thread_local!(static OPEN: RefCell<Option<Open>> = const { RefCell::new(None) });

/// Checks one input.
pub fn run(data: &[u8]) {
    let text = text(data);
    OPEN.with_borrow_mut(|open| {
        if open.as_ref().is_some_and(|open| open.next >= MOST) {
            *open = None;
        }
        let open = open.get_or_insert_with(start);
        search(open, text);
        let body = serde_json::json!({ "role": "user", "content": text }).to_string();
        let appended = open.archive.append("s", 0, open.next, &[&body], 1.0).unwrap();
        open.next += 1;
        assert_eq!(appended, Appended::Next(open.next));
        while open.archive.index_pending(100).unwrap() > 0 {}
        search(open, text);
        assert_eq!(open.archive.reader().transcript("s").unwrap().last(), Some(&body));
    });
}

fn search(open: &Open, query: &str) {
    drop(open.archive.reader().search(&Search::everywhere(query, 3)).unwrap());
}

fn start() -> Open {
    let folder = folder();
    let archive = Archive::open(&folder.path().join("archive.db")).unwrap();
    let session = SessionRow::new("s".into(), "default".into(), 1.0);
    archive.create_session(&session).unwrap();
    Open { _folder: folder, archive, next: 0 }
}
