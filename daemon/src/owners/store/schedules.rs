//! Writers, readers and another program use one store, in thousands of interleavings.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "a test plays another program")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use herma_disk::lock::Lock;
use herma_memory::change::{Change, Changes, Drift};
use herma_memory::{Entry, Store};
use shuttle::future::block_on;
use shuttle::thread;
use tempfile::TempDir;

use super::*;
use crate::owners::commit_token::CancelOnDrop;

const SCHEDULES: usize = 10_000;

/// One watch for all schedules, which reports nothing, because its events would come from a thread of the system.
static WATCH: LazyLock<Arc<Watch>> = LazyLock::new(|| Arc::new(Watch::new(|_| {})));

fn paths(folder: &Path) -> Paths {
    Paths { file: folder.join("m/MEMORY.md"), journal: folder.join("j/memory.jsonl") }
}

const LIMITS: Limits = Limits { chars: 2_200, revisions: 100 };

fn start() -> (TempDir, StoreHandle) {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    fs::create_dir(folder.path().join("m")).unwrap();
    let handle = StoreHandle::start(StoreContext {
        profile: "default".into(),
        target: Target::Memory,
        paths: paths(folder.path()),
        limits: LIMITS,
        policy: Arc::default(),
        events: Events::default(),
        watch: Arc::clone(&WATCH),
        is_shared: false,
    });
    (folder, handle.unwrap())
}

fn add(content: &str, token: CommitToken, expected_revision: Option<u64>) -> Write {
    let changes = Changes::Single(Change::Add { content: content.into() });
    let edit = Edit::Change { changes, drift: Drift::Refused };
    Write { edit, author: Author::default(), expected_revision, token }
}

fn texts(entries: &[Entry]) -> BTreeSet<String> {
    entries.iter().map(|entry| entry.to_string()).collect()
}

/// Returns the entries at the end, and checks that the file, the store and a reopened store have the same.
fn left(folder: &TempDir, handle: StoreHandle) -> BTreeSet<String> {
    handle.flush(Duration::ZERO);
    let shown = block_on(handle.view()).unwrap();
    drop(handle);
    let text = fs::read_to_string(paths(folder.path()).file).unwrap_or_default();
    let there = texts(&herma_memory::entries::parse(&text));
    assert_eq!(there, texts(&shown.entries));
    let mut again = Store::new(paths(folder.path()), Target::Memory, LIMITS, Arc::default());
    let view = again.view().unwrap();
    assert_eq!((texts(&view.entries), view.revision, view.damaged), (there.clone(), shown.revision, 0));
    // Each revision occurs once, and each begins with the result of the one before.
    let (rows, _) = again.log(None, usize::MAX, usize::MAX).unwrap();
    assert_eq!(u64::try_from(rows.len()).unwrap(), shown.revision);
    for pair in rows.windows(2) {
        assert_eq!((pair[0].revision, &pair[0].before), (pair[1].revision + 1, &pair[1].after));
    }
    there
}

#[test]
fn what_is_acknowledged_is_there_and_what_was_given_up_is_not() {
    shuttle::check_random(
        || {
            let (folder, handle) = start();
            let writers = ["a", "b"].map(|name| {
                let handle = handle.clone();
                thread::spawn(move || {
                    for at in 0..2 {
                        let written = block_on(handle.write(add(&format!("{name}{at}"), CommitToken::default(), None)));
                        assert!(written.unwrap().outcome.is_ok());
                        // A writer that got an answer finds its entry.
                        let view = block_on(handle.view()).unwrap();
                        assert!(texts(&view.entries).contains(&format!("{name}{at}")));
                    }
                })
            });
            // A request that times out while it waits, or just before that.
            let token = CommitToken::default();
            let late = {
                let (handle, token) = (handle.clone(), token.clone());
                thread::spawn(move || drop(block_on(handle.write(add("late", token, None)))))
            };
            let deadline = thread::spawn(move || {
                let given_up = token.give_up();
                drop(CancelOnDrop(token));
                given_up
            });
            let reader = {
                let handle = handle.clone();
                thread::spawn(move || {
                    let mut seen = (0, BTreeSet::new());
                    for _ in 0..3 {
                        let view = block_on(handle.view()).unwrap();
                        let now = texts(&view.entries);
                        assert!(view.revision >= seen.0 && now.is_superset(&seen.1));
                        seen = (view.revision, now);
                    }
                })
            };
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            late.join().unwrap();
            reader.join().unwrap();
            let given_up = deadline.join().unwrap();
            let there = left(&folder, handle);
            assert!(["a0", "a1", "b0", "b1"].iter().all(|entry| there.contains(*entry)), "{there:?}");
            assert_eq!(there.contains("late"), !given_up);
        },
        SCHEDULES,
    );
}

#[test]
fn of_those_who_saw_the_same_revision_one_writes() {
    shuttle::check_random(
        || {
            let (folder, handle) = start();
            let writers = ["a", "b", "c"].map(|name| {
                let handle = handle.clone();
                thread::spawn(move || {
                    let seen = block_on(handle.view()).unwrap().revision;
                    let written = block_on(handle.write(add(name, CommitToken::default(), Some(seen))));
                    written.is_ok().then_some((seen, name))
                })
            });
            let done: Vec<_> = writers.into_iter().filter_map(|writer| writer.join().unwrap()).collect();
            let from: BTreeSet<u64> = done.iter().map(|(seen, _)| *seen).collect();
            assert_eq!(from.len(), done.len(), "{done:?}");
            let names: BTreeSet<String> = done.iter().map(|(_, name)| (*name).to_owned()).collect();
            assert!(!names.is_empty());
            assert_eq!(left(&folder, handle), names);
        },
        SCHEDULES,
    );
}

/// Writes like Hermes: takes the lock, reads the file, and replaces it with a new one.
fn hermes(folder: &Path, entry: &str) {
    let file = paths(folder).file;
    let _held = loop {
        match Lock::try_now(&file.with_extension("md.lock")).unwrap() {
            Some(lock) => break lock,
            None => thread::yield_now(),
        }
    };
    let mut entries = herma_memory::entries::parse(&fs::read_to_string(&file).unwrap_or_default());
    thread::yield_now();
    entries.push(entry.into());
    fs::write(file.with_extension("new"), herma_memory::entries::join(&entries)).unwrap();
    thread::yield_now();
    fs::rename(file.with_extension("new"), &file).unwrap();
}

#[test]
fn another_program_that_locks_loses_nothing_and_takes_nothing_away() {
    shuttle::check_random(
        || {
            let (folder, handle) = start();
            let path = folder.path().to_owned();
            let other = thread::spawn(move || ["x", "y"].iter().for_each(|entry| hermes(&path, entry)));
            let writers = ["a", "b"].map(|name| {
                let handle = handle.clone();
                thread::spawn(move || {
                    handle.hint();
                    let written = block_on(handle.write(add(name, CommitToken::default(), None)));
                    assert!(written.unwrap().outcome.is_ok());
                })
            });
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            other.join().unwrap();
            let there = left(&folder, handle);
            assert_eq!(there, ["a", "b", "x", "y"].map(str::to_owned).into());
        },
        SCHEDULES,
    );
}
