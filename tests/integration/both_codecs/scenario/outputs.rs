//! Requests about stored outputs.

use serde_json::{Value, json};

use super::Talk;

/// Stores an output of 60 lines. Line 7 reports an error.
fn keep(talk: &mut Talk, session: &str, id: &str) -> Value {
    let lines = (1..=60).map(|line| match line {
        7 => format!("{id}: error[E0308]: grüße from line 7\n"),
        line => format!("{id}: line {line} is fine\n"),
    });
    let content: String = lines.collect();
    let params = json!({ "session": session, "tool": "terminal", "id": id, "content": content, "threshold": 0 });
    talk.ask("output.admit", params)["handle"].clone()
}

pub(super) fn search(talk: &mut Talk) {
    talk.ask("output.search", json!({ "query": "error" }));
    let one = keep(talk, "s", "c1");
    keep(talk, "t", "c2");
    talk.ask("output.search", json!({ "query": "error[E0308]" }));
    talk.ask("output.search", json!({ "query": "grüße", "session": "t", "context": 2 }));
    talk.ask("output.search", json!({ "query": "line 6|line 8", "handle": one, "context": 1 }));
    talk.ask("output.search", json!({ "query": "^c1: line [0-9]+ is", "regex": true, "handle": one, "limit": 3 }));
    talk.ask("output.search", json!({ "query": "nowhere", "session": "s" }));
    talk.ask("output.search", json!({ "query": "x", "session": "nobody" }));
    let long = json!({ "session": "s", "tool": "t", "id": "long", "content": format!("{}needle{}", "é".repeat(5000), "x".repeat(5000)), "threshold": 0 });
    talk.ask("output.admit", long);
    talk.ask("output.search", json!({ "query": "needle" }));
    talk.ask("output.search", json!({ "query": "[", "regex": true }));
    talk.ask("output.search", json!({ "query": "" }));
    talk.ask("output.search", json!({ "query": "x".repeat(1001) }));
    talk.ask("output.search", json!({ "query": "x", "context": 21 }));
    talk.ask("output.search", json!({ "query": "x", "limit": 0 }));
    talk.ask("output.search", json!({ "query": "x", "handle": "out_none" }));
}

pub(super) fn list(talk: &mut Talk) {
    talk.ask("output.list", json!({}));
    let one = keep(talk, "s", "c1");
    keep(talk, "t", "../c2");
    talk.ask("output.list", json!({}));
    talk.ask("output.list", json!({ "session": "t" }));
    talk.ask("output.list", json!({ "session": "nobody" }));
    talk.ask("output.remove", json!({ "handle": one }));
    talk.ask("output.list", json!({ "session": "s", "limit": 1 }));
    talk.ask("output.list", json!({ "limit": 0 }));
    talk.ask("output.list", json!({ "prefix": one.as_str().unwrap()[..8] }));
    talk.ask("output.list", json!({ "prefix": "out_none" }));
    talk.ask("output.list", json!({ "prefix": "" }));
    talk.ask("output.list", json!({ "limit": 100_001 }));
}

pub(super) fn remove(talk: &mut Talk) {
    let one = keep(talk, "s", "c1");
    talk.ask("output.remove", json!({ "handle": one }));
    talk.ask("output.remove", json!({ "handle": one }));
    talk.ask("output.read", json!({ "handle": one }));
    talk.ask("output.search", json!({ "query": "line", "handle": one }));
    talk.ask("output.remove", json!({ "handle": "out_none" }));
    talk.ask("output.remove", json!({ "handle": "" }));
}

pub(super) fn gc(talk: &mut Talk) {
    talk.ask("output.gc", json!({}));
    keep(talk, "s", "c1");
    keep(talk, "t", "c1");
    talk.ask("output.gc", json!({ "dry_run": true }));
    talk.ask("output.gc", json!({ "dry_run": false }));
}

/// A handle may include the line at which to begin.
pub(super) fn read_at_a_line(talk: &mut Talk) {
    let handle = keep(talk, "s", "lines");
    let handle = handle.as_str().unwrap();
    talk.ask("output.read", json!({ "handle": format!("{handle}:58") }));
    talk.ask("output.read", json!({ "handle": format!("{handle}:7"), "lines": 1 }));
    talk.ask("output.read", json!({ "handle": format!("{handle}:0") }));
    talk.ask("output.read", json!({ "handle": format!("{handle}:seven") }));
    talk.ask("output.read", json!({ "handle": format!("{handle}:7"), "line": 3 }));
}
