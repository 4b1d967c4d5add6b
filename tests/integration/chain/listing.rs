//! The listed sessions, and the fields of a chain.

use herma_tests::{Daemon, Home, Raw};
use serde_json::{Value, json};

use super::{close, go_on, open, say, show};

fn list(raw: &mut Raw, params: &Value) -> Vec<Value> {
    raw.result("session.list", params)["sessions"].as_array().unwrap().clone()
}

fn names(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["session"].as_str().unwrap()).collect()
}

/// Adds a root, a chain of three with a delegate, a branch, a compressed root without a child, and a session of another
/// profile.
fn populate(raw: &mut Raw) {
    open(raw, "plain", None);
    open(raw, "a", None);
    say(raw, "a", "how the chain began");
    open(raw, "delegate", Some("a"));
    go_on(raw, "a", "b");
    go_on(raw, "b", "c");
    say(raw, "c", "how it goes on");
    open(raw, "trunk", None);
    close(raw, "trunk", "branched");
    open(raw, "branch", Some("trunk"));
    open(raw, "childless", None);
    close(raw, "childless", "compression");
    raw.result("session.open", &json!({ "session": "at-work", "profile": "work" }));
}

#[test]
fn roots_and_branches_are_listed_and_chains_as_their_tip() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    populate(&mut raw);
    let rows = list(&mut raw, &json!({}));
    assert_eq!(names(&rows), ["at-work", "childless", "branch", "trunk", "c", "plain"]);
    let (root, tip) = (show(&mut raw, "a"), show(&mut raw, "c"));
    let chain = &rows[4];
    assert_eq!((&chain["started_at"], &chain["lineage_root"]), (&root["started_at"], &json!("a")));
    for name in ["session", "ended_at", "end_reason", "messages", "tool_calls", "last_active", "preview", "model"] {
        assert_eq!(chain[name], tip[name], "{name}");
    }
    assert_eq!((&chain["preview"], &chain["end_reason"]), (&json!("how it goes on"), &json!(null)));
    assert_eq!(rows[1]["end_reason"], "compression");
    for row in [&rows[0], &rows[1], &rows[3], &rows[5]] {
        assert_eq!(row["lineage_root"], row["session"]);
    }
    let raw_rows = list(&mut raw, &json!({ "raw": true }));
    let everything = ["at-work", "childless", "branch", "trunk", "c", "b", "delegate", "a", "plain"];
    assert_eq!(names(&raw_rows), everything);
    assert_eq!(raw_rows[7], root);
    assert_eq!(names(&list(&mut raw, &json!({ "profile": "work" }))), ["at-work"]);
    assert_eq!(
        names(&list(&mut raw, &json!({ "profile": "default" }))),
        ["childless", "branch", "trunk", "c", "plain"]
    );
}

#[test]
fn pages_follow_each_other_without_a_gap() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    populate(&mut raw);
    for is_raw in [false, true] {
        let whole = list(&mut raw, &json!({ "raw": is_raw }));
        for limit in 1..=4 {
            let (mut pages, mut before) = (Vec::new(), json!(null));
            loop {
                let page = list(&mut raw, &json!({ "raw": is_raw, "limit": limit, "before": before }));
                let Some(last) = page.last() else { break };
                assert!(page.len() <= limit);
                before = last["started_at"].clone();
                pages.extend(page);
            }
            assert_eq!(names(&pages), names(&whole), "{is_raw} {limit}");
        }
    }
}

#[test]
fn a_chain_keeps_the_place_of_its_root() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    open(&mut raw, "old", None);
    open(&mut raw, "new", None);
    go_on(&mut raw, "old", "old-2");
    assert_eq!(names(&list(&mut raw, &json!({}))), ["new", "old-2"]);
    // The tip ended too, and its reason is the reason of the chain.
    close(&mut raw, "old-2", "user_exit");
    // A kill of the daemon would end an open session.
    close(&mut raw, "new", "user_exit");
    let rows = list(&mut raw, &json!({}));
    assert_eq!((&rows[1]["session"], &rows[1]["end_reason"]), (&json!("old-2"), &json!("user_exit")));
    daemon.kill();
    let daemon = Daemon::start(&home);
    assert_eq!(list(&mut daemon.raw(), &json!({})), rows);
}
