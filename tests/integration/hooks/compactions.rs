//! Compactions of Claude Code: by its plugin, and by another hook.

use herma_protocol::daemon::StatusParams;
use herma_tests::{Cli, Daemon, Home, eventually};
use serde_json::{Value, json};

use super::{Client, ID, messages};

#[test]
fn a_summary_that_is_read_by_another_hook_is_none_of_the_users_words() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut client = Client::new(&home);
    client.say("first");
    client.write(&json!({ "type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": null }));
    drop(client.hook("stop", &json!({})).done());
    let message = json!({ "role": "user", "content": "the handoff" });
    client.write(&json!({ "type": "user", "uuid": "c", "parentUuid": "b", "rowSource": "hook", "message": message }));
    client.say("second");
    drop(client.hook("stop", &json!({})).done());
    assert_eq!(messages(&home, &format!("claude-code:{ID}")), Some(4));
}

#[test]
fn the_plugin_gets_rows_that_stand_for_the_conversation() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let mut client = Client::new(&home);
    drop(client.hook("session-start", &json!({ "source": "startup" })).done());
    for number in 0..30 {
        client.say(&format!("look at host db-{number}: {}", "word ".repeat(2_000)));
    }
    let mut rows = client.rows();
    rows.push(json!({ "role": "user", "text": "waiting", "toolUses": [], "handle": "w" }));
    let answer = client.hook("compact", &json!({ "messages": rows, "trigger": "manual" })).done();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let kept = answer["messages"].as_array().unwrap();
    assert!(kept.len() < rows.len(), "{answer}");
    assert_eq!(kept.last().unwrap(), &json!({ "handle": "w" }));
    assert!(kept.iter().any(|row| row["text"].as_str().is_some_and(|text| text.contains("CONTEXT COMPACTION"))));
    // A compaction with rows that herma doesn't know is left to the client.
    client.say("more");
    let strange = json!([{ "role": "user", "text": "who said this?", "toolUses": [], "handle": "x" }]);
    assert_eq!(client.hook("compact", &json!({ "messages": strange })).done(), "");
}

#[test]
fn a_compaction_waits_for_the_newest_result_to_be_in_the_transcript() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = Client::new(&home);
    drop(client.hook("session-start", &json!({ "source": "startup" })).done());
    for number in 0..30 {
        client.say(&format!("look at host db-{number}: {}", "word ".repeat(2_000)));
    }
    let result = json!([{ "tool_use_id": "t1", "text": "the newest result" }]);
    let call = json!([{ "tool_use_id": "t1", "tool": "Bash", "input": {} }]);
    let mut rows = client.rows();
    rows.push(json!({ "role": "assistant", "text": "", "toolUses": call, "handle": "c" }));
    rows.push(json!({ "role": "user", "text": "", "toolUses": [], "toolResults": result, "handle": "r" }));
    // Claude Code writes the newest records while the hook runs.
    let record = |role: &str, content: Value| {
        let message = json!({ "role": role, "content": content });
        json!({ "type": role, "uuid": role, "timestamp": "2026-11-27T06:00:00Z", "message": message })
    };
    let call = json!([{ "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "ls" } }]);
    let result = json!([{ "type": "tool_result", "tool_use_id": "t1", "content": "the newest result" }]);
    let before = pings(&daemon);
    std::thread::scope(|scope| {
        let hook = scope.spawn(|| client.hook("compact", &json!({ "messages": rows, "trigger": "auto" })).done());
        eventually("the hook is at work", || (pings(&daemon) > before).then_some(()));
        client.write(&record("assistant", call));
        client.write(&record("user", result));
        hook.join().unwrap();
    });
    let hits = Cli::new(&home).run(&["recall", "newest result", "--json"]).json();
    let is_read = hits["hits"].as_array().unwrap().iter().any(|hit| hit["role"] == "tool");
    assert!(is_read, "the newest result was not read: {hits}");
}

/// Returns how often the daemon was pinged. Each hook pings it when it begins.
fn pings(daemon: &Daemon) -> u64 {
    let status = daemon.client().status(StatusParams {}).unwrap();
    status.requests.by_method.get("ping").map_or(0, |counts| counts.count)
}
