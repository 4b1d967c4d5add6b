//! Disks that fail while the archive is written. The error is clear, nothing is half-written, and everything works
//! again once the cause is gone.

use herma_tests::{Daemon, Home, Injection, Need, Raw, Where, kind};
use serde_json::{Value, json};

/// Size of the file system to fill, in bytes.
const ROOM: u64 = 16 << 20;

/// Messages of a conversation that is long enough to be compressed.
const MESSAGES: usize = 121;

fn message(at: usize) -> Value {
    let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
    json!({ "role": role, "content": format!("message {at} {}", "of the conversation ".repeat(60)) })
}

fn conversation() -> Vec<Value> {
    (0..MESSAGES).map(message).collect()
}

fn append(raw: &mut Raw, session: &str, position: usize, messages: &[Value]) -> Value {
    let params = json!({ "session": session, "generation": 0, "position": position, "messages": messages });
    raw.call("session.append", &params)
}

/// Opens a session of a model with a small window, and appends the first part of the conversation.
fn begin(raw: &mut Raw, session: &str, count: usize) {
    raw.result("session.open", &json!({ "session": session, "context_length": 9000 }));
    assert_eq!(append(raw, session, 0, &conversation()[..count])["result"]["position"], json!(count));
}

fn shown(raw: &mut Raw, session: &str) -> (Value, Value) {
    let row = raw.result("session.show", &json!({ "session": session }));
    (row["messages"].clone(), row["generation"].clone())
}

/// Checks for a disk error that names the archive, and has no result.
fn assert_refused(reply: &Value, expected: &str) {
    assert_eq!((kind(reply), &reply["error"]["data"]["fault"]), (expected, &json!("disk")), "{reply}");
    assert!(reply["error"]["message"].as_str().unwrap().contains("archive"), "{reply}");
    assert!(reply["result"].is_null(), "{reply}");
}

/// Checks that the session has this many messages, and that they are those of the conversation.
fn assert_transcript(raw: &mut Raw, session: &str, count: usize) {
    assert_eq!(shown(raw, session), (json!(count), json!(0)));
    // Appending existing messages succeeds only if their bytes are equal.
    assert_eq!(append(raw, session, 0, &conversation()[..count])["result"]["position"], json!(count));
}

/// Compresses the appended list, without sending it.
fn assert_compressed(raw: &mut Raw, session: &str, generation: u64) {
    let done = raw.result("context.compress", &json!({ "session": session }));
    let report = &done["report"];
    assert_eq!((&report["compressed"], &report["generation"]), (&json!(true), &json!(generation)), "{report}");
    assert_eq!(report["messages_before"], json!(MESSAGES));
    let last = done["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"], message(MESSAGES - 1)["content"]);
    let described = raw.result("recall.describe", &json!({ "session": session }));
    assert_eq!(described["compressions"].as_array().unwrap().len(), 1, "{described}");
    assert_eq!(described["compressions"][0]["messages"], report["archived"]["messages"]);
}

/// Checks that long appends, new sessions and compressions are refused while nothing can be written. Existing data must
/// stay readable.
fn check_refusals(raw: &mut Raw, failure: &str) {
    let long: Vec<Value> =
        (0..MESSAGES).map(|at| json!({ "role": "user", "content": at.to_string().repeat(20_000) })).collect();
    for _ in 0..2 {
        assert_refused(&append(raw, "grows", 60, &long), failure);
        assert_refused(&raw.call("context.compress", &json!({ "session": "whole" })), failure);
        let given = json!({ "session": "whole", "messages": conversation(), "reply": "edits" });
        assert_refused(&raw.call("context.compress", &given), failure);
        assert_eq!(shown(raw, "grows"), (json!(60), json!(0)));
        assert_eq!(shown(raw, "whole"), (json!(MESSAGES), json!(0)));
        assert_eq!(raw.result("context.status", &json!({ "session": "whole" }))["compression_count"], 0);
        assert_eq!(raw.result("recall.describe", &json!({ "session": "whole" }))["compressions"], json!([]));
    }
}

/// Checks that everything works again.
fn check_afterwards(raw: &mut Raw) {
    assert_eq!(raw.result("status", &json!({}))["archive"]["state"], "ok");
    assert_transcript(raw, "grows", 60);
    assert_transcript(raw, "whole", MESSAGES);
    assert_eq!(append(raw, "grows", 60, &conversation()[60..])["result"]["position"], json!(MESSAGES));
    assert_transcript(raw, "grows", MESSAGES);
    for session in ["grows", "whole"] {
        assert_compressed(raw, session, 1);
    }
    let found = raw.result("recall.search", &json!({ "query": "message 7", "limit": 100 }));
    assert!(!found["hits"].as_array().unwrap().is_empty());
}

#[test]
fn a_full_disk_refuses_whole_calls_and_loses_no_list() {
    for is_killed in [false, true] {
        let Some(home) = Home::small(ROOM) else { return };
        let mut daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        begin(&mut raw, "grows", 60);
        begin(&mut raw, "whole", MESSAGES);
        raw.result("recall.search", &json!({ "query": "message" }));
        let filler = home.fill();
        // The first appends use the space that the log already has.
        let long = "x".repeat(400_000);
        for number in 0..20 {
            let reply = append(&mut raw, "filling", number, &[json!({ "role": "user", "content": long })]);
            if reply["error"].is_object() {
                break;
            }
            assert!(number < 19, "the disk is not full");
        }
        check_refusals(&mut raw, "storage_full");
        assert_eq!(raw.result("memory.list", &json!({ "target": "memory" }))["memory"]["entries"], json!([]));
        if is_killed {
            daemon.kill();
            daemon = Daemon::start(&home);
            daemon.assert_serves();
            drop(filler);
            // The daemon may have started without the archive, because there was no room for it.
            daemon.kill();
            daemon = Daemon::start(&home);
            raw = daemon.raw();
        } else {
            drop(filler);
        }
        check_afterwards(&mut raw);
        daemon.kill();
        let daemon = Daemon::start(&home);
        assert_eq!(shown(&mut daemon.raw(), "grows").1, json!(1));
    }
}

#[test]
fn an_archive_that_can_t_be_written_or_synced_refuses_whole_calls_and_goes_on_afterwards() {
    if !Need::Strace.is_met() {
        return;
    }
    for (rule, failure) in [
        ("pwrite64:error=EIO", "storage_failed"),
        ("pwrite64:error=ENOSPC", "storage_full"),
        ("fsync,fdatasync:error=EIO", "storage_failed"),
    ] {
        // The next test covers a log that could not be synced before a kill.
        for is_killed in [false, true].into_iter().take(if rule.starts_with("fsync") { 1 } else { 2 }) {
            let home = Home::new();
            let mut daemon = Daemon::start(&home);
            let mut raw = daemon.raw();
            begin(&mut raw, "grows", 60);
            begin(&mut raw, "whole", MESSAGES);
            raw.result("recall.search", &json!({ "query": "message" }));
            let failing = Injection::attach(&daemon, Where::Thread("archive"), rule);
            check_refusals(&mut raw, failure);
            assert!(failing.hits().iter().any(|hit| hit.contains("archive.db")), "{rule}");
            if is_killed {
                daemon.kill();
                failing.end();
                daemon = Daemon::start(&home);
                raw = daemon.raw();
            } else {
                failing.end();
            }
            check_afterwards(&mut raw);
            daemon.kill();
            let daemon = Daemon::start(&home);
            assert_eq!(shown(&mut daemon.raw(), "grows").1, json!(1));
        }
    }
}

/// SQLite can't undo a log write that it could not sync if it is killed before its next write. The write may then
/// exist, but only as a whole.
#[test]
fn what_could_not_be_synced_before_a_kill_is_there_as_a_whole_or_not_at_all() {
    if !Need::Strace.is_met() {
        return;
    }
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    begin(&mut raw, "grows", 60);
    begin(&mut raw, "whole", MESSAGES);
    raw.result("recall.search", &json!({ "query": "message" }));
    let failing = Injection::attach(&daemon, Where::Thread("archive"), "fsync,fdatasync:error=EIO");
    check_refusals(&mut raw, "storage_failed");
    daemon.kill();
    failing.end();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_eq!(raw.result("status", &json!({}))["archive"]["state"], "ok");
    let (grown, _) = shown(&mut raw, "grows");
    assert!(grown == json!(60) || grown == json!(60 + MESSAGES), "{grown}");
    let (_, generation) = shown(&mut raw, "whole");
    let described = raw.result("recall.describe", &json!({ "session": "whole" }));
    assert_eq!(json!(described["compressions"].as_array().unwrap().len()), generation, "{described}");
    // The agent was refused, so it still has its list and can continue.
    let again = raw.result("context.compress", &json!({ "session": "whole", "messages": conversation() }));
    assert_eq!(again["report"]["compressed"], true, "{}", again["report"]);
    assert_eq!(shown(&mut raw, "whole").1, json!(generation.as_u64().unwrap() + 1));
}
