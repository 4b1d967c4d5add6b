//! Sessions that were open when the daemon was killed are marked as ended by a crash. They are open again as soon as
//! their agent returns.

use herma_protocol::memory::Target;
use herma_tests::{Daemon, Home, Raw, eventually};
use serde_json::{Value, json};

fn open(raw: &mut Raw, session: &str) -> Value {
    raw.result("session.open", &json!({ "session": session }))
}

/// Returns the row of a session without using the session.
fn row(raw: &mut Raw, session: &str) -> Value {
    let sessions = raw.result("session.list", &json!({ "raw": true, "limit": 100 }));
    let is_it = |row: &&Value| row["session"] == json!(session);
    sessions["sessions"].as_array().unwrap().iter().find(is_it).cloned().unwrap()
}

/// Waits for the mark, which a daemon makes while it gives its first answers.
fn assert_marked(raw: &mut Raw, session: &str) {
    let marked = eventually("the mark of a crash", || {
        let row = row(raw, session);
        (row["end_reason"] == "crash").then_some(row)
    });
    assert!(marked["ended_at"].as_f64() >= marked["started_at"].as_f64(), "{marked}");
}

/// Opens a session again, and checks that it has its old snapshot.
fn assert_opens(raw: &mut Raw, session: &str, first: &Value) {
    let again = open(raw, session);
    assert_eq!((&again["resumed"], &again["snapshot"]), (&json!(true), &first["snapshot"]));
    assert_eq!(again["generation"], first["generation"]);
    let row = raw.result("session.show", &json!({ "session": session }));
    assert_eq!((&row["ended_at"], &row["end_reason"]), (&Value::Null, &Value::Null), "{row}");
}

fn add(raw: &mut Raw, content: &str) {
    let added = raw.result("memory.add", &json!({ "target": "memory", "content": content }));
    assert_eq!(added["success"], true, "{added}");
}

#[test]
fn sessions_that_a_kill_left_open_are_marked_and_open_again_with_the_old_snapshot() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    add(&mut raw, "what the sessions see");
    let first = open(&mut raw, "open");
    assert!(first["snapshot"]["memory"].as_str().unwrap().contains("what the sessions see"), "{first}");
    open(&mut raw, "closed");
    raw.result("session.close", &json!({ "session": "closed", "reason": "done" }));
    add(&mut raw, "what came later");
    for _ in 0..3 {
        daemon.kill();
        daemon = Daemon::start(&home);
        raw = daemon.raw();
        assert_marked(&mut raw, "open");
        assert_eq!(row(&mut raw, "closed")["end_reason"], "done");
        assert_opens(&mut raw, "open", &first);
        assert_eq!(row(&mut raw, "closed")["end_reason"], "done");
    }
    assert!(home.read_store(Target::Memory).contains("what came later"));
}

/// An agent that returns at once opens its session while the daemon still makes its marks.
#[test]
fn a_session_that_comes_back_at_once_stays_open() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let first = open(&mut daemon.raw(), "s");
    for round in 0..20 {
        daemon.kill();
        daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        assert_eq!(open(&mut raw, "s")["snapshot"], first["snapshot"]);
        // The marks are made before a search is answered.
        raw.result("recall.search", &json!({ "query": "nothing" }));
        let row = raw.result("session.show", &json!({ "session": "s" }));
        assert_eq!((&row["ended_at"], &row["end_reason"]), (&Value::Null, &Value::Null), "round {round}: {row}");
    }
}

/// Regression test: emptying SQLite's log, as a removal does, hid that the daemon was killed.
#[test]
fn a_kill_is_noticed_right_after_the_log_of_the_archive_was_emptied() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let first = open(&mut raw, "open");
    open(&mut raw, "to go");
    raw.result("session.remove", &json!({ "session": "to go" }));
    daemon.kill();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_marked(&mut raw, "open");
    assert_opens(&mut raw, "open", &first);
}

#[test]
fn after_a_stop_in_peace_no_session_is_marked() {
    for signal in [true, false] {
        let home = Home::new();
        let mut daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        let first = open(&mut raw, "open");
        if signal {
            daemon.terminate();
        } else {
            raw.result("shutdown", &json!({}));
        }
        assert!(daemon.ended().success());
        daemon = Daemon::start(&home);
        raw = daemon.raw();
        // The daemon finishes its start before it answers a search.
        raw.result("recall.search", &json!({ "query": "nothing" }));
        let row = row(&mut raw, "open");
        assert_eq!((&row["ended_at"], &row["end_reason"]), (&Value::Null, &Value::Null), "{row}");
        assert_opens(&mut raw, "open", &first);
        daemon.kill();
        daemon = Daemon::start(&home);
        assert_marked(&mut daemon.raw(), "open");
    }
}
