#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Component;

use herma_disk::{file, folder};

use super::*;
use crate::facts::Facts;
use crate::page::{Part, page};
use crate::retention::{Clock, Retention, SessionState};
use crate::search::{Needle, Query, Scope};
use crate::{Reason, SpillError};

mod damage;
mod leave;
mod search;

const NOW: f64 = 1_790_000_000.0;

struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("outputs")
    }

    fn catalog(&self) -> PathBuf {
        self.folder.path().join("outputs.jsonl")
    }

    fn open(&self) -> (Outputs, Swept) {
        let outputs = Outputs::open(self.root(), &self.catalog());
        let swept = outputs.sweep(NOW).unwrap();
        (outputs, swept)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        folder::create(path.parent().unwrap()).unwrap();
        file::replace(&path, text.as_bytes(), Temporary { prefix: "x", suffix: "x" }).unwrap();
    }
}

fn keep(outputs: &Outputs, session: &str, id: &str, text: &str) -> Kept {
    let origin = Origin { session, profile: "default", tool: "terminal", id };
    outputs.keep(&origin, text, &Facts::of(text), NOW).unwrap()
}

#[test]
fn a_text_comes_back_by_handle_and_by_path_after_a_restart() {
    let home = Home::new();
    let (outputs, _) = home.open();
    let kept = keep(&outputs, "s", "call_1", "text");
    assert_eq!(kept.path, home.root().join("s/call_1.txt"));
    let record = outputs.record(kept.handle).unwrap();
    drop(outputs);
    for again in [home.open().0, Outputs::new(home.root())] {
        assert_eq!(again.read(&kept.handle.to_string()).unwrap(), "text");
        assert_eq!(again.read(&format!("{}:7", kept.handle)).unwrap(), "text");
        assert_eq!(again.read_path(kept.path.to_str().unwrap()).unwrap(), "text");
    }
    let (again, swept) = home.open();
    assert_eq!((again.record(kept.handle), swept), (Some(record), Swept::default()));
}

#[test]
fn a_repeated_id_never_overwrites() {
    let home = Home::new();
    let (outputs, _) = home.open();
    let one = keep(&outputs, "s", "call_1", "one");
    let two = keep(&outputs, "s", "call_1", "two");
    assert_ne!(one, two);
    assert_eq!(keep(&outputs, "s", "call_1", "one"), one);
    assert_eq!(keep(&outputs, "s", "call_1", "two"), two);
    assert_eq!(outputs.read(&one.handle.to_string()).unwrap(), "one");
    assert_eq!(outputs.read(&two.handle.to_string()).unwrap(), "two");
    assert_eq!(outputs.usage(), (2, 6));
}

#[test]
fn identical_texts_take_their_room_once_until_the_last_goes() {
    let home = Home::new();
    let (outputs, _) = home.open();
    let text = "x".repeat(300_000);
    let one = keep(&outputs, "s", "1", &text);
    let two = keep(&outputs, "t", "2", &text);
    let inode = |kept: &Kept| std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(&kept.path).unwrap());
    assert_eq!(inode(&one), inode(&two));
    assert_eq!(outputs.usage(), (2, 300_000));
    let everything = Retention { ttl_seconds: 0.0, quota_bytes: 0 };
    let clock = Clock { wall: NOW, started_wall: NOW, monotonic_since_start: 0.0, last_seen: None };
    let closed = |session: &str| match session {
        "s" => SessionState::Closed { ended_at: NOW },
        _ => SessionState::Open,
    };
    let collected = outputs.collect(closed, everything, clock, false).unwrap();
    assert_eq!((collected.expired.len(), collected.freed_bytes, collected.bytes_left), (1, 0, 300_000));
    assert_eq!(outputs.read(&two.handle.to_string()).unwrap(), text);
    let collected = outputs.collect(|_| SessionState::Unknown, everything, clock, true).unwrap();
    assert_eq!((collected.expired.len(), collected.freed_bytes, outputs.usage().0), (1, 300_000, 1));
    let collected = outputs.collect(|_| SessionState::Unknown, everything, clock, false).unwrap();
    assert_eq!((collected.freed_bytes, outputs.usage()), (300_000, (0, 0)));
    // Nothing is left of a session whose outputs were all removed, and it can have new ones.
    assert!(folder::names(&home.root()).unwrap().is_empty());
    let again = keep(&outputs, "t", "2", &text);
    assert_eq!(outputs.remove(&again.handle.to_string(), NOW).unwrap().bytes, 300_000);
    let (again, _) = home.open();
    assert_eq!(again.record(one.handle).unwrap().state, State::Expired { at: NOW, reason: Reason::Ttl });
    // A file that was changed by hand does not count as the same content.
    let three = keep(&outputs, "s", "3", "abc");
    home.write("s/3.txt", "xyz");
    let four = keep(&outputs, "s", "4", "abc");
    assert_eq!(outputs.read(&four.handle.to_string()).unwrap(), "abc");
    assert_ne!(inode(&three), inode(&four));
}

#[test]
fn an_expired_output_tells_what_it_was_and_can_be_kept_again() {
    let home = Home::new();
    let (outputs, _) = home.open();
    let kept = keep(&outputs, "s", "1", "text");
    let handle = kept.handle.to_string();
    assert_eq!(outputs.remove(&handle, NOW).unwrap().bytes, 4);
    for outputs in [outputs, home.open().0] {
        let error = outputs.read(&handle).unwrap_err();
        assert!(matches!(error, SpillError::Expired { bytes: 4, reason: Reason::Removed, .. }));
        assert!(error.to_string().contains("2026-09-21"), "{error}");
        assert!(matches!(outputs.read_path(kept.path.to_str().unwrap()), Err(SpillError::Expired { .. })));
        assert!(outputs.remove(&handle, NOW).is_err());
        let query =
            Query { needle: Needle::Literal("t".into()), scope: Scope::Handle(handle.clone()), context: 0, limit: 1 };
        assert!(matches!(outputs.search(&query, &|| false), Err(SpillError::Expired { .. })));
    }
    let (outputs, _) = home.open();
    assert_eq!(keep(&outputs, "s", "1", "text"), kept);
    assert_eq!(outputs.read(&handle).unwrap(), "text");
    assert_eq!(outputs.remove_session("s", NOW).unwrap().iter().map(|gone| gone.bytes).collect::<Vec<_>>(), [4]);
    assert!(matches!(outputs.read(&handle), Err(SpillError::NotFound(_))));
    assert!(!home.root().join("s").exists());
    assert!(home.open().0.list(None, 9).is_empty());
}

#[test]
fn a_start_brings_catalog_and_folders_together() {
    let home = Home::new();
    let (outputs, _) = home.open();
    let begun = |id: &str| crate::catalog::row::Begun {
        handle: Handle::of(&format!("s/{id}.txt")).to_string(),
        session: "s".into(),
        profile: "default".into(),
        tool: "terminal".into(),
        id: id.into(),
        file: format!("s/{id}.txt"),
    };
    let gone = keep(&outputs, "s", "gone", "gone");
    let kept = keep(&outputs, "s", "kept", "kept");
    outputs.catalog().append(&crate::catalog::row::Row::Begin(begun("orphan")));
    outputs.catalog().append(&crate::catalog::row::Row::Begin(begun("kept")));
    drop(outputs);
    file::remove(&gone.path).unwrap();
    for (name, text) in
        [("s/orphan.txt", "o"), ("s/.out_x.tmp", "t"), ("s/lost.txt.idx", "i"), ("s/by_hand.txt", "a\nb")]
    {
        home.write(name, text);
    }
    let (outputs, swept) = home.open();
    assert_eq!(swept, Swept { leftovers: 2, orphans: 1, adopted: 1, gone: 1 });
    assert_eq!(folder::names(&home.root().join("s")).unwrap(), ["by_hand.txt", "kept.txt"]);
    assert!(outputs.record(kept.handle).is_some());
    let found = outputs.record(Handle::of("s/by_hand.txt")).unwrap();
    assert_eq!((&*found.id, found.chars, found.lines, found.state), ("by_hand", 3, 2, State::Kept));
    assert!(matches!(outputs.read(&gone.handle.to_string()), Err(SpillError::Expired { .. })));
}

#[test]
fn after_a_power_cut_what_was_only_begun_is_adopted() {
    let home = Home::new();
    let (outputs, _) = home.open();
    let kept = keep(&outputs, "s", "1", "text");
    outputs.catalog().append(&crate::catalog::row::Row::Opened { boot: "another".into() });
    drop(outputs);
    let lines = std::fs::read_to_string(home.catalog()).unwrap();
    let without =
        lines.lines().filter(|line| !line.contains("\"kept\"")).fold(String::new(), |all, line| all + line + "\n");
    file::replace(&home.catalog(), without.as_bytes(), TEMPORARY).unwrap();
    let (outputs, swept) = home.open();
    assert_eq!((swept.adopted, swept.orphans), (1, 0));
    assert_eq!(&*outputs.record(kept.handle).unwrap().tool, "terminal");
}

#[test]
fn a_damaged_or_unusable_catalog_keeps_nothing_from_being_kept_and_read() {
    let home = Home::new();
    let kept = keep(&home.open().0, "s", "1", "text");
    let mut bytes = std::fs::read(home.catalog()).unwrap();
    bytes.extend_from_slice(b"nonsense\n{\"crc\":\"torn");
    file::replace(&home.catalog(), &bytes, TEMPORARY).unwrap();
    let (outputs, _) = home.open();
    assert_eq!(outputs.take_notices().len(), 1);
    keep(&outputs, "s", "2", "two");
    assert_eq!(home.open().0.usage(), (2, 7));
    file::remove(&home.catalog()).unwrap();
    folder::create(&home.catalog()).unwrap();
    let (outputs, swept) = home.open();
    assert_eq!(swept.adopted, 2);
    let three = keep(&outputs, "s", "3", "three");
    for handle in [kept.handle, three.handle] {
        assert!(outputs.read(&handle.to_string()).is_ok());
    }
    assert!(!outputs.take_notices().is_empty());
}

#[test]
fn nothing_outside_can_be_read_or_written() {
    let home = Home::new();
    let (outputs, root) = (home.open().0, home.root());
    file::replace(&home.folder.path().join("secret.txt"), b"secret", TEMPORARY).unwrap();
    let kept = keep(&outputs, "../..", "../../x", "text");
    assert!(kept.path.starts_with(&root) && kept.path.components().all(|part| part != Component::ParentDir));
    for path in ["etc", "../secret.txt", "s/../../secret.txt", "", "/"] {
        assert!(matches!(outputs.read_path(path), Err(SpillError::Outside(_))), "{path}");
        let inside = format!("{}/{path}", root.display());
        assert!(matches!(outputs.read_path(&inside), Err(SpillError::Outside(_))), "{inside}");
    }
    for name in ["s/.out_x.tmp", "s/x.txt.idx", "s/x"] {
        home.write(name, "none");
        let path = root.join(name);
        assert!(matches!(outputs.read_path(path.to_str().unwrap()), Err(SpillError::Outside(_))), "{name}");
    }
    home.write("s/x.txt", "x");
    std::os::unix::fs::symlink("../../secret.txt", root.join("s/link.txt")).unwrap();
    assert!(matches!(outputs.read(&Handle::of("s/link.txt").to_string()), Err(SpillError::Outside(_))));
    assert!(matches!(outputs.read("out_nothing"), Err(SpillError::NotFound(_))));
}

#[test]
fn pages_of_long_outputs_are_those_of_their_text_with_and_without_an_index() {
    let home = Home::new();
    let (outputs, _) = home.open();
    let text = "zeile äöü 漢\r\n".repeat(240_000);
    let kept = keep(&outputs, "s", "1", &text);
    let index = home.root().join("s/1.txt.idx");
    let part = Part::Lines { line: 30_000, lines: 3 };
    assert!(index.exists());
    for damage in [None, Some("damaged")] {
        if let Some(damage) = damage {
            home.write("s/1.txt.idx", damage);
        }
        let again = Outputs::new(home.root());
        for part in [part, Part::Chars { offset: 400_000, limit: 9 }, Part::Tail(2)] {
            assert_eq!(again.page(&kept.handle.to_string(), part, View::Raw).unwrap(), page(&text, part));
        }
    }
    let mut bytes = text.into_bytes();
    bytes[300_000] = 0xFF;
    file::replace(&kept.path, &bytes, TEMPORARY).unwrap();
    let error = outputs.page(&kept.handle.to_string(), part, View::Raw).unwrap_err();
    assert!(matches!(error, SpillError::NotText { byte: 299_999..=300_000, .. }), "{error}");
}
