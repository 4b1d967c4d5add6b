//! Sessions and chains of compressions, as reported by agents that compress on their own.

use std::time::{SystemTime, UNIX_EPOCH};

use herma_tests::{Daemon, Home, Raw, kind};
use serde_json::{Value, json};

mod listing;
mod locks;

/// Opens a session, as a child of another one if `parent` is given.
fn open(raw: &mut Raw, session: &str, parent: Option<&str>) {
    raw.result("session.open", &json!({ "session": session, "parent": parent }));
}

fn close(raw: &mut Raw, session: &str, reason: &str) {
    raw.result("session.close", &json!({ "session": session, "reason": reason }));
}

/// Ends a session because of a compression, and opens its continuation.
fn go_on(raw: &mut Raw, session: &str, next: &str) {
    close(raw, session, "compression");
    open(raw, next, Some(session));
}

fn say(raw: &mut Raw, session: &str, words: &str) {
    let messages = json!([{ "role": "user", "content": words }]);
    raw.result("session.append", &json!({ "session": session, "generation": 0, "position": 0, "messages": messages }));
}

fn show(raw: &mut Raw, session: &str) -> Value {
    raw.result("session.show", &json!({ "session": session }))
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

#[test]
fn the_tip_is_the_newest_continuation_and_never_a_delegate_or_a_branch() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    open(&mut raw, "a", None);
    open(&mut raw, "delegate", Some("a"));
    go_on(&mut raw, "a", "b");
    go_on(&mut raw, "b", "c-old");
    // A second continuation of the same session is preferred to the first.
    open(&mut raw, "c", Some("b"));
    open(&mut raw, "d-delegate", Some("c"));
    open(&mut raw, "branch-root", None);
    close(&mut raw, "branch-root", "branched");
    open(&mut raw, "branch", Some("branch-root"));
    open(&mut raw, "childless", None);
    close(&mut raw, "childless", "compression");
    for (session, tip) in [
        ("a", "c"),
        ("b", "c"),
        ("c-old", "c-old"),
        ("c", "c"),
        ("delegate", "delegate"),
        ("branch-root", "branch-root"),
        ("childless", "childless"),
        ("unknown", "unknown"),
        ("", ""),
    ] {
        assert_eq!(raw.result("session.tip", &json!({ "session": session }))["session"], tip, "{session}");
    }
    // A delegate that was opened before its parent ended does not become the continuation.
    close(&mut raw, "c", "compression");
    assert_eq!(raw.result("session.tip", &json!({ "session": "a" }))["session"], "c");
}

#[test]
fn a_tip_is_a_hundred_steps_away_at_most() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    open(&mut raw, "n0", None);
    for at in 0..103 {
        go_on(&mut raw, &format!("n{at}"), &format!("n{}", at + 1));
    }
    for (from, tip) in [("n0", "n100"), ("n3", "n103"), ("n50", "n103")] {
        assert_eq!(raw.result("session.tip", &json!({ "session": from }))["session"], tip);
    }
}

#[test]
fn a_session_is_gone_on_with_where_its_messages_are() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    open(&mut raw, "full", None);
    say(&mut raw, "full", "hello");
    open(&mut raw, "child-of-full", Some("full"));
    say(&mut raw, "child-of-full", "hello");
    open(&mut raw, "empty", None);
    open(&mut raw, "first", Some("empty"));
    say(&mut raw, "first", "hello");
    open(&mut raw, "second", Some("empty"));
    open(&mut raw, "third", Some("second"));
    say(&mut raw, "third", "hello");
    open(&mut raw, "barren", None);
    open(&mut raw, "barren-child", Some("barren"));
    open(&mut raw, "n0", None);
    for at in 0..33 {
        open(&mut raw, &format!("n{}", at + 1), Some(&format!("n{at}")));
    }
    say(&mut raw, "n33", "hello");
    for (session, target) in [
        ("full", "full"),
        // The latest child counts, not the one with messages.
        ("empty", "third"),
        ("second", "third"),
        ("barren", "barren"),
        ("barren-child", "barren-child"),
        ("unknown", "unknown"),
        ("", ""),
        ("n0", "n0"),
        ("n1", "n33"),
    ] {
        let found = raw.result("session.resume_target", &json!({ "session": session }));
        assert_eq!(found["session"], target, "{session}");
    }
}

#[test]
fn titles_are_numbered_on() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let titles =
        ["Fix the build", "Fix the build #2", "Fix the build #7", "Odd #x", "100 % _ done", "Nur #3", "日本語"];
    for (at, title) in titles.into_iter().enumerate() {
        raw.result("session.open", &json!({ "session": format!("s{at}"), "title": title }));
    }
    for (title, next) in [
        ("Fix the build", "Fix the build #8"),
        ("Fix the build #2", "Fix the build #8"),
        ("Fix the build #99", "Fix the build #8"),
        ("New", "New"),
        ("New #4", "New"),
        ("Odd #x", "Odd #x #2"),
        ("100 % _ done", "100 % _ done #2"),
        ("100 x y done", "100 x y done"),
        ("Nur", "Nur #4"),
        ("日本語", "日本語 #2"),
        ("Fix", "Fix"),
        ("fix the build", "fix the build"),
    ] {
        assert_eq!(raw.result("session.next_title", &json!({ "title": title }))["title"], next, "{title}");
    }
}

/// Regression test: a title or agent in a later call was ignored, so titles were given twice.
#[test]
fn a_title_and_an_agent_are_taken_whenever_they_come() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    open(&mut raw, "opened", None);
    raw.result("output.admit", &json!({ "session": "admitted", "tool": "t", "id": "1", "content": "short" }));
    raw.result("context.configure", &json!({ "session": "configured", "context_length": 9_000 }));
    say(&mut raw, "appended", "hello");
    let sessions = ["opened", "admitted", "configured", "appended"];
    let named = |raw: &mut Raw, session: &str| {
        let row = show(raw, session);
        let listed = raw.result("session.list", &json!({ "raw": true }))["sessions"].clone();
        let listed = listed.as_array().unwrap().iter().find(|row| row["session"] == session).unwrap();
        assert_eq!((&listed["title"], &listed["agent"]), (&row["title"], &row["agent"]), "{session}");
        (row["title"].clone(), row["agent"].clone(), row["model"].clone())
    };
    for session in sessions {
        raw.result("session.open", &json!({ "session": session, "title": format!("About {session}") }));
        raw.result("session.open", &json!({ "session": session, "agent": "coder", "model": "m" }));
        raw.result("session.open", &json!({ "session": session }));
        let expect = (json!(format!("About {session}")), json!("coder"), json!("m"));
        assert_eq!(named(&mut raw, session), expect);
        let next = raw.result("session.next_title", &json!({ "title": format!("About {session}") }));
        assert_eq!(next["title"], format!("About {session} #2"));
    }
    daemon.kill();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for session in sessions {
        let expect = (json!(format!("About {session}")), json!("coder"), json!("m"));
        assert_eq!(named(&mut raw, session), expect);
        raw.result("session.open", &json!({ "session": session, "title": "Renamed" }));
        assert_eq!(named(&mut raw, session), (json!("Renamed"), json!("coder"), json!("m")));
    }
    assert_eq!(raw.result("session.next_title", &json!({ "title": "About opened" }))["title"], "About opened");
}

#[test]
fn the_first_reason_for_an_end_counts_until_the_session_goes_on() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    open(&mut raw, "s", None);
    let row = show(&mut raw, "s");
    assert_eq!((&row["ended_at"], &row["end_reason"]), (&json!(null), &json!(null)));
    close(&mut raw, "s", "compression");
    let first = show(&mut raw, "s");
    assert_eq!(first["end_reason"], "compression");
    for reason in ["closed", "user_exit"] {
        close(&mut raw, "s", reason);
        let row = show(&mut raw, "s");
        assert_eq!((&row["end_reason"], &row["ended_at"]), (&first["end_reason"], &first["ended_at"]), "{reason}");
    }
    raw.result("session.open", &json!({ "session": "s" }));
    let row = show(&mut raw, "s");
    assert_eq!((&row["ended_at"], &row["end_reason"]), (&json!(null), &json!(null)));
    raw.result("session.close", &json!({ "session": "s" }));
    let row = show(&mut raw, "s");
    assert_eq!(row["end_reason"], "closed");
    assert!(row["ended_at"].as_f64() > first["ended_at"].as_f64());
}

#[test]
fn a_row_tells_what_is_known_of_a_session() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let began = now();
    raw.result("session.open", &json!({ "session": "root" }));
    close(&mut raw, "root", "compression");
    let named = json!({ "session": "s", "agent": "coder", "parent": "root", "title": "A title", "model": "m-1" });
    raw.result("session.open", &named);
    let call = json!({ "id": "c1", "type": "function", "function": { "name": "f", "arguments": "{}" } });
    let messages = json!([
        { "role": "system", "content": "You help." },
        { "role": "user", "content": [{ "type": "text", "text": "  Please\n\nfix   the\tbuild  " }] },
        { "role": "assistant", "content": null, "tool_calls": [call, call] },
        { "role": "tool", "tool_call_id": "c1", "content": "done" },
    ]);
    raw.result("session.append", &json!({ "session": "s", "generation": 0, "position": 0, "messages": messages }));
    let usage =
        json!({ "prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": { "cached_tokens": 30 } });
    raw.result("context.record_usage", &json!({ "session": "s", "usage": usage }));
    let row = show(&mut raw, "s");
    let expected = json!({
        "session": "s", "parent": "root", "title": "A title", "agent": "coder", "model": "m-1", "profile": "default",
        "generation": 0, "ended_at": null, "end_reason": null, "messages": 4, "tool_calls": 2,
        "usage": { "calls": 1, "input": 70, "output": 20, "cache_read": 30, "cache_write": 0, "reasoning": 0, "prompt": 100, "total": 120 },
        "lineage_root": "root", "preview": "Please fix the build",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&row[name], value, "{name}: {row}");
    }
    for name in ["started_at", "last_active"] {
        assert!((began..=now()).contains(&row[name].as_f64().unwrap()), "{name}: {row}");
    }
    let bare = show(&mut raw, "root");
    for name in ["parent", "title", "agent", "model"] {
        assert_eq!(bare[name], json!(null), "{name}");
    }
    assert_eq!((&bare["preview"], &bare["messages"], &bare["usage"]["calls"]), (&json!(""), &json!(0), &json!(0)));
}

#[test]
fn what_was_never_opened_is_not_found() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (method, params) in [
        ("session.show", json!({ "session": "nobody" })),
        ("session.remove", json!({ "session": "nobody" })),
        ("session.close", json!({ "session": "nobody" })),
        ("session.snapshot", json!({ "session": "nobody" })),
        ("session.refresh", json!({ "session": "nobody" })),
        ("recall.describe", json!({ "session": "nobody" })),
    ] {
        assert_eq!(kind(&raw.call(method, &params)), "not_found", "{method}");
    }
    for (method, params) in [
        ("session.open", json!({ "session": "" })),
        ("session.show", json!({})),
        ("session.open", json!({ "session": "x".repeat(1025) })),
        ("session.open", json!({ "session": "a\nb" })),
        ("session.list", json!({ "limit": 0 })),
        ("session.list", json!({ "limit": 1001 })),
        ("session.list", json!({ "before": "yesterday" })),
        ("session.tip", json!({ "sesion": "x" })),
        ("session.lock", json!({ "session": "s", "holder": "h", "ttl_s": -1 })),
        ("session.lock", json!({ "session": "s", "holder": "h", "ttl_s": "300" })),
    ] {
        assert_eq!(kind(&raw.call(method, &params)), "invalid_params", "{method} {params}");
    }
    assert_eq!(raw.result("session.list", &json!({})), json!({ "sessions": [] }));
}

#[test]
fn a_removed_session_is_gone_for_good() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    say(&mut raw, "s", "the walrus sings");
    say(&mut raw, "t", "the walrus sleeps");
    let words = "walrus in a file ".repeat(100);
    let admit = json!({ "session": "s", "tool": "t", "id": "c", "content": words, "threshold": 0 });
    let handle = raw.result("output.admit", &admit)["handle"].clone();
    assert_eq!(raw.result("recall.search", &json!({ "query": "walrus" }))["hits"].as_array().unwrap().len(), 3);
    let removed = raw.result("session.remove", &json!({ "session": "s" }));
    assert_eq!((&removed["messages"], &removed["outputs"]), (&json!(1), &json!(1)));
    assert!(removed["bytes"].as_u64().unwrap() >= words.len() as u64, "{removed}");
    let found = raw.result("recall.search", &json!({ "query": "walrus" }));
    let sessions: Vec<&Value> = found["hits"].as_array().unwrap().iter().map(|hit| &hit["session"]).collect();
    assert_eq!(sessions, [&json!("t")]);
    for (method, params) in [
        ("session.show", json!({ "session": "s" })),
        ("session.snapshot", json!({ "session": "s" })),
        ("session.remove", json!({ "session": "s" })),
        ("output.read", json!({ "handle": handle })),
    ] {
        assert_eq!(kind(&raw.call(method, &params)), "not_found", "{method}");
    }
    // The id can be used again.
    let opened = raw.result("session.open", &json!({ "session": "s" }));
    assert_eq!((&opened["resumed"], &opened["generation"]), (&json!(false), &json!(0)));
    assert_eq!(show(&mut raw, "s")["messages"], 0);
}
