//! The content of a removed session is nowhere on the disk.

use std::fs;
use std::path::PathBuf;

use herma_tests::{Daemon, Home, Raw, eventually, kind};
use serde_json::{Value, json};

/// A word that occurs nowhere else. Its prefix-compressed forms in an index begin with the same letters.
const SECRET: &str = "xylophonquartz";

/// Returns the files of the home that contain the secret in any case.
fn traces(home: &Home) -> Vec<PathBuf> {
    let files = home.files().into_iter().filter(|file| file.is_file());
    let has = |file: &PathBuf| {
        let bytes = fs::read(file).unwrap().to_ascii_lowercase();
        bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())
    };
    files.filter(has).collect()
}

/// Adds the secret in every way in which a session can contain it.
fn speak(raw: &mut Raw, session: &str) {
    let open = json!({ "session": session, "title": format!("On {SECRET}"), "agent": "a", "context_length": 9000 });
    raw.result("session.open", &open);
    let message = |at: usize| {
        let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
        json!({ "role": role, "content": format!("{at} {SECRET} {}", "and so on ".repeat(80)) })
    };
    let messages: Vec<Value> = (0..121).map(message).collect();
    let append = json!({ "session": session, "generation": 0, "position": 0, "messages": messages });
    raw.result("session.append", &append);
    for (id, length) in [("small", 1), ("large", 30_000)] {
        let text = format!("{session} {id} {SECRET}\n").repeat(length);
        let admit = json!({ "session": session, "tool": "t", "id": id, "content": text, "threshold": 0 });
        assert_eq!(raw.result("output.admit", &admit)["spilled"], true);
    }
    let found = raw.result("recall.search", &json!({ "query": SECRET, "session": session, "limit": 100 }));
    assert!(found["hits"].as_array().unwrap().len() > 50, "{found}");
    let compressed = raw.result("context.compress", &json!({ "session": session }));
    assert_eq!(compressed["report"]["compressed"], true, "{}", compressed["report"]);
    // This output is removed before its session.
    let admit = json!({ "session": session, "tool": "t", "id": "gone", "content": SECRET.repeat(9), "threshold": 0 });
    let gone = raw.result("output.admit", &admit);
    raw.result("recall.search", &json!({ "query": "anything" }));
    raw.result("output.remove", &json!({ "handle": gone["handle"] }));
}

/// Removes the session after `between`, and checks that nothing of it is left.
fn check(session: &str, between: impl Fn(&Home, Daemon) -> Daemon) {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let stays = json!([{ "role": "user", "content": "what another session said" }]);
    let append = json!({ "session": "other", "generation": 0, "position": 0, "messages": stays });
    raw.result("session.append", &append);
    speak(&mut raw, session);
    let daemon = between(&home, daemon);
    let mut raw = daemon.raw();
    assert!(!traces(&home).is_empty());
    let removed = raw.result("session.remove", &json!({ "session": session }));
    assert!(removed["messages"].as_u64() > Some(100) && removed["outputs"] == 2, "{removed}");
    assert_eq!(traces(&home), Vec::<PathBuf>::new());
    let found = raw.result("recall.search", &json!({ "query": SECRET }));
    assert_eq!(found["hits"], json!([]));
    let found = raw.result("recall.search", &json!({ "query": "another session" }));
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    assert_eq!(raw.result("output.search", &json!({ "query": SECRET }))["matches"], json!([]));
    daemon.kill();
    let daemon = Daemon::start(&home);
    assert_eq!(daemon.raw().result("recall.search", &json!({ "query": SECRET }))["hits"], json!([]));
    assert_eq!(traces(&home), Vec::<PathBuf>::new());
}

#[test]
fn nothing_is_left_of_a_session_that_was_removed() {
    check("s", |_, daemon| daemon);
}

/// The ids of sessions, calls and tools may be secret too.
#[test]
fn nothing_is_left_of_the_name_of_a_session_that_was_removed() {
    check(SECRET, |_, daemon| daemon);
}

#[test]
fn nothing_is_left_of_a_session_of_an_earlier_daemon() {
    check("s", |home, daemon| {
        daemon.kill();
        Daemon::start(home)
    });
    check("s", |home, mut daemon| {
        daemon.terminate();
        daemon.ended();
        Daemon::start(home)
    });
}

/// The client may disconnect before the removal is done.
#[test]
fn a_session_is_removed_whole_also_when_nobody_waits_for_the_answer() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for round in 0..10 {
        let session = format!("s{round}");
        speak(&mut raw, &session);
        let mut hasty = daemon.raw();
        hasty.request("session.remove", &json!({ "session": session }));
        drop(hasty);
        eventually("all or nothing", || {
            let is_known = kind(&raw.call("session.show", &json!({ "session": session }))) != "not_found";
            let outputs = raw.result("output.list", &json!({ "session": session }));
            let has_outputs = !outputs["outputs"].as_array().unwrap().is_empty();
            (is_known == has_outputs).then_some(())
        });
        raw.call("session.remove", &json!({ "session": session }));
        // The second request may overtake the first one, which then still removes the session.
        let append = json!({ "session": session, "generation": 0, "position": 0, "messages": [] });
        eventually("a new session of that name", || {
            (kind(&raw.call("session.append", &append)).is_empty()).then_some(())
        });
        eventually("its end", || {
            (kind(&raw.call("session.remove", &json!({ "session": session }))) == "not_found").then_some(())
        });
    }
    assert_eq!(traces(&home), [""; 0].map(PathBuf::from));
}
