#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test plays other programs, and may stop at the first surprise"
)]

use std::fs;
use std::os::unix::fs::symlink;

use super::super::edit::Edit;
use super::*;
use crate::journal::line::Author;

const LIMITS: FileLimits = FileLimits { file_bytes: 1000, total_bytes: 10_000, count: 100, revisions: 4 };

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn open(&self) -> FileStore {
        FileStore::new(self.at(""), self.journal(), LIMITS, Arc::default())
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join("files").join(path)
    }

    fn journal(&self) -> PathBuf {
        self.0.path().join("journal/files.jsonl")
    }

    fn put(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }
}

fn path(text: &str) -> FilePath {
    FilePath::parse(&format!("/memories/{text}")).unwrap()
}

fn write(store: &mut FileStore, at: &str, text: &str) -> Answer {
    edit(store, &Edit::Write { path: path(at), text: text.into() }).unwrap()
}

fn edit(store: &mut FileStore, edit: &Edit) -> Result<Answer, FileStoreError> {
    store.begin().unwrap().edit(edit, None, &Author::default())
}

fn undo(store: &mut FileStore, at: &str) -> Result<Answer, FileStoreError> {
    store.begin().unwrap().undo(&path(at), None, &Author::default())
}

fn restore(store: &mut FileStore, at: &str, revision: u64) -> Result<Answer, FileStoreError> {
    store.begin().unwrap().restore(&path(at), revision, None, &Author::default())
}

/// Formats the files as `revision: path=text …`.
fn seen(store: &mut FileStore) -> String {
    let files = store.view().unwrap();
    let texts: Vec<String> =
        files.files.iter().map(|(path, file)| format!("{}={}", path.as_str(), file.text)).collect();
    format!("{}: {}", files.revision, texts.join(" "))
}

fn actions(store: &mut FileStore, at: &str) -> Vec<String> {
    let (rows, more) = store.log(&path(at), None, 50, usize::MAX).unwrap();
    assert!(!more);
    rows.iter().map(|row| format!("{} {}", row.revision, row.action.name())).collect()
}

#[test]
fn changes_survive_and_are_taken_back() {
    let home = Home::new();
    let mut store = home.open();
    assert_eq!(seen(&mut store), "0: ");
    assert_eq!(write(&mut store, "a", "1").own_revision, 1);
    write(&mut store, "d/b", "x");
    assert_eq!(write(&mut store, "a", "2").revision, 3);
    assert!(write(&mut store, "a", "2").revision == 3, "the same text is no change");
    edit(&mut store, &Edit::Rename { from: path("d"), to: path("e/f") }).unwrap();
    assert_eq!(seen(&mut home.open()), "4: a=2 e/f/b=x");
    assert!(!home.at("d").exists() && home.at("e/f/b").is_file());
    // One undo reverts a change, and another one reverts that undo.
    undo(&mut store, "").unwrap();
    assert_eq!(seen(&mut store), "5: a=2 d/b=x");
    undo(&mut store, "").unwrap();
    undo(&mut store, "a").unwrap();
    assert_eq!(seen(&mut store), "7: a=1 e/f/b=x");
    restore(&mut store, "", 2).unwrap();
    assert_eq!(seen(&mut home.open()), "8: a=1 d/b=x");
    assert!(restore(&mut store, "", 8).unwrap().is_same);
    assert_eq!(store.text_at(&path("a"), 6).unwrap().as_ref(), "2");
    restore(&mut store, "a", 6).unwrap();
    edit(&mut store, &Edit::Delete { path: path("d") }).unwrap();
    assert_eq!(seen(&mut store), "10: a=2");
    assert!(matches!(restore(&mut store, "", 11), Err(FileStoreError::NotKept { revision: 11, kept: Some(_) })));
    let events: Vec<u64> = store.take_events().iter().map(|event| event.revision).collect();
    assert_eq!(events, (1..=10).collect::<Vec<u64>>());
}

#[test]
fn what_has_changed_since_is_not_taken_back() {
    let home = Home::new();
    let mut store = home.open();
    write(&mut store, "a", "1");
    write(&mut store, "b", "1");
    edit(&mut store, &Edit::Rename { from: path("b"), to: path("c") }).unwrap();
    write(&mut store, "c", "2");
    assert_eq!(actions(&mut store, "b"), ["3 rename", "2 write"]);
    let refused = undo(&mut store, "b").map(|answer| answer.revision);
    assert!(matches!(refused, Err(FileStoreError::Refused(FileRefusal::ChangedSince { revision: 3, .. }))));
    undo(&mut store, "a").unwrap();
    assert!(matches!(undo(&mut store, "never"), Err(FileStoreError::Refused(FileRefusal::NothingToUndo(_)))));
}

#[test]
fn a_revision_is_expected_of_a_file_a_folder_or_all() {
    let home = Home::new();
    let mut store = home.open();
    write(&mut store, "d/a", "1");
    write(&mut store, "d/b", "1");
    let mut try_with = |at: &str, expected| {
        let edit = Edit::Write { path: path(at), text: "x".into() };
        let done = store.begin().unwrap().edit(&edit, Some(expected), &Author::default());
        done.map(|answer| answer.own_revision).map_err(|denied| match denied {
            FileStoreError::Refused(FileRefusal::Stale { revision, .. }) => revision,
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(
        (try_with("d/a", 2), try_with("d/a", 1), try_with("n", 1), try_with("n", 0)),
        (Err(1), Ok(3), Err(0), Ok(4))
    );
    let mut delete = |expected| {
        let edit = Edit::Delete { path: path("d") };
        store.begin().unwrap().edit(&edit, Some(expected), &Author::default()).map(|answer| answer.own_revision)
    };
    assert!(delete(2).is_err());
    assert_eq!(delete(3).unwrap(), 0);
    assert!(store.begin().unwrap().undo(&path(""), Some(4), &Author::default()).is_err());
    assert!(store.begin().unwrap().undo(&path(""), Some(5), &Author::default()).is_ok());
}

#[test]
fn edits_by_other_programs_are_revisions_of_their_own() {
    let home = Home::new();
    home.put("a", "by hand");
    home.put("d/b", "too");
    let mut store = home.open();
    assert_eq!(seen(&mut store), "1: a=by hand d/b=too");
    home.put("a", "by hant");
    fs::remove_file(home.at("d/b")).unwrap();
    home.put("n", "new");
    assert_eq!(seen(&mut store), "2: a=by hant n=new");
    assert_eq!(actions(&mut store, ""), ["2 external"]);
    drop(store);
    home.put("n", "while nobody looked");
    let mut store = home.open();
    assert_eq!(seen(&mut store), "3: a=by hant n=while nobody looked");
    restore(&mut store, "", 1).unwrap();
    assert_eq!(seen(&mut store), "4: a=by hand d/b=too");
    assert!(matches!(restore(&mut store, "", 0), Err(FileStoreError::NotKept { .. })));
}

#[test]
fn a_change_between_the_look_and_the_write_is_seen() {
    let home = Home::new();
    let mut store = home.open();
    write(&mut store, "a", "1");
    let transaction = store.begin().unwrap();
    home.put("a", "another program");
    let replace = Edit::StrReplace { path: path("a"), old: "1".into(), new: "2".into() };
    let denied = transaction.edit(&replace, None, &Author::default());
    assert!(matches!(denied, Err(FileStoreError::Refused(FileRefusal::NoMatch { .. }))));
    assert_eq!(seen(&mut store), "2: a=another program");
}

#[test]
fn what_a_killed_process_left_is_finished() {
    for is_replacement in [false, true] {
        let home = Home::new();
        let mut store = home.open();
        write(&mut store, "other", "1");
        if is_replacement {
            write(&mut store, "a", "old");
        }
        let before = fs::read(home.journal()).unwrap();
        let old = is_replacement.then(|| home.0.path().join("kept"));
        // A hard link keeps the very same file, as if the rename never happened.
        old.iter().for_each(|old| fs::hard_link(home.at("a"), old).unwrap());
        write(&mut store, "a", "new");
        drop(store);
        let journal = fs::read(home.journal()).unwrap();
        let row_end = before.len() + journal[before.len()..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let put_old_back = || {
            fs::write(home.journal(), &journal[..row_end]).unwrap();
            fs::remove_file(home.at("a")).unwrap();
            old.iter().for_each(|old| fs::hard_link(old, home.at("a")).unwrap());
        };
        put_old_back();
        let revision = 2 + u64::from(is_replacement);
        assert_eq!(seen(&mut home.open()), format!("{revision}: a=new other=1"));
        assert_eq!(fs::read_to_string(home.at("a")).unwrap(), "new");
        // A later edit by a person stays.
        put_old_back();
        home.put("a", "theirs");
        assert_eq!(seen(&mut home.open()), format!("{}: a=theirs other=1", revision + 1));
        // A file that was removed after the change was in place stays removed.
        fs::write(home.journal(), &journal).unwrap();
        fs::remove_file(home.at("a")).unwrap();
        assert_eq!(seen(&mut home.open()), format!("{}: other=1", revision + 1));
    }
}

#[test]
fn what_is_no_text_of_ours_is_left_alone() {
    let home = Home::new();
    let outside = home.0.path().join("outside");
    fs::write(&outside, "secret").unwrap();
    let mut store = home.open();
    write(&mut store, "a", "1");
    symlink(&outside, home.at("link")).unwrap();
    fs::write(home.at("bytes"), [0xff, 0xfe]).unwrap();
    fs::write(home.at("long"), vec![b'x'; 2 << 20]).unwrap();
    home.put(".hidden/x", "x");
    assert_eq!(seen(&mut store), "1: a=1");
    let ignored: Vec<String> =
        store.view().unwrap().ignored.iter().map(|(path, why)| format!("{path}: {why}")).collect();
    assert_eq!(ignored.len(), 3, "{ignored:?}");
    assert!(
        ignored[0].contains("no UTF-8 at byte 0")
            && ignored[1].contains("link")
            && ignored[2].contains("2097152 bytes")
    );
    for at in ["link", "bytes", "long"] {
        let refused = edit(&mut store, &Edit::Write { path: path(at), text: "x".into() });
        assert!(matches!(refused, Err(FileStoreError::Refused(FileRefusal::Ignored { .. }))));
    }
    // If something else replaced the file, the file counts as removed and is not restored over it.
    fs::remove_file(home.at("a")).unwrap();
    symlink(&outside, home.at("a")).unwrap();
    assert_eq!(seen(&mut store), "2: ");
    assert!(matches!(undo(&mut store, "a"), Err(FileStoreError::Refused(FileRefusal::Ignored { .. }))));
    assert_eq!(fs::read_to_string(&outside).unwrap(), "secret");
}

#[test]
fn a_long_journal_is_shortened_and_says_what_was_there() {
    let home = Home::new();
    let mut store = home.open();
    write(&mut store, "first", "kept");
    for number in 0..20 {
        write(&mut store, "a", &number.to_string());
    }
    assert!(fs::read_to_string(home.journal()).unwrap().lines().count() < 18);
    assert_eq!(seen(&mut store), "21: a=19 first=kept");
    let mut again = home.open();
    assert_eq!(seen(&mut again), "21: a=19 first=kept");
    assert_eq!(again.view().unwrap().revision_of(&path("first")), 1);
    assert_eq!(restore(&mut again, "", 19).unwrap().revision, 22);
    assert_eq!(seen(&mut again), "22: a=17 first=kept");
    let denied = restore(&mut again, "", 1);
    assert!(matches!(denied, Err(FileStoreError::NotKept { revision: 1, kept: Some((10.., 22)) })), "{denied:?}");
    // Without a journal, no revision is assigned twice.
    fs::remove_file(home.journal()).unwrap();
    assert_eq!(seen(&mut again), "23: a=17 first=kept");
}

#[test]
fn a_failed_write_changes_nothing_and_reading_goes_on() {
    let home = Home::new();
    let mut store = home.open();
    write(&mut store, "a", "1");
    // A folder in the journal's place makes writes fail.
    let journal = fs::read(home.journal()).unwrap();
    fs::remove_file(home.journal()).unwrap();
    fs::create_dir(home.journal()).unwrap();
    assert!(store.begin().is_err());
    fs::remove_dir(home.journal()).unwrap();
    fs::write(home.journal(), journal).unwrap();
    assert_eq!(seen(&mut store), "1: a=1");
    assert_eq!(write(&mut store, "a", "2").revision, 2);
}

#[test]
fn files_become_folders_and_back() {
    let delete = |at: &str| Edit::Delete { path: path(at) };
    let home = Home::new();
    let mut store = home.open();
    write(&mut store, "a", "file");
    edit(&mut store, &delete("a")).unwrap();
    write(&mut store, "a/b/c", "below");
    restore(&mut store, "", 1).unwrap();
    assert_eq!(seen(&mut store), "4: a=file");
    restore(&mut store, "", 3).unwrap();
    assert_eq!(seen(&mut store), "5: a/b/c=below");
    undo(&mut store, "").unwrap();
    assert_eq!(seen(&mut home.open()), "6: a=file");
    // The same by hand, with an empty folder in the file's place.
    fs::remove_file(home.at("a")).unwrap();
    home.put("a/z", "by hand");
    assert_eq!(seen(&mut store), "7: a/z=by hand");
    undo(&mut store, "a").unwrap();
    assert_eq!(seen(&mut store), "8: a=file");
    undo(&mut store, "").unwrap();
    edit(&mut store, &delete("a/z")).unwrap();
    assert!(home.at("a").is_dir());
    restore(&mut store, "a", 8).unwrap();
    assert_eq!(seen(&mut store), "11: a=file");
    // An entry that is not kept prevents the removal of its folder.
    undo(&mut store, "").unwrap();
    fs::create_dir_all(home.at("a")).unwrap();
    home.put("a/.hidden", "x");
    assert!(matches!(restore(&mut store, "a", 8), Err(FileStoreError::Refused(FileRefusal::Ignored { .. }))));
    assert!(matches!(edit(&mut store, &delete("a")), Err(FileStoreError::Refused(FileRefusal::Ignored { .. }))));
}

#[test]
fn nothing_is_taken_back_over_what_the_journal_lost() {
    let home = Home::new();
    let mut store = home.open();
    for at in ["a", "b", "c"] {
        write(&mut store, at, "1");
    }
    let whole = fs::read_to_string(home.journal()).unwrap();
    fs::remove_file(home.journal()).unwrap();
    assert_eq!(seen(&mut store), "4: a=1 b=1 c=1");
    assert!(matches!(undo(&mut store, ""), Err(FileStoreError::Refused(FileRefusal::NothingToUndo(_)))));
    assert!(matches!(restore(&mut store, "", 3), Err(FileStoreError::NotKept { revision: 3, kept: Some((4, 4)) })));
    // A row is damaged, so the files before it are not fully known.
    for (damaged, undone) in [(0, 3), (2, 3), (4, 2)] {
        let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
        lines[damaged] = lines[damaged].replace("\"time\"", "\"tame\"");
        fs::write(home.journal(), lines.join("\n") + "\n").unwrap();
        let mut store = home.open();
        let before = seen(&mut store);
        let revision: u64 = before.split(':').next().unwrap().parse().unwrap();
        assert!(before.ends_with(": a=1 b=1 c=1"), "{before}");
        for earlier in 0..=2 {
            let denied = restore(&mut store, "", earlier);
            assert!(
                matches!(denied, Err(FileStoreError::NotKept { .. })),
                "row {damaged}, revision {earlier}: {denied:?}"
            );
        }
        write(&mut store, "d", "1");
        undo(&mut store, "").unwrap();
        assert_eq!(seen(&mut store), format!("{}: a=1 b=1 c=1", revision + 2), "{undone}");
        drop(store);
    }
}

#[test]
fn edits_by_hand_lengthen_no_journal_for_ever() {
    let home = Home::new();
    let mut store = home.open();
    for number in 0..30 {
        home.put("a", &format!("by hand {number}"));
        store.view().unwrap();
    }
    let lines = fs::read_to_string(home.journal()).unwrap().lines().count();
    assert!(lines < 10, "{lines}");
    assert_eq!(seen(&mut store), "30: a=by hand 29");
}

#[test]
fn there_is_an_end_to_folders_and_to_what_is_put_back() {
    let home = Home::new();
    let limits = FileLimits { count: 6, total_bytes: 30, ..LIMITS };
    let mut store = FileStore::new(home.at(""), home.journal(), limits, Arc::default());
    write(&mut store, "a/b/c/d", "x");
    let create = |at: &str| Edit::Create { path: path(at), text: "y".into() };
    assert!(matches!(
        edit(&mut store, &create("e/f/g/h/i")),
        Err(FileStoreError::Refused(FileRefusal::TooManyFolders { count: 7, limit: 6 }))
    ));
    edit(&mut store, &create("e/f/g/h")).unwrap();
    let rename = |from: &str, to: &str| Edit::Rename { from: path(from), to: path(to) };
    assert!(edit(&mut store, &rename("e/f/g/h", "i/h")).is_err());
    // A deleted file can be restored as long as there is room.
    write(&mut store, "one", &"1".repeat(20));
    edit(&mut store, &Edit::Delete { path: path("one") }).unwrap();
    write(&mut store, "two", &"2".repeat(20));
    assert!(matches!(restore(&mut store, "one", 3), Err(FileStoreError::Refused(FileRefusal::Full { .. }))));
    edit(&mut store, &Edit::Delete { path: path("two") }).unwrap();
    restore(&mut store, "one", 3).unwrap();
    let deep = |names: usize| vec!["n"; names].join("/");
    let mut store = home.open();
    write(&mut store, &deep(10), "x");
    fs::create_dir_all(home.at("m")).unwrap();
    for at in [&deep(9)[..], "n"] {
        let to = format!("m/{}/k", deep(7));
        assert!(edit(&mut store, &rename(at, &to)).is_err() || at != "n", "{at}");
    }
}

#[test]
fn odd_things_put_there_by_hand_stop_nothing() {
    use std::os::unix::net::UnixListener;

    let home = Home::new();
    let mut store = home.open();
    write(&mut store, "a", "1");
    write(&mut store, "b", "1");
    fs::remove_file(home.at("a")).unwrap();
    let _socket = UnixListener::bind(home.at("a")).unwrap();
    fs::write(home.at("control"), "x\u{1b}[31m").unwrap();
    home.put("x\n10B\tforged/y", "1");
    home.put("p%2eq/y", "1");
    assert_eq!(seen(&mut store), "3: b=1");
    let ignored: Vec<String> = store.view().unwrap().ignored.keys().map(|path| path.as_str().to_owned()).collect();
    assert_eq!(ignored, ["a", "control", "p%2eq", "p%2eq/y", "x\n10B\tforged", "x\n10B\tforged/y"]);
    write(&mut store, "b", "2");
    let long = "a".repeat(1000);
    edit(&mut store, &Edit::Create { path: path("long"), text: long }).unwrap();
    let replace = Edit::StrReplace { path: path("long"), old: "a".repeat(500), new: "b".into() };
    assert!(matches!(
        edit(&mut store, &replace),
        Err(FileStoreError::Refused(FileRefusal::Several { lines, .. })) if lines.len() == 101
    ));
}
