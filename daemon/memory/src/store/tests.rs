#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "a test plays other programs and people")]

use std::fs;

use herma_disk::file;
use herma_disk::lock::Lock;

use super::*;
use crate::change::{Applied, Change, Changes, Drift};
use crate::entries::join;
use crate::hash::hash;
use crate::journal::line::Author;
use crate::refusal::Refusal;

fn paths(home: &Path) -> Paths {
    Paths { file: home.join("m/MEMORY.md"), journal: home.join("j/memory.jsonl") }
}

fn store(home: &Path) -> Store {
    Store::new(paths(home), Target::Memory, Limits { chars: 40, revisions: 5 }, Arc::default())
}

fn apply(store: &mut Store, edit: &Edit) -> Result<Applied, EditError> {
    let mut transaction = store.begin().unwrap().unwrap();
    let applied = transaction.apply(edit, &Author::default())?;
    transaction.commit().unwrap();
    Ok(applied)
}

fn single(change: Change, drift: Drift) -> Edit {
    Edit::Change { changes: Changes::Single(change), drift }
}

fn add(store: &mut Store, content: &str) -> Applied {
    apply(store, &single(Change::Add { content: content.into() }, Drift::Refused)).unwrap()
}

fn remove(store: &mut Store, old_text: &str, drift: Drift) -> Result<Applied, EditError> {
    apply(store, &single(Change::Remove { old_text: old_text.into() }, drift))
}

fn put(home: &Path, text: &[u8]) {
    folder::create(&home.join("m")).unwrap();
    file::replace(&home.join("m/MEMORY.md"), text, TEMPORARY).unwrap();
}

fn holds(home: &Path, text: &str) -> bool {
    file::holds(&home.join("m/MEMORY.md"), text.as_bytes()).unwrap()
}

/// The revision and the text.
fn state(store: &mut Store) -> (u64, String) {
    let view = store.view().unwrap();
    (view.revision, join(&view.entries))
}

fn actions(store: &mut Store) -> Vec<String> {
    let (rows, _) = store.log(&LogQuery::default()).unwrap();
    rows.iter().map(|row| format!("{} {}", row.revision, row.action.name())).collect()
}

#[test]
fn revisions_grow_by_one_with_every_change_and_survive() {
    let home = tempfile::tempdir().unwrap();
    let mut first = store(home.path());
    assert_eq!(first.view().unwrap().revision, 0);
    add(&mut first, "one");
    add(&mut first, "one");
    add(&mut first, "two");
    assert_eq!(state(&mut first), (2, "one\n§\ntwo".into()));
    put(home.path(), "one\n§\nby hand".as_bytes());
    assert_eq!(first.view().unwrap().revision, 3);
    let mut again = store(home.path());
    assert_eq!(state(&mut again), (3, "one\n§\nby hand".into()));
    assert_eq!(actions(&mut again), ["3 external", "2 add", "1 add"]);
}

#[test]
fn changes_that_cancel_out_are_revisions_too() {
    let home = tempfile::tempdir().unwrap();
    let mut store = store(home.path());
    add(&mut store, "one");
    let mut transaction = store.begin().unwrap().unwrap();
    for change in [Change::Add { content: "two".into() }, Change::Remove { old_text: "two".into() }] {
        transaction.apply(&single(change, Drift::Refused), &Author::default()).unwrap();
    }
    transaction.commit().unwrap();
    assert_eq!(state(&mut store), (3, "one".into()));
    assert!(holds(home.path(), "one"));
}

#[test]
fn undo_and_restore_put_texts_back() {
    let home = tempfile::tempdir().unwrap();
    let mut store = store(home.path());
    assert!(matches!(apply(&mut store, &Edit::Undo), Err(EditError::Refused(Refusal::NothingToUndo { .. }))));
    add(&mut store, "one");
    add(&mut store, "two");
    for (edit, revision, text) in [
        (Edit::Undo, 3, "one"),
        (Edit::Undo, 4, "one\n§\ntwo"),
        (Edit::Restore(0), 5, ""),
        (Edit::Undo, 6, "one\n§\ntwo"),
        (Edit::Restore(1), 7, "one"),
        (Edit::Restore(1), 7, "one"),
    ] {
        apply(&mut store, &edit).unwrap();
        assert_eq!(state(&mut store), (revision, text.into()), "{edit:?}");
        assert!(holds(home.path(), text));
    }
    put(home.path(), b"by hand");
    apply(&mut store, &Edit::Undo).unwrap();
    assert_eq!(state(&mut store), (9, "one".into()));
    let not_kept = apply(&mut store, &Edit::Restore(99));
    assert!(matches!(not_kept, Err(EditError::NotKept { revision: 99, kept: Some((0, 9)) })), "{not_kept:?}");
}

#[test]
fn undo_sees_what_others_of_its_group_wrote() {
    let home = tempfile::tempdir().unwrap();
    let mut store = store(home.path());
    let mut transaction = store.begin().unwrap().unwrap();
    let added = single(Change::Add { content: "one".into() }, Drift::Refused);
    for edit in [&added, &Edit::Undo, &Edit::Restore(1)] {
        transaction.apply(edit, &Author::default()).unwrap();
    }
    transaction.commit().unwrap();
    assert_eq!(state(&mut store), (3, "one".into()));
}

#[test]
fn a_store_that_was_there_first_is_a_revision_without_a_past() {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), b"from Hermes");
    let mut first = store(home.path());
    assert_eq!(state(&mut first), (1, "from Hermes".into()));
    assert_eq!(actions(&mut first), ["1 external"]);
    assert!(matches!(apply(&mut first, &Edit::Undo), Err(EditError::Refused(Refusal::NothingToUndo { .. }))));
    assert_eq!(state(&mut store(home.path())), (1, "from Hermes".into()));
}

#[test]
fn the_counter_of_an_earlier_version_goes_on() {
    for (text, revision) in [("same", 41), ("other", 42)] {
        let home = tempfile::tempdir().unwrap();
        put(home.path(), text.as_bytes());
        folder::create(&home.path().join("j")).unwrap();
        let counter = format!("{{\"revision\":41,\"sha256\":\"{}\"}}\n", hash("same"));
        file::replace(&home.path().join("j/memory.revision.json"), counter.as_bytes(), TEMPORARY).unwrap();
        assert_eq!(state(&mut store(home.path())), (revision, text.into()));
    }
}

/// Keeps a hard link to the file, so that a test can restore the very same file after a crash.
fn keep(home: &Path) {
    drop(fs::remove_file(home.join("kept")));
    fs::hard_link(home.join("m/MEMORY.md"), home.join("kept")).unwrap();
}

/// Restores the kept file, as if no rename had happened since.
fn put_kept(home: &Path) {
    fs::rename(home.join("kept"), home.join("m/MEMORY.md")).unwrap();
}

/// Sets the file's modification time to this many hours from now.
fn date(home: &Path, hours: i64) {
    let hour = Duration::from_hours(hours.unsigned_abs());
    let time = if hours < 0 { SystemTime::now() - hour } else { SystemTime::now() + hour };
    fs::File::options().append(true).open(home.join("m/MEMORY.md")).unwrap().set_modified(time).unwrap();
}

#[test]
fn a_revision_that_never_reached_the_file_is_put_there() {
    let home = tempfile::tempdir().unwrap();
    let mut killed = store(home.path());
    add(&mut killed, "one");
    keep(home.path());
    add(&mut killed, "two");
    put_kept(home.path());
    let mut next = store(home.path());
    next.tidy().unwrap();
    assert!(holds(home.path(), "one\n§\ntwo"));
    assert_eq!(state(&mut next), (2, "one\n§\ntwo".into()));

    // While another program holds the lock, the revision is shown, but it is written to the file later.
    keep(home.path());
    add(&mut next, "three");
    put_kept(home.path());
    let mut third = store(home.path());
    let lock = Lock::try_now(&home.path().join("m/MEMORY.md.lock")).unwrap();
    third.tidy().unwrap();
    let all = (3, "one\n§\ntwo\n§\nthree".to_owned());
    assert_eq!((state(&mut third), state(&mut third)), (all.clone(), all));
    assert!(holds(home.path(), "one\n§\ntwo"));
    drop(lock);
    add(&mut third, "four");
    assert!(holds(home.path(), "one\n§\ntwo\n§\nthree\n§\nfour"));
    assert_eq!(actions(&mut third), ["4 add", "3 add", "2 add", "1 add"]);
}

#[test]
fn an_old_file_is_known_and_an_edit_too_whatever_the_clocks_say() {
    for hours in [-72, 0, 72] {
        let home = tempfile::tempdir().unwrap();
        let mut first = store(home.path());
        add(&mut first, "one");
        date(home.path(), hours);
        keep(home.path());
        for entry in ["two", "three"] {
            add(&mut first, entry);
        }
        // A power cut undid two renames.
        put_kept(home.path());
        let mut second = store(home.path());
        second.tidy().unwrap();
        assert_eq!(state(&mut second), (3, "one\n§\ntwo\n§\nthree".into()), "{hours}");
        // Somebody went back to an earlier text after a kill.
        for (at, text) in [(4, "one\n§\ntwo"), (5, "one")] {
            put(home.path(), text.as_bytes());
            date(home.path(), hours);
            let mut next = store(home.path());
            next.tidy().unwrap();
            assert_eq!(state(&mut next), (at, text.into()), "{hours}");
        }
    }
}

#[test]
fn who_empties_a_store_after_its_first_change_and_a_kill_has_emptied_it() {
    for hours in [-72, 0] {
        let home = tempfile::tempdir().unwrap();
        add(&mut store(home.path()), "one");
        put(home.path(), b"");
        date(home.path(), hours);
        let mut next = store(home.path());
        next.tidy().unwrap();
        assert_eq!(state(&mut next), (2, String::new()), "{hours}");
    }
    // A missing file is another case.
    let home = tempfile::tempdir().unwrap();
    add(&mut store(home.path()), "one");
    fs::remove_file(home.path().join("m/MEMORY.md")).unwrap();
    let mut next = store(home.path());
    next.tidy().unwrap();
    assert_eq!(state(&mut next), (1, "one".into()));
}

#[test]
fn what_came_together_stays_together_when_the_store_is_killed_before_the_file_has_it() {
    let home = tempfile::tempdir().unwrap();
    let mut killed = store(home.path());
    add(&mut killed, "one");
    keep(home.path());
    add(&mut killed, "two");
    put_kept(home.path());
    let mut next = store(home.path());
    let lock = Lock::try_now(&home.path().join("m/MEMORY.md.lock")).unwrap();
    assert_eq!(state(&mut next), (2, "one\n§\ntwo".into()));
    // The other program has not seen "two".
    put(home.path(), "one\n§\nthree".as_bytes());
    let all = (3, "one\n§\nthree\n§\ntwo".to_owned());
    assert_eq!(state(&mut next), all);
    next.flush().unwrap();
    drop(lock);
    let mut last = store(home.path());
    last.tidy().unwrap();
    assert_eq!(state(&mut last), all);
    assert!(holds(home.path(), &all.1));
    // Later content is an edit by another program.
    put(home.path(), "one\n§\nthree".as_bytes());
    let mut last = store(home.path());
    assert_eq!(state(&mut last), (4, "one\n§\nthree".into()));
}

#[test]
fn a_file_from_before_what_is_durable_is_put_there_by_somebody() {
    let home = tempfile::tempdir().unwrap();
    let mut first = store(home.path());
    add(&mut first, "one");
    keep(home.path());
    add(&mut first, "two");
    first.flush().unwrap();
    let mut second = store(home.path());
    add(&mut second, "three");
    // The process is killed, and somebody restores an old copy with its modification time.
    put_kept(home.path());
    let mut third = store(home.path());
    assert_eq!(state(&mut third), (4, "one".into()));
}

#[test]
fn what_another_program_took_back_stays_back() {
    let home = tempfile::tempdir().unwrap();
    let mut first = store(home.path());
    add(&mut first, "one");
    add(&mut first, "two");
    first.flush().unwrap();
    put(home.path(), b"one");
    let mut second = store(home.path());
    second.tidy().unwrap();
    assert_eq!(state(&mut second), (3, "one".into()));
    // The process is killed after that. The file is older than herma's last change. But the store has seen the file, so
    // the change did not fail to reach it.
    put(home.path(), "one\n§\ntwo".as_bytes());
    assert_eq!(state(&mut store(home.path())), (4, "one\n§\ntwo".into()));
}

#[test]
fn a_folder_that_vanished_is_an_edit_that_can_be_undone() {
    let home = tempfile::tempdir().unwrap();
    let mut store = store(home.path());
    add(&mut store, "one");
    fs::remove_dir_all(home.path().join("m")).unwrap();
    assert_eq!(state(&mut store), (2, String::new()));
    apply(&mut store, &Edit::Undo).unwrap();
    assert!(holds(home.path(), "one"));
    fs::remove_dir_all(home.path()).unwrap();
    add(&mut store, "two");
    assert!(holds(home.path(), "two"));
    assert_eq!(state(&mut Store::new(paths(home.path()), Target::Memory, store.limits, Arc::default())).1, "two");
}

#[test]
fn an_unreadable_file_is_left_alone_and_read_again_when_it_is_mended() {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), b"\xff\xfe broken");
    let mut store = store(home.path());
    assert!(matches!(store.view(), Err(StoreError::Unreadable { .. })));
    assert!(store.begin().is_err());
    assert!(file::holds(&home.path().join("m/MEMORY.md"), b"\xff\xfe broken").unwrap());
    put(home.path(), b"mended");
    assert_eq!(state(&mut store).1, "mended");
}

#[test]
fn an_edit_of_the_same_size_in_the_same_instant_is_seen() {
    let home = tempfile::tempdir().unwrap();
    let mut store = store(home.path());
    for round in 0..200 {
        let text = format!("{:04}", round % 7 * 1000);
        fs::create_dir_all(home.path().join("m")).unwrap();
        fs::write(home.path().join("m/MEMORY.md"), &text).unwrap();
        assert_eq!(state(&mut store).1, text);
    }
}

#[test]
fn the_journal_is_compacted_and_read_by_pages() {
    let home = tempfile::tempdir().unwrap();
    let mut store = store(home.path());
    for at in 0..12 {
        add(&mut store, &format!("{at}"));
        remove(&mut store, &format!("{at}"), Drift::Refused).unwrap();
        store.maintain().unwrap();
    }
    let rows = |store: &mut Store, before, limit| {
        let (rows, more) = store.log(&LogQuery { before, limit, ..LogQuery::default() }).unwrap();
        (rows.iter().map(|row| row.revision).collect::<Vec<_>>(), more)
    };
    assert_eq!(rows(&mut store, None, 2), (vec![24, 23], true));
    assert_eq!(rows(&mut store, Some(22), 2), (vec![21, 20], true));
    assert_eq!(rows(&mut store, Some(20), 9), (vec![19, 18], false));
    let times: Vec<f64> = store.log(&LogQuery::default()).unwrap().0.iter().map(|row| row.time).collect();
    for (since, until) in [(None, Some(times[0])), (Some(times[1]), None), (Some(times[2]), Some(times[1]))] {
        let is_wanted =
            |time: &f64| since.is_none_or(|since| *time >= since) && until.is_none_or(|until| *time < until);
        let expect: Vec<f64> = times.iter().copied().filter(is_wanted).collect();
        let (rows, more) = store.log(&LogQuery { since, until, ..LogQuery::default() }).unwrap();
        assert_eq!((rows.iter().map(|row| row.time).collect::<Vec<_>>(), more), (expect, false), "{since:?} {until:?}");
    }
    assert_eq!(store.log(&LogQuery { bytes: 0, ..LogQuery::default() }).unwrap().0.len(), 1);
}

#[test]
fn a_drifted_store_is_copied_once_before_it_is_refused_or_changed() {
    let home = tempfile::tempdir().unwrap();
    let long = "x".repeat(41);
    put(home.path(), long.as_bytes());
    let mut store = store(home.path());
    let refused = |store: &mut Store| match remove(store, "x", Drift::Refused) {
        Err(EditError::Refused(Refusal::Drift { backup: Some(Ok(path)), .. })) => path,
        other => panic!("{other:?}"),
    };
    let path = refused(&mut store);
    assert_eq!(refused(&mut store), path);
    assert!(path.to_string_lossy().contains("MEMORY.md.bak."));
    assert!(file::holds(&path, long.as_bytes()).unwrap());
    assert!(remove(&mut store, "x", Drift::Allowed).unwrap().entries.is_empty());
}

#[test]
fn at_most_five_copies_are_kept() {
    let home = tempfile::tempdir().unwrap();
    for length in 41..50 {
        put(home.path(), "x".repeat(length).as_bytes());
        assert!(remove(&mut store(home.path()), "x", Drift::Refused).is_err());
    }
    let names = folder::names(&home.path().join("m")).unwrap();
    assert_eq!(names.iter().filter(|name| name.contains(".bak.")).count(), 5);
}
