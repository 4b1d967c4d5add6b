//! Disks that fail. Existing data is not harmed, refused data does not appear, and the same daemon works again once the
//! cause is gone.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use herma_protocol::memory::Target;
use herma_tests::{Daemon, Held, Home, Injection, Journal, Need, Raw, Where, journal, kind};
use serde_json::{Value, json};

/// The thread that owns MEMORY.md.
const STORE: Where<'static> = Where::Thread("store-memory");

/// Size of the file system to fill, in bytes.
const ROOM: u64 = 4 << 20;

fn add(raw: &mut Raw, content: &str) -> Value {
    raw.call("memory.add", &json!({ "target": "memory", "content": content }))
}

/// Adds an entry, which must be the next revision.
fn assert_added(raw: &mut Raw, content: &str, revision: u64) {
    let reply = add(raw, content);
    assert_eq!(
        (&reply["result"]["success"], &reply["result"]["revision"]),
        (&json!(true), &json!(revision)),
        "{reply}"
    );
}

/// Checks that the daemon, the file and the journal agree.
fn assert_holds(home: &Home, raw: &mut Raw, entries: &[&str], revision: u64) {
    let reply = raw.call("memory.list", &json!({ "target": "memory" }));
    let view = &reply["result"]["memory"];
    assert_eq!((&view["entries"], &view["revision"]), (&json!(entries), &json!(revision)), "{reply}");
    assert_eq!(home.read_store(Target::Memory), entries.join("\n§\n"));
    let journal = Journal::read(home, Target::Memory);
    let (newest, after) = journal.newest();
    assert_eq!((newest, after, journal.torn), (revision, entries.iter().map(|entry| (*entry).to_owned()).collect(), 0));
    let log = raw.call("memory.log", &json!({ "target": "memory" }));
    assert_eq!(
        (&log["result"]["rows"][0]["revision"], &log["result"]["damaged"]),
        (&json!(revision), &json!(0)),
        "{log}"
    );
    let names = fs::read_dir(home.path().join("memories")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().ends_with(".tmp")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Checks for an error of this kind that names a file or folder.
fn assert_failed(reply: &Value, expected: &str, path: &str) {
    let error = &reply["error"];
    assert_eq!((kind(reply), &error["data"]["fault"]), (expected, &json!("disk")), "{reply}");
    let named = error["data"]["path"].as_str().unwrap();
    assert!(named.contains(path) && error["message"].as_str().unwrap().contains(named), "{path} in {reply}");
}

/// Requests a write that has to wait. So the store's thread does it, to which strace is attached.
fn ask_while_held(home: &Home, raw: &mut Raw) -> Held {
    let held = home.hold(Target::Memory);
    raw.request("memory.add", &json!({ "target": "memory", "content": "refused" }));
    raw.request("ping", &json!({}));
    assert_eq!(raw.read()["result"], json!({}));
    held
}

/// Makes one kind of call fail, twice. The first time the daemon keeps running, the second time it is killed right
/// after its answer.
fn check_failing_call(place: impl Fn(&Path) -> Where<'_>, rule: &str, file: &str) {
    if !Need::Strace.is_met() {
        return;
    }
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_added(&mut raw, "one", 1);
    assert_added(&mut raw, "two", 2);
    let path = journal::path(&home, Target::Memory);
    let refuse = |raw: &mut Raw| {
        let held = ask_while_held(&home, raw);
        let failing = Injection::attach(&daemon, place(&path), rule);
        drop(held);
        assert_failed(&raw.read(), "storage_failed", file);
        let hits = failing.hits();
        assert!(!hits.is_empty() && hits.iter().all(|hit| hit.contains(file)), "{file} in {hits:?}");
        failing
    };
    let failing = refuse(&mut raw);
    assert_holds(&home, &mut raw, &["one", "two"], 2);
    failing.end();
    assert_added(&mut raw, "three", 3);
    assert_holds(&home, &mut raw, &["one", "two", "three"], 3);

    let failing = refuse(&mut raw);
    daemon.kill();
    failing.end();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_holds(&home, &mut raw, &["one", "two", "three"], 3);
    assert_added(&mut raw, "four", 4);
    assert_holds(&home, &mut raw, &["one", "two", "three", "four"], 4);
}

#[test]
fn a_store_that_can_t_be_written_keeps_what_it_has() {
    // Files are written with `pwrite64`. Wake-ups of other threads use another call.
    check_failing_call(|_| STORE, "pwrite64:error=EIO", "memories/");
}

#[test]
fn a_store_that_can_t_be_synced_keeps_what_it_has() {
    check_failing_call(|_| STORE, "fsync:error=EIO", "memories/");
}

#[test]
fn a_store_that_can_t_be_renamed_keeps_what_it_has() {
    check_failing_call(|_| STORE, "rename,renameat,renameat2:error=EIO", "memories/");
}

#[test]
fn a_journal_that_can_t_be_written_keeps_what_it_has() {
    check_failing_call(|path| Where::File(path), "pwrite64:error=EIO", "memory.jsonl");
}

#[test]
fn a_journal_that_can_t_be_synced_keeps_what_it_has() {
    check_failing_call(|path| Where::File(path), "fdatasync:error=EIO", "memory.jsonl");
}

/// A row that can't be cut off at once is cut off before the next write.
#[test]
fn a_journal_that_can_t_be_cut_either_is_cut_before_the_next_write() {
    if !Need::Strace.is_met() {
        return;
    }
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_added(&mut raw, "one", 1);
    let path = journal::path(&home, Target::Memory);
    let failing = Injection::attach(&daemon, Where::File(&path), "fdatasync,ftruncate:error=EIO");
    for _ in 0..3 {
        assert_failed(&add(&mut raw, "refused"), "storage_failed", "memory.jsonl");
        let reply = raw.call("memory.list", &json!({ "target": "memory" }));
        let view = &reply["result"]["memory"];
        assert_eq!((&view["entries"], &view["revision"]), (&json!(["one"]), &json!(1)), "{reply}");
        assert_eq!(home.read_store(Target::Memory), "one");
    }
    failing.end();
    assert_added(&mut raw, "two", 2);
    assert_holds(&home, &mut raw, &["one", "two"], 2);
    daemon.kill();
    assert_holds(&home, &mut Daemon::start(&home).raw(), &["one", "two"], 2);
}

/// The file is renamed first, and then its folder is synced.
#[test]
fn a_new_store_whose_folder_can_t_be_synced_does_not_keep_what_was_refused() {
    if !Need::Strace.is_met() {
        return;
    }
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_added(&mut raw, "one", 1);
    fs::remove_file(home.store(Target::Memory)).unwrap();
    let reply = raw.call("memory.list", &json!({ "target": "memory" }));
    assert_eq!(reply["result"]["memory"]["revision"], 2, "{reply}");
    let held = ask_while_held(&home, &mut raw);
    let failing = Injection::attach(&daemon, STORE, "fsync:error=EIO:when=2");
    drop(held);
    assert_failed(&raw.read(), "storage_failed", "memories");
    assert!(failing.hits().iter().all(|hit| hit.contains("memories>")), "{:?}", failing.hits());
    failing.end();
    assert_holds(&home, &mut raw, &[], 2);
}

/// A cause for failing writes, until it is ended.
enum Cause<'a> {
    Filler(PathBuf),
    ReadOnly(&'a Home),
    Injected(Injection),
}

impl<'a> Cause<'a> {
    /// Fills the file system of a home to its last byte.
    fn full(home: &Home, daemon: &Daemon, is_mounted: bool) -> Self {
        if !is_mounted {
            let path = journal::path(home, Target::Memory);
            return Self::Injected(Injection::attach(daemon, Where::File(&path), "pwrite64:error=ENOSPC"));
        }
        let path = home.path().join("filler");
        let mut file = File::create(&path).unwrap();
        let mut fill = || (0..ROOM).find_map(|_| file.write(&[0; 4096]).err()).unwrap().kind();
        assert_eq!(fill(), std::io::ErrorKind::StorageFull);
        // A daemon that is idle for a while frees the space that it reserved.
        let given_back = Instant::now() + Duration::from_secs(1);
        while Instant::now() < given_back {
            assert_eq!(fill(), std::io::ErrorKind::StorageFull);
        }
        Self::Filler(path)
    }

    /// Makes the folder of the stores read-only.
    fn read_only(home: &'a Home, daemon: &Daemon, is_mounted: bool) -> Self {
        if !is_mounted {
            let path = home.path().join("memories/MEMORY.md.lock");
            return Self::Injected(Injection::attach(daemon, Where::File(&path), "openat:error=EROFS"));
        }
        mount(home, &["--bind"], true);
        mount(home, &["-o", "remount,bind,ro"], false);
        Self::ReadOnly(home)
    }

    fn end(self) {
        match self {
            Self::Filler(path) => fs::remove_file(path).unwrap(),
            Self::ReadOnly(home) => mount(home, &["-o", "remount,bind,rw"], false),
            Self::Injected(injection) => injection.end(),
        }
    }
}

/// Runs `mount` on the folder of the stores in the daemon's namespace. With `twice`, the folder is also the source.
fn mount(home: &Home, options: &[&str], twice: bool) {
    let folder = home.path().join("memories");
    let mut command = home.command("mount".as_ref());
    command.args(options).arg(&folder).args(twice.then_some(&folder));
    assert!(command.status().unwrap().success(), "{command:?}");
}

/// A home on its own file system, or an ordinary home whose calls must be made to fail. Returns `None` if neither is
/// possible.
fn small_home() -> Option<(Home, bool)> {
    match Home::small(ROOM) {
        Some(home) => Some((home, true)),
        None => Need::Strace.is_met().then(|| (Home::new(), false)),
    }
}

#[test]
fn a_full_disk_refuses_writes_harms_nothing_and_is_written_again_once_there_is_room() {
    let Some((home, is_mounted)) = small_home() else { return };
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_added(&mut raw, "one", 1);
    assert_added(&mut raw, "two", 2);
    let cause = Cause::full(&home, &daemon, is_mounted);
    for (method, params) in [
        ("memory.add", json!({ "target": "memory", "content": "refused" })),
        ("memory.replace", json!({ "target": "memory", "old_text": "one", "content": "refused" })),
        ("memory.remove", json!({ "target": "memory", "old_text": "one" })),
        ("memory.undo", json!({ "target": "memory" })),
        ("memory.restore", json!({ "target": "memory", "revision": 1 })),
    ] {
        assert_failed(&raw.call(method, &params), "storage_full", &home.path().display().to_string());
        assert_holds(&home, &mut raw, &["one", "two"], 2);
    }
    let status = raw.call("status", &json!({}));
    assert_eq!(
        (&status["result"]["stores"][0]["state"], &status["result"]["stores"][0]["journal"]),
        (&json!("ok"), &json!("ok"))
    );
    cause.end();
    assert_added(&mut raw, "three", 3);
    assert_holds(&home, &mut raw, &["one", "two", "three"], 3);

    // The daemon is killed and started again while the disk is full.
    let cause = Cause::full(&home, &daemon, is_mounted);
    assert_failed(&add(&mut raw, "refused"), "storage_full", &home.path().display().to_string());
    daemon.kill();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_holds(&home, &mut raw, &["one", "two", "three"], 3);
    cause.end();
    assert_added(&mut raw, "four", 4);
    assert_holds(&home, &mut raw, &["one", "two", "three", "four"], 4);
}

#[test]
fn a_read_only_folder_refuses_writes_harms_nothing_and_is_written_again_afterwards() {
    let Some((home, is_mounted)) = small_home() else { return };
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_added(&mut raw, "one", 1);
    let cause = Cause::read_only(&home, &daemon, is_mounted);
    for _ in 0..2 {
        assert_failed(&add(&mut raw, "refused"), "permission_denied", "/memories");
        assert_holds(&home, &mut raw, &["one"], 1);
    }
    cause.end();
    assert_added(&mut raw, "two", 2);
    assert_holds(&home, &mut raw, &["one", "two"], 2);
    daemon.kill();
    assert_holds(&home, &mut Daemon::start(&home).raw(), &["one", "two"], 2);
}

#[test]
fn a_stores_folder_that_is_removed_is_an_edit_that_can_be_undone() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_added(&mut raw, "one", 1);
    assert_added(&mut raw, "two", 2);
    fs::remove_dir_all(home.path().join("memories")).unwrap();
    let reply = raw.call("memory.list", &json!({ "target": "memory" }));
    assert_eq!(
        (&reply["result"]["memory"]["entries"], &reply["result"]["memory"]["revision"]),
        (&json!([]), &json!(3)),
        "{reply}"
    );
    let undone = raw.call("memory.undo", &json!({ "target": "memory" }));
    assert_eq!(undone["result"]["revision"], 4, "{undone}");
    assert_holds(&home, &mut raw, &["one", "two"], 4);
    fs::remove_dir_all(home.path().join("memories")).unwrap();
    assert_added(&mut raw, "three", 6);
    assert_holds(&home, &mut raw, &["three"], 6);
    daemon.kill();
    assert_holds(&home, &mut Daemon::start(&home).raw(), &["three"], 6);
}

/// Calls `prepare`, and then removes the journal's folder of a running daemon. Returns the revision of the next write.
/// The last one before it is 2.
fn check_removed_journal(prepare: impl Fn(&Home, &mut Raw)) -> u64 {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_added(&mut raw, "one", 1);
    assert_added(&mut raw, "two", 2);
    prepare(&home, &mut raw);
    fs::remove_dir_all(home.path().join("herma/journal")).unwrap();
    let added = add(&mut raw, "three");
    assert_eq!(added["result"]["entries"], json!(["one", "two", "three"]), "{added}");
    let revision = added["result"]["revision"].as_u64().unwrap();
    assert_holds(&home, &mut raw, &["one", "two", "three"], revision);
    daemon.kill();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_holds(&home, &mut raw, &["one", "two", "three"], revision);
    let undone = raw.call("memory.undo", &json!({ "target": "memory" }));
    assert_eq!(undone["result"]["entries"], json!(["one", "two"]), "{undone}");
    assert_holds(&home, &mut raw, &["one", "two"], revision + 1);
    revision
}

/// Sets the store's modification time, and reads the store once.
fn date(home: &Home, raw: &mut Raw, time: SystemTime) {
    File::options().append(true).open(home.store(Target::Memory)).unwrap().set_modified(time).unwrap();
    assert_holds(home, raw, &["one", "two"], 2);
}

#[test]
fn a_journal_that_is_removed_while_the_store_is_written_is_begun_anew_and_keeps_every_later_write() {
    // A file that has just been written is read again, and its journal is checked.
    let revision = check_removed_journal(|home, raw| date(home, raw, SystemTime::now() + Duration::from_hours(1)));
    assert!(revision > 0);
}

#[test]
fn a_journal_that_is_removed_leads_to_no_revision_that_was_given_before() {
    let revision = check_removed_journal(|home, raw| date(home, raw, SystemTime::now() + Duration::from_hours(1)));
    assert!(revision > 2, "{revision}");
}

#[test]
fn a_journal_that_is_removed_while_nobody_writes_is_begun_anew_and_keeps_every_later_write() {
    // A file that was written long ago is not read again.
    let revision = check_removed_journal(|home, raw| date(home, raw, SystemTime::UNIX_EPOCH));
    assert!(revision > 2, "{revision}");
}

#[test]
fn what_sed_takes_out_after_a_kill_stays_out() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_added(&mut raw, "one", 1);
    assert_added(&mut raw, "two", 2);
    daemon.kill();
    // The file has the content from before the last change, but it is another file.
    let file = home.store(Target::Memory);
    let status = std::process::Command::new("sed").args(["-i", "/^§$/,$d"]).arg(&file).status().unwrap();
    assert!(status.success());
    let daemon = Daemon::start(&home);
    let listed = daemon.raw().result("memory.list", &json!({ "target": "memory" }));
    assert_eq!(listed["memory"]["entries"], json!(["one"]), "{listed}");
}
