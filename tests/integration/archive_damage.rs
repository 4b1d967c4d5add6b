//! An archive that is damaged or from a newer herma. The rest of the daemon works on, and no file is deleted or
//! changed.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use herma_tests::{Cli, Daemon, Home, Raw, eventually, kind, python};
use serde_json::{Value, json};

/// Bytes of a page of the database.
const PAGE: usize = 4096;

fn archive(home: &Home) -> PathBuf {
    home.path().join("herma/archive.db")
}

fn message(at: usize) -> Value {
    let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
    json!({ "role": role, "content": format!("message {at} {}", "of the conversation ".repeat(60)) })
}

/// Fills a store and a session, and spills an output. Returns the expected snapshot of the session and the expected
/// output.
fn fill(raw: &mut Raw) -> (Value, Value) {
    let added = raw.result("memory.add", &json!({ "target": "memory", "content": "what is known" }));
    assert_eq!(added["success"], true);
    let opened = raw.result("session.open", &json!({ "session": "s", "context_length": 9000 }));
    let messages: Vec<Value> = (0..201).map(message).collect();
    raw.result("session.append", &json!({ "session": "s", "generation": 0, "position": 0, "messages": messages }));
    let output = json!({ "session": "s", "tool": "t", "id": "call", "content": "kept text", "threshold": 0 });
    let admitted = raw.result("output.admit", &output);
    let changed = raw.result("memory.add", &json!({ "target": "memory", "content": "what came later" }));
    assert_eq!(changed["success"], true);
    raw.result("recall.search", &json!({ "query": "message" }));
    (opened["snapshot"].clone(), admitted["handle"].clone())
}

/// Stores and outputs do not need the archive.
fn assert_rest_works(raw: &mut Raw, output: &Value) {
    let listed = raw.result("memory.list", &json!({ "target": "memory" }));
    assert_eq!(listed["memory"]["entries"][0], "what is known", "{listed}");
    let added = raw.result("memory.add", &json!({ "target": "user", "content": "a fact" }));
    assert_eq!(added["success"], true, "{added}");
    assert_eq!(raw.result("output.read", &json!({ "handle": output }))["text"], "kept text");
    let params = json!({ "session": "s", "tool": "t", "id": "next", "content": "the next text", "threshold": 0 });
    assert_eq!(raw.result("output.admit", &params)["spilled"], true);
    let found = raw.result("output.search", &json!({ "query": "kept text" }));
    assert_eq!(found["matches"].as_array().unwrap().len(), 1);
    raw.result("output.gc", &json!({}));
}

/// A new archive works like the old one.
fn assert_archive_works(raw: &mut Raw) {
    let messages: Vec<Value> = (0..121).map(message).collect();
    raw.result("session.open", &json!({ "session": "new", "context_length": 9000 }));
    raw.result("session.append", &json!({ "session": "new", "generation": 0, "position": 0, "messages": messages }));
    let found = raw.result("recall.search", &json!({ "query": "message 7", "session": "new" }));
    assert!(!found["hits"].as_array().unwrap().is_empty());
    assert_eq!(raw.result("context.compress", &json!({ "session": "new" }))["report"]["compressed"], true);
}

fn state(raw: &mut Raw) -> String {
    raw.result("status", &json!({}))["archive"]["state"].as_str().unwrap().to_owned()
}

/// Overwrites the pages from `first_page` on.
fn overwrite(home: &Home, first_page: usize) {
    let file = File::options().write(true).open(archive(home)).unwrap();
    let pages = usize::try_from(file.metadata().unwrap().len()).unwrap() / PAGE;
    for page in first_page..pages {
        file.write_all_at(&[0xa5; PAGE], (page * PAGE) as u64).unwrap();
    }
}

fn aside(home: &Home, number: u32) -> PathBuf {
    home.path().join(format!("herma/archive.db.damaged-{number}"))
}

#[test]
fn an_archive_that_was_damaged_meanwhile_is_set_aside_and_begun_anew() {
    for first_page in [0, 1, 2, 5] {
        let home = Home::new();
        let mut daemon = Daemon::start(&home);
        let (_, output) = fill(&mut daemon.raw());
        daemon.terminate();
        daemon.ended();
        overwrite(&home, first_page);
        let damaged = fs::read(archive(&home)).unwrap();
        daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        // If the first pages are whole, the daemon detects the damage when it needs a later page.
        eventually("the damage to be met", || {
            for (method, params) in [
                ("session.show", json!({ "session": "s" })),
                ("recall.search", json!({ "query": "message" })),
                ("session.append", json!({ "session": "t", "generation": 0, "position": 0, "messages": [message(0)] })),
            ] {
                let reply = raw.call(method, &params);
                assert!(["", "not_found", "storage_failed", "conflict"].contains(&kind(&reply)), "{method}: {reply}");
            }
            aside(&home, 1).exists().then_some(())
        });
        assert_rest_works(&mut raw, &output);
        assert!(state(&mut raw).contains("set aside"), "{}", state(&mut raw));
        assert_archive_works(&mut raw);
        let kept = fs::read(aside(&home, 1)).unwrap();
        assert_eq!(kept.len(), damaged.len());
        assert!(kept == damaged, "page {first_page}: the damaged file was changed");
        daemon.kill();
        daemon = Daemon::start(&home);
        raw = daemon.raw();
        assert_eq!(state(&mut raw), "ok");
        assert_eq!(raw.result("session.show", &json!({ "session": "new" }))["generation"], 1);
        assert!(aside(&home, 1).exists() && !aside(&home, 2).exists());
    }
}

#[test]
fn one_damage_that_many_meet_sets_one_archive_aside() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    fill(&mut daemon.raw());
    daemon.terminate();
    daemon.ended();
    overwrite(&home, 5);
    daemon = Daemon::start(&home);
    eventually("the damage to be met", || {
        std::thread::scope(|scope| {
            for _ in 0..12 {
                let mut raw = daemon.raw();
                scope.spawn(move || {
                    for (method, params) in
                        [("session.list", json!({})), ("recall.search", json!({ "query": "message" }))]
                    {
                        let reply = raw.call(method, &params);
                        assert!(["", "storage_failed"].contains(&kind(&reply)), "{method}: {reply}");
                    }
                });
            }
        });
        aside(&home, 1).exists().then_some(())
    });
    let mut raw = daemon.raw();
    assert_archive_works(&mut raw);
    assert!(!aside(&home, 2).exists());
}

#[test]
fn an_archive_that_is_damaged_while_it_is_in_use_keeps_no_session_from_its_snapshot() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let (snapshot, output) = fill(&mut daemon.raw());
    // A restart moves the pages from the log to the file.
    daemon.terminate();
    daemon.ended();
    daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_eq!(raw.result("session.open", &json!({ "session": "s" }))["snapshot"], snapshot);
    for round in 1..=2 {
        overwrite(&home, 1);
        eventually("the damage to be met", || {
            for (method, params) in [
                ("recall.search", json!({ "query": "message conversation" })),
                ("session.usage", json!({ "by": "session" })),
                ("recall.describe", json!({ "session": "s" })),
                ("session.append", json!({ "session": "s", "generation": 0, "position": 0, "messages": [message(0)] })),
            ] {
                let reply = raw.call(method, &params);
                assert!(["", "not_found", "storage_failed", "conflict"].contains(&kind(&reply)), "{method}: {reply}");
            }
            let snapshot_now = raw.result("session.snapshot", &json!({ "session": "s" }));
            assert_eq!(snapshot_now, snapshot);
            aside(&home, round).exists().then_some(())
        });
        assert!(state(&mut raw).contains("set aside"), "{}", state(&mut raw));
        assert_eq!(raw.result("session.open", &json!({ "session": "s" }))["snapshot"], snapshot);
        assert_rest_works(&mut raw, &output);
        if round == 1 {
            assert_archive_works(&mut raw);
        }
        // A restart moves the new archive from the log to its file, and empties the page cache.
        daemon.terminate();
        daemon.ended();
        daemon = Daemon::start(&home);
        raw = daemon.raw();
        assert_eq!(raw.result("session.open", &json!({ "session": "s" }))["snapshot"], snapshot);
    }
    daemon.kill();
    daemon = Daemon::start(&home);
    raw = daemon.raw();
    assert_eq!(raw.result("session.open", &json!({ "session": "s" }))["snapshot"], snapshot);
    assert!(aside(&home, 1).exists() && aside(&home, 2).exists());
}

#[test]
fn an_archive_that_somebody_changed_by_hand_is_set_aside_in_clear_words() {
    for (script, words) in [
        ("PRAGMA user_version = -1", "it has version -1, which no herma ever wrote"),
        ("DROP VIEW message", "this file has not"),
        ("DROP TABLE message_text", "no such table: main.message_text"),
    ] {
        let home = Home::new();
        let mut daemon = Daemon::start(&home);
        let (_, output) = fill(&mut daemon.raw());
        daemon.terminate();
        daemon.ended();
        let python = "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\ndb.execute(sys.argv[2])\ndb.commit()";
        assert_eq!(python::run(python, &[archive(&home).to_str().unwrap(), script]), "");
        daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        let told = state(&mut raw);
        assert!(told.contains("set aside") && told.contains(words), "{script}: {told}");
        assert!(aside(&home, 1).exists());
        assert_rest_works(&mut raw, &output);
        assert_archive_works(&mut raw);
        // The same while the daemon has the archive open.
        assert_eq!(python::run(python, &[archive(&home).to_str().unwrap(), "DROP TABLE message_row"]), "");
        eventually("the missing table to be met", || {
            drop(
                raw.call(
                    "session.append",
                    &json!({ "session": "new", "generation": 1, "position": 0, "messages": [] }),
                ),
            );
            drop(raw.call("recall.search", &json!({ "query": "message" })));
            aside(&home, 2).exists().then_some(())
        });
        assert!(state(&mut raw).contains("no such table"), "{}", state(&mut raw));
    }
}

#[test]
fn an_archive_of_a_newer_herma_is_only_read_and_stays_as_it_is() {
    for was_killed in [false, true] {
        let home = Home::new();
        let mut daemon = Daemon::start(&home);
        let (snapshot, output) = fill(&mut daemon.raw());
        let script = "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\ndb.execute('PRAGMA user_version = 99')\ndb.commit()";
        if was_killed {
            assert_eq!(python::run(script, &[archive(&home).to_str().unwrap()]), "");
            daemon.kill();
        } else {
            daemon.terminate();
            daemon.ended();
            assert_eq!(python::run(script, &[archive(&home).to_str().unwrap()]), "");
        }
        let before = fs::read(archive(&home)).unwrap();
        for _ in 0..2 {
            daemon = Daemon::start(&home);
            let mut raw = daemon.raw();
            let words = state(&mut raw);
            assert!(words.contains("read only") && words.contains("99"), "{words}");
            let opened = raw.result("session.open", &json!({ "session": "s", "context_length": 9000 }));
            assert_eq!((&opened["resumed"], &opened["snapshot"]), (&json!(true), &snapshot));
            let opened = raw.result("session.open", &json!({ "session": "fresh", "context_length": 9000 }));
            assert_eq!(opened["resumed"], false);
            assert!(opened["snapshot"]["memory"].as_str().unwrap().contains("what came later"));
            let fresh = raw.result("session.show", &json!({ "session": "fresh" }));
            assert_eq!((&fresh["messages"], &fresh["context_length"]), (&json!(0), &json!(9000)), "{fresh}");
            assert_eq!(kind(&raw.call("session.show", &json!({ "session": "nobody" }))), "not_found");
            let named = Cli::new(&home).run(&["session", "snapshot", "fresh"]);
            assert!(named.code == 0 && named.out.contains("what came later"), "{named:?}");
            let messages: Vec<Value> = (0..121).map(message).collect();
            for params in [
                json!({ "session": "fresh", "messages": messages }),
                json!({ "session": "s", "messages": messages }),
                json!({ "session": "s", "messages": messages, "reply": "edits" }),
                json!({ "session": "s" }),
            ] {
                let reply = raw.call("context.compress", &params);
                assert_eq!(kind(&reply), "unavailable", "{reply}");
                assert!(reply["error"]["message"].as_str().unwrap().contains("read only"), "{reply}");
                assert!(reply["result"].is_null(), "{reply}");
            }
            let params = json!({ "session": "s", "generation": 0, "position": 201, "messages": [message(201)] });
            assert_eq!(kind(&raw.call("session.append", &params)), "unavailable");
            for session in ["s", "fresh"] {
                assert_eq!(kind(&raw.call("session.remove", &json!({ "session": session }))), "unavailable");
            }
            assert_eq!(raw.result("session.show", &json!({ "session": "s" }))["messages"], 201);
            let found = raw.result("recall.search", &json!({ "query": "message 7" }));
            assert!(!found["hits"].as_array().unwrap().is_empty());
            assert_rest_works(&mut raw, &output);
            daemon.terminate();
            daemon.ended();
            assert!(fs::read(archive(&home)).unwrap() == before, "killed {was_killed}: the file was changed");
            assert!(!aside(&home, 1).exists());
        }
    }
}
