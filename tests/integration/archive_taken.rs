//! The archive's file is locked by another program, removed or replaced. No acknowledged data is lost, no session gets
//! a new snapshot, and everything works afterwards.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use herma_tests::{Daemon, Home, Raw, eventually, kind, python};
use serde_json::{Value, json};

fn archive(home: &Home) -> PathBuf {
    home.path().join("herma/archive.db")
}

fn message(at: usize) -> Value {
    let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
    json!({ "role": role, "content": format!("message {at} {}", "of it ".repeat(100)) })
}

fn append(raw: &mut Raw, at: usize) -> Value {
    let params = json!({ "session": "s", "generation": 0, "position": at, "messages": [message(at)] });
    raw.call("session.append", &params)
}

fn state(raw: &mut Raw) -> String {
    raw.result("status", &json!({}))["archive"]["state"].as_str().unwrap().to_owned()
}

/// Adds a session with ten messages, and then an entry that is not in its snapshot. Returns the snapshot.
fn fill(raw: &mut Raw) -> Value {
    drop(raw.result("memory.add", &json!({ "target": "memory", "content": "what is known" })));
    let opened = raw.result("session.open", &json!({ "session": "s" }));
    for at in 0..10 {
        assert_eq!(append(raw, at)["result"]["position"], json!(at + 1));
    }
    drop(raw.result("memory.add", &json!({ "target": "memory", "content": "what came later" })));
    opened["snapshot"].clone()
}

/// Fills a home and stops its daemon. Returns the session's snapshot and the path of an archive backup.
fn filled_with_backup(home: &Home) -> (Value, PathBuf) {
    let mut daemon = Daemon::start(home);
    let snapshot = fill(&mut daemon.raw());
    daemon.terminate();
    daemon.ended();
    let backup = home.path().join("backup.db");
    fs::copy(archive(home), &backup).unwrap();
    (snapshot, backup)
}

fn messages(raw: &mut Raw) -> Value {
    raw.result("session.show", &json!({ "session": "s" }))["messages"].clone()
}

/// Starts another program that runs these statements and keeps the file open until it reads a line.
fn holding(path: &Path, statements: &[&str]) -> Child {
    let script = "\
import sqlite3, sys\n\
db = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
for statement in sys.argv[2:]: db.execute(statement)\n\
print('locked', flush=True)\n\
sys.stdin.readline()\n\
db.rollback()\n";
    let arguments: Vec<&str> = std::iter::once(path.to_str().unwrap()).chain(statements.iter().copied()).collect();
    let mut child = python::start(script, &arguments);
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "locked\n");
    child
}

fn let_go(mut holder: Child) {
    holder.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(holder.wait().unwrap().success());
}

#[test]
fn an_archive_that_another_program_locks_is_waited_for() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let snapshot = fill(&mut daemon.raw());
    daemon.terminate();
    daemon.ended();
    let all = ["PRAGMA journal_mode = DELETE", "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE"];
    let holder = holding(&archive(&home), &all);
    daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for method in ["session.open", "session.snapshot"] {
        let reply = raw.call(method, &json!({ "session": "s" }));
        assert_eq!((kind(&reply), &reply["error"]["data"]["retry"]), ("unavailable", &json!(true)), "{reply}");
    }
    assert!(state(&mut raw).contains("not in use"), "{}", state(&mut raw));
    drop(raw.result("memory.list", &json!({ "target": "memory" })));
    let_go(holder);
    eventually("the archive to be in use", || (state(&mut raw) == "ok").then_some(()));
    let opened = raw.result("session.open", &json!({ "session": "s" }));
    assert_eq!((&opened["resumed"], &opened["snapshot"]), (&json!(true), &snapshot));
    assert_eq!(messages(&mut raw), json!(10));
    assert_eq!(append(&mut raw, 10)["result"]["position"], json!(11));
}

#[test]
fn calls_wait_for_another_programs_lock_at_the_same_time_and_reads_go_on() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    fill(&mut raw);
    drop(raw.result("recall.search", &json!({ "query": "message" })));
    let holder = holding(&archive(&home), &["BEGIN IMMEDIATE"]);
    // An append is acknowledged once it is in the daemon's own log, even if the archive is locked.
    assert_eq!(append(&mut raw, 10)["result"]["position"], json!(11));
    let calls: Vec<(&str, Value)> = (0..6)
        .map(|at| ("recall.search", json!({ "query": format!("message {at}") })))
        .chain([
            ("status", json!({})),
            ("session.list", json!({})),
            ("session.show", json!({ "session": "s" })),
            ("session.open", json!({ "session": "new" })),
            ("constraint.add", json!({ "session": "s", "text": "a rule" })),
        ])
        .collect();
    let began = Instant::now();
    let calls: Vec<_> = calls
        .into_iter()
        .map(|(method, params)| {
            let mut raw = daemon.raw();
            std::thread::spawn(move || (method, raw.call(method, &params), began.elapsed()))
        })
        .collect();
    for call in calls {
        let (method, reply, took) = call.join().unwrap();
        // Each call waits at most five seconds per operation, for one or two operations.
        assert!(took < Duration::from_secs(14), "{method}: {took:?}");
        let is_write = matches!(method, "session.open" | "constraint.add");
        if is_write {
            assert_eq!((kind(&reply), &reply["error"]["data"]["retry"]), ("busy", &json!(true)), "{method}: {reply}");
            assert!(reply["error"]["message"].as_str().unwrap().contains("locked"), "{reply}");
        } else {
            assert!(reply["result"].is_object(), "{method}: {reply}")
        }
    }
    // The daemon knows about the lock now, so no read waits for it any more.
    let began = Instant::now();
    assert!(state(&mut raw).contains("locked by another program"));
    let found = raw.result("recall.search", &json!({ "query": "message" }));
    assert!(!found["hits"].as_array().unwrap().is_empty(), "{found}");
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    let_go(holder);
    eventually("the archive to be free", || (state(&mut raw) == "ok").then_some(()));
    assert_eq!(messages(&mut raw), json!(11));
    let log = fs::read_to_string(home.path().join("herma/hermad.log")).unwrap();
    let said = log.matches("another program has the archive locked").count();
    assert_eq!(said, 1, "{log}");
}

#[test]
fn what_is_acknowledged_after_the_file_was_removed_is_kept() {
    for removed in [
        &["archive.db"][..],
        &["archive.db", "archive.db-wal", "archive.db-shm"],
        &["archive.db-wal"],
        &["archive.db-wal", "archive.db-shm"],
    ] {
        let home = Home::new();
        let mut daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        let snapshot = fill(&mut raw);
        for name in removed {
            fs::remove_file(home.path().join("herma").join(name)).unwrap();
        }
        assert_eq!(append(&mut raw, 10)["result"]["position"], json!(11), "{removed:?}");
        assert!(archive(&home).exists() && state(&mut raw) == "ok", "{removed:?}: {}", state(&mut raw));
        assert_eq!(append(&mut raw, 11)["result"]["position"], json!(12), "{removed:?}");
        assert_eq!(messages(&mut raw), json!(12));
        daemon.kill();
        daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        let opened = raw.result("session.open", &json!({ "session": "s" }));
        assert_eq!((&opened["resumed"], &opened["snapshot"]), (&json!(true), &snapshot), "{removed:?}");
        assert_eq!(messages(&mut raw), json!(12), "{removed:?}");
        let found = raw.result("recall.search", &json!({ "query": "\"message 11\"" }));
        assert!(!found["hits"].as_array().unwrap().is_empty(), "{removed:?}: {found}");
    }
}

#[test]
fn an_archive_that_takes_the_place_of_another_is_used_and_the_other_is_kept() {
    let home = Home::new();
    let (snapshot, backup) = filled_with_backup(&home);
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    drop(raw.result("session.open", &json!({ "session": "s" })));
    assert_eq!(append(&mut raw, 10)["result"]["position"], json!(11));
    fs::rename(&backup, archive(&home)).unwrap();
    let reply = append(&mut raw, 11);
    let aside = home.path().join("herma/archive.db.replaced-1");
    // The daemon may have noticed the replacement earlier, while it wrote the text index.
    match kind(&reply) {
        "conflict" => assert_eq!(reply["error"]["data"]["position"], json!(10), "{reply}"),
        "unavailable" => {
            assert_eq!(reply["error"]["data"]["retry"], json!(true), "{reply}");
            assert!(reply["error"]["message"].as_str().unwrap().contains(aside.to_str().unwrap()), "{reply}");
        }
        other => panic!("{other}: {reply}"),
    }
    assert!(state(&mut raw).contains("replaced"), "{}", state(&mut raw));
    // From now on the daemon uses the backup's content.
    assert_eq!(messages(&mut raw), json!(10));
    assert_eq!(append(&mut raw, 10)["result"]["position"], json!(11));
    let opened = raw.result("session.open", &json!({ "session": "s" }));
    assert_eq!((&opened["resumed"], &opened["snapshot"]), (&json!(true), &snapshot));
    let script = "import sqlite3, sys\n\
        print(sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM message').fetchone()[0])";
    let kept: usize = python::run(script, &[aside.to_str().unwrap()]).trim().parse().unwrap();
    assert!(kept >= 11, "{kept}");
}

#[test]
fn who_asks_for_the_state_learns_that_the_file_is_another_one_though_nobody_writes() {
    let home = Home::new();
    let (_, backup) = filled_with_backup(&home);
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_eq!(state(&mut raw), "ok");
    fs::remove_file(archive(&home)).unwrap();
    assert_eq!(state(&mut raw), "ok");
    assert!(archive(&home).exists());
    fs::rename(&backup, archive(&home)).unwrap();
    assert!(state(&mut raw).contains("replaced"), "{}", state(&mut raw));
}

#[test]
fn an_archive_that_can_not_be_put_back_yet_is_told_and_not_lost() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    drop(fill(&mut raw));
    // A folder blocks the name of the copy.
    let in_the_way = home.path().join("herma/archive.db.restored");
    fs::create_dir_all(in_the_way.join("x")).unwrap();
    fs::remove_file(archive(&home)).unwrap();
    for _ in 0..3 {
        let reply = append(&mut raw, 10);
        assert_eq!((kind(&reply), &reply["error"]["data"]["retry"]), ("unavailable", &json!(true)), "{reply}");
    }
    drop(raw.result("memory.list", &json!({ "target": "memory" })));
    // Once the copy can be written, nothing is lost.
    fs::remove_dir_all(&in_the_way).unwrap();
    assert_eq!(append(&mut raw, 10)["result"]["position"], json!(11));
    daemon.kill();
    let daemon = Daemon::start(&home);
    assert_eq!(messages(&mut daemon.raw()), json!(11));
}

#[test]
fn an_archive_that_was_removed_is_there_again_after_the_daemons_end() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let snapshot = fill(&mut daemon.raw());
    fs::remove_file(archive(&home)).unwrap();
    daemon.terminate();
    assert_eq!(daemon.ended().code(), Some(0));
    daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_eq!(raw.result("session.open", &json!({ "session": "s" }))["snapshot"], snapshot);
    assert_eq!(messages(&mut raw), json!(10));
}
