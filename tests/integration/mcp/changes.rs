//! Resources and their updates.

use herma_protocol::memory::Target;
use herma_tests::{Daemon, Home, Mcp};
use serde_json::{Value, json};

const USER: &str = "herma://store/user";
const MEMORY: &str = "herma://store/memory";
const SNAPSHOT: &str = "herma://session/snapshot";

fn updated(uri: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "uri": uri } })
}

#[test]
fn stores_are_as_they_are_now_and_the_snapshot_is_frozen() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    drop(raw.result("memory.add", &json!({ "target": "user", "content": "likes tea" })));
    let mut mcp = Mcp::ready(&home, &["--session", "s1"]);
    let listed = mcp.result("resources/list", &json!({}))["resources"].take();
    let uris: Vec<&str> = listed.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, [SNAPSHOT, MEMORY, USER]);
    let frozen = mcp.read(SNAPSHOT);
    drop(mcp.done("memory", &json!({ "action": "add", "target": "user", "content": "lives in Kyiv" })));
    assert_eq!((mcp.read(USER).as_str(), mcp.read(MEMORY).as_str()), ("likes tea\n§\nlives in Kyiv", ""));
    assert!(frozen.contains("likes tea") && !frozen.contains("Kyiv"), "{frozen}");
    assert_eq!(mcp.read(SNAPSHOT), frozen);
    let contents = mcp.result("resources/read", &json!({ "uri": USER }))["contents"].take();
    assert_eq!((&contents[0]["_meta"]["herma/revision"], &contents[0]["uri"]), (&json!(2), &json!(USER)), "{contents}");
    assert_eq!(raw.result("session.snapshot", &json!({ "session": "s1" }))["user"], json!(frozen));
}

#[test]
fn whoever_subscribed_is_told_of_changes_by_anybody() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let mut mcp = Mcp::ready(&home, &[]);
    for uri in [USER, SNAPSHOT] {
        assert_eq!(mcp.result("resources/subscribe", &json!({ "uri": uri })), json!({}));
    }
    drop(mcp.done("memory", &json!({ "action": "add", "target": "user", "content": "one" })));
    assert_eq!(mcp.notification(), updated(USER));
    drop(raw.result("memory.add", &json!({ "target": "memory", "content": "nobody is told" })));
    drop(raw.result("memory.add", &json!({ "target": "user", "content": "two" })));
    assert_eq!(mcp.notification(), updated(USER));
    home.write_store(Target::User, b"by hand");
    assert_eq!(mcp.notification(), updated(USER));
    assert_eq!(mcp.read(USER), "by hand");
    assert_eq!(mcp.result("resources/subscribe", &json!({ "uri": MEMORY })), json!({}));
    assert_eq!(mcp.result("resources/unsubscribe", &json!({ "uri": USER })), json!({}));
    drop(raw.result("memory.add", &json!({ "target": "user", "content": "nobody is told" })));
    drop(raw.result("memory.add", &json!({ "target": "memory", "content": "three" })));
    assert_eq!(mcp.notification(), updated(MEMORY));
    assert_eq!(mcp.told(), Vec::<Value>::new());
    assert_eq!(mcp.end(), (Some(0), String::new()));
}

#[test]
fn changes_are_told_after_a_restart_too() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut mcp = Mcp::ready(&home, &[]);
    assert_eq!(mcp.result("resources/subscribe", &json!({ "uri": USER })), json!({}));
    daemon.kill();
    // The change happens while no daemon runs.
    home.write_store(Target::User, b"meanwhile");
    let daemon = Daemon::start(&home);
    assert_eq!(mcp.notification(), updated(USER));
    drop(daemon.raw().result("memory.add", &json!({ "target": "user", "content": "two" })));
    assert_eq!(mcp.notification(), updated(USER));
    assert_eq!(mcp.read(USER), "meanwhile\n§\ntwo");
}

#[test]
fn another_profile_is_another_store() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    drop(raw.result("profile.create", &json!({ "name": "work" })));
    let mut mcp = Mcp::ready(&home, &["--profile", "work"]);
    assert_eq!(mcp.result("resources/subscribe", &json!({ "uri": USER })), json!({}));
    drop(raw.result("memory.add", &json!({ "target": "user", "content": "default" })));
    drop(raw.result("memory.add", &json!({ "target": "user", "content": "work", "profile": "work" })));
    assert_eq!(mcp.notification(), updated(USER));
    assert_eq!((mcp.read(USER).as_str(), mcp.told().len()), ("work", 0));
}
