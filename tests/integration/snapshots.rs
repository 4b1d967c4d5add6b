//! The stores as a model sees them: frozen until a refresh, cut at the limit, and without blocked entries.

use herma_client::Codec;
use herma_protocol::memory::Target;
use herma_protocol::session::SnapshotParams;
use herma_tests::{Daemon, Home, Raw, kind};
use serde_json::{Value, json};

mod poison;

fn add(raw: &mut Raw, target: &str, content: &str) {
    let added = raw.result("memory.add", &json!({ "target": target, "content": content }));
    assert_eq!(added["success"], true, "{added}");
}

fn open(raw: &mut Raw, session: &str) -> Value {
    raw.result("session.open", &json!({ "session": session }))["snapshot"].take()
}

fn snapshot(raw: &mut Raw, session: &str) -> Value {
    raw.result("session.snapshot", &json!({ "session": session }))
}

#[test]
fn a_refresh_freezes_the_stores_anew_for_that_session_alone() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    add(&mut raw, "memory", "one");
    let first = open(&mut raw, "s");
    assert_eq!(open(&mut raw, "t"), first);
    add(&mut raw, "memory", "two");
    add(&mut raw, "user", "likes tea");
    assert_eq!((snapshot(&mut raw, "s"), snapshot(&mut raw, "t")), (first.clone(), first.clone()));

    let renewed = raw.result("session.refresh", &json!({ "session": "s" }));
    assert!(renewed["memory"].as_str().unwrap().ends_with("one\n§\ntwo"), "{renewed}");
    assert!(renewed["user"].as_str().unwrap().ends_with("likes tea"), "{renewed}");
    assert_eq!(renewed["revision"], json!({ "memory": 2, "user": 1 }));
    assert_ne!(renewed["sha256"], first["sha256"]);
    add(&mut raw, "memory", "three");
    home.write_store(Target::User, b"by hand");
    for codec in [Codec::Json, Codec::Bincode] {
        let again = daemon.client_with(codec).session_snapshot(SnapshotParams { session: "s".into() }).unwrap();
        assert_eq!(serde_json::to_value(again).unwrap(), renewed, "{codec:?}");
    }
    assert_eq!(snapshot(&mut raw, "t"), first);

    daemon.kill();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_eq!((snapshot(&mut raw, "s"), snapshot(&mut raw, "t")), (renewed.clone(), first.clone()));
    let resumed = raw.result("session.open", &json!({ "session": "s" }));
    assert_eq!((&resumed["resumed"], &resumed["snapshot"]), (&json!(true), &renewed));
    // Unchanged content gives the same bytes.
    let now = raw.result("session.refresh", &json!({ "session": "s" }));
    assert_eq!(raw.result("session.refresh", &json!({ "session": "s" })), now);
    assert_eq!(now["revision"], json!({ "memory": 3, "user": 2 }));
}

#[test]
fn a_refresh_that_fails_leaves_the_snapshot_as_it_was() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let unknown = raw.call("session.refresh", &json!({ "session": "nobody" }));
    assert_eq!(kind(&unknown), "not_found", "{unknown}");
    add(&mut raw, "memory", "one");
    let first = open(&mut raw, "s");
    raw.result("profile.create", &json!({ "name": "work" }));
    let other = raw.call("session.refresh", &json!({ "session": "s", "profile": "work" }));
    assert_eq!(kind(&other), "conflict", "{other}");
    home.write_store(Target::Memory, b"\xff\xfe");
    let reply = raw.call("session.refresh", &json!({ "session": "s" }));
    assert_eq!(kind(&reply), "unreadable", "{reply}");
    assert_eq!(snapshot(&mut raw, "s"), first);
    daemon.kill();
    assert_eq!(snapshot(&mut Daemon::start(&home).raw(), "s"), first);
}

#[test]
fn a_store_over_its_limit_is_shown_up_to_it_and_listed_whole() {
    let home = Home::configured("[memory]\nmemory_limit = 100\nuser_limit = 50\n");
    let entries: Vec<String> = (0..5).map(|number| format!("{number} {}", "x".repeat(38))).collect();
    home.write_store(Target::Memory, entries.join("\n§\n").as_bytes());
    let long = "日本語🪨".repeat(20);
    home.write_store(Target::User, long.as_bytes());
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let list = raw.result("memory.list", &json!({}));
    let (memory, user) = (&list["memory"], &list["user"]);
    assert_eq!((&memory["entries"], &memory["over_limit"]), (&json!(entries), &json!(true)));
    assert_eq!((&user["entries"], &user["over_limit"]), (&json!([long]), &json!(true)));
    assert_eq!(memory["usage"], "100% — 212/100 chars");

    let opened = open(&mut raw, "s");
    let block = opened["memory"].as_str().unwrap();
    let body = block.splitn(4, '\n').nth(3).unwrap();
    assert!(block.contains("[100% — 212/100 chars]"), "{block}");
    let parts: Vec<&str> = body.split("\n§\n").collect();
    let (note, shown) = parts.split_last().unwrap();
    assert_eq!(shown, &entries[..2]);
    // 40 + 3 + 40 of 212.
    assert!(note.contains("MEMORY.md") && note.contains("129 of its 212 chars"), "{note}");

    let block = opened["user"].as_str().unwrap();
    let body = block.splitn(4, '\n').nth(3).unwrap();
    let (shown, note) = body.split_once("\n§\n").unwrap();
    assert_eq!(shown, long.chars().take(50).collect::<String>());
    assert!(note.contains("USER.md") && note.contains("30 of its 80 chars"), "{note}");
    let stores = raw.result("status", &json!({}))["stores"].take();
    assert_eq!((&stores[0]["state"], &stores[1]["state"]), (&json!("over_limit"), &json!("drifted")), "{stores}");

    // The store may only shrink.
    let grown = raw.result("memory.add", &json!({ "target": "memory", "content": "more" }));
    assert_eq!((&grown["success"], &grown["over_by"]), (&json!(false), &json!(119)), "{grown}");
    for entry in &entries[..3] {
        let removed = raw.result("memory.remove", &json!({ "target": "memory", "old_text": entry }));
        assert_eq!(removed["success"], true, "{removed}");
    }
    let fits = raw.result("session.refresh", &json!({ "session": "s" }));
    assert!(fits["memory"].as_str().unwrap().ends_with(&entries[3..].join("\n§\n")), "{fits}");
}

#[test]
fn what_is_put_back_may_be_longer_than_the_limit() {
    let home = Home::configured("[memory]\nmemory_limit = 10\n");
    home.write_store(Target::Memory, "12345678\n§\nabcdefgh".as_bytes());
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let removed = raw.result("memory.remove", &json!({ "target": "memory", "old_text": "1" }));
    assert_eq!(removed["success"], true, "{removed}");
    let undone = raw.result("memory.undo", &json!({ "target": "memory" }));
    assert_eq!((&undone["success"], &undone["usage"]), (&json!(true), &json!("100% — 19/10 chars")), "{undone}");
    assert_eq!(raw.result("memory.list", &json!({}))["memory"]["over_limit"], true);
}
