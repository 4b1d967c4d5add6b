//! Summaries that the daemon writes before a compression needs them.

use herma_tests::{Daemon, Home, Raw, eventually};
use serde_json::{Value, json};

fn said(at: usize) -> Value {
    let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
    json!({ "role": role, "content": format!("message {at} {}", "of the conversation ".repeat(60)) })
}

fn conversation(count: usize) -> Vec<Value> {
    (0..count).map(said).collect()
}

fn append(raw: &mut Raw, from: usize, to: usize) {
    let messages = &conversation(to)[from..];
    let params = json!({ "session": "s", "generation": 0, "position": from, "messages": messages });
    raw.result("session.append", &params);
}

fn ahead(raw: &mut Raw) -> Value {
    raw.result("context.compact_ahead", &json!({ "session": "s" }))
}

/// Fills a session with this many messages and waits until a summary is ready.
fn ready(raw: &mut Raw, count: usize) {
    raw.result("context.configure", &json!({ "session": "s", "context_length": 16_000 }));
    append(raw, 0, count);
    let started = ahead(raw);
    assert_eq!(started["state"], "started", "{started}");
    let job = eventually("the summary", || {
        let job = ahead(raw);
        (job["state"] == "ready").then_some(job)
    });
    assert_eq!(job["job"], started["job"]);
}

/// Returns the number of messages in the tail.
fn tail(done: &Value) -> u64 {
    done["report"]["tail"].as_u64().unwrap()
}

fn compress(raw: &mut Raw, more: &Value) -> Value {
    let mut params = json!({ "session": "s" });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    raw.result("context.compress", &params)
}

#[test]
fn what_was_made_ahead_is_used_for_a_list_that_only_grew() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    ready(&mut raw, 100);
    append(&mut raw, 100, 106);
    let done = compress(&mut raw, &json!({}));
    let report = &done["report"];
    assert_eq!((&report["compressed"], &report["generation"]), (&json!(true), &json!(1)), "{report}");
    assert_eq!(report["messages_before"], 106);
    let messages = done["messages"].as_array().unwrap();
    assert_eq!(messages[messages.len() - 6..], conversation(106)[100..]);
    assert_eq!(report["head"].as_u64().unwrap() + report["dropped"].as_u64().unwrap() + tail(&done), 106);
    // A compression from scratch keeps a tail of the same weight, so its tail is shorter.
    let fresh = {
        let other = Home::new();
        let daemon = Daemon::start(&other);
        let mut raw = daemon.raw();
        raw.result("context.configure", &json!({ "session": "s", "context_length": 16_000 }));
        compress(&mut raw, &json!({ "messages": conversation(106) }))
    };
    assert_eq!(tail(&done), tail(&fresh) + 6, "{report}");
    let roles: Vec<&Value> = messages.iter().map(|message| &message["role"]).collect();
    assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{roles:?}");
    let described = raw.result("recall.describe", &json!({ "session": "s" }));
    assert_eq!(described["compressions"][0]["messages"], report["archived"]["messages"]);
    // The summary made ahead is dropped with the old generation.
    let state = ahead(&mut raw)["state"].clone();
    assert!(state == "started" || state == "nothing", "{state}");
}

#[test]
fn it_is_not_used_for_another_list_or_another_wish() {
    let mut changed = conversation(106);
    changed[2] = said(4);
    for (what, more) in [
        ("a changed list", json!({ "messages": changed })),
        ("a shorter list", json!({ "messages": conversation(96) })),
        ("a focus", json!({ "messages": conversation(106), "focus": "the socket" })),
    ] {
        let home = Home::new();
        let daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        ready(&mut raw, 100);
        let done = compress(&mut raw, &more);
        let fresh = {
            let other = Home::new();
            let daemon = Daemon::start(&other);
            let mut raw = daemon.raw();
            raw.result("context.configure", &json!({ "session": "s", "context_length": 16_000 }));
            compress(&mut raw, &more)
        };
        assert_eq!(tail(&done), tail(&fresh), "{what}");
        assert_eq!(done["messages"], fresh["messages"], "{what}");
    }
}

#[test]
fn there_may_be_nothing_to_make_ahead() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("context.configure", &json!({ "session": "s", "context_length": 16_000 }));
    assert_eq!(ahead(&mut raw), json!({ "job": "", "state": "nothing" }));
    append(&mut raw, 0, 4);
    assert_eq!(ahead(&mut raw)["state"], "nothing");
    append(&mut raw, 4, 100);
    raw.result("context.configure", &json!({ "session": "s", "summarizer": "client" }));
    assert_eq!(ahead(&mut raw)["state"], "nothing", "only the agent can write it");
}

/// A session near its threshold, with a given engine. Returns the threshold.
fn near(raw: &mut Raw, engine: &str) -> u64 {
    let params = json!({ "session": "s", "context_length": 16_000, "engine": engine });
    raw.result("context.configure", &params);
    append(raw, 0, 100);
    let known = raw.result("context.check", &json!({ "session": "s", "tokens": 1 }));
    let threshold = known["threshold"].as_u64().unwrap();
    let due = raw.result("context.check", &json!({ "session": "s", "tokens": threshold * 95 / 100 }));
    assert_eq!(due["compress"], false, "{due}");
    threshold
}

#[test]
fn an_engine_that_asks_nobody_begins_by_itself_near_the_threshold() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut listener = daemon.raw();
    listener.result("subscribe", &json!({ "topics": ["compression.progress"] }));
    let mut raw = daemon.raw();
    let threshold = near(&mut raw, "lossless");
    // The run starts without a request.
    assert_eq!(listener.read()["method"], "compression.progress");
    eventually("the run", || (ahead(&mut raw)["state"] == "ready").then_some(()));
    append(&mut raw, 100, 104);
    let due = raw.result("context.check", &json!({ "session": "s", "tokens": threshold + 1 }));
    assert_eq!(due["compress"], true, "{due}");
    let done = compress(&mut raw, &json!({}));
    let report = &done["report"];
    assert_eq!((&report["compressed"], &report["summarizer"]), (&json!(true), &json!("extractive")), "{report}");
    let messages = done["messages"].as_array().unwrap();
    assert_eq!(messages[messages.len() - 4..], conversation(104)[100..]);
    let described = raw.result("recall.describe", &json!({ "session": "s" }));
    assert!(!described["map"].as_array().unwrap().is_empty(), "{described}");
}

#[test]
fn an_engine_that_may_ask_somebody_waits_for_its_caller() {
    let home = Home::configured(
        "[summarizer]\nchain = [\"command\", \"extractive\"]\n[summarizer.command]\nargv = [\"cat\"]\n",
    );
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    near(&mut raw, "compressor");
    assert_eq!(ahead(&mut raw)["state"], "started");
}

/// A session whose transcript is over 90 % of the threshold and large enough for a run ahead of time.
fn grown(daemon: &Daemon, raw: &mut Raw, count: usize) -> Raw {
    let mut listener = daemon.raw();
    listener.result("subscribe", &json!({ "topics": ["compression.progress"] }));
    raw.result("context.configure", &json!({ "session": "s", "context_length": 64_000 }));
    append(raw, 0, count);
    assert_eq!(listener.read()["method"], "compression.progress", "nobody asked for it");
    eventually("the run", || (ahead(raw)["state"] == "ready").then_some(()));
    listener
}

#[test]
fn what_was_appended_is_compressed_before_anybody_asks() {
    for count in [165, 400] {
        let home = Home::new();
        let daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        grown(&daemon, &mut raw, count);
        let done = compress(&mut raw, &json!({}));
        assert_eq!((&done["report"]["compressed"], &done["report"]["messages_before"]), (&json!(true), &json!(count)));
        let other = Home::new();
        let daemon = Daemon::start(&other);
        let mut fresh = daemon.raw();
        fresh.result("context.configure", &json!({ "session": "s", "context_length": 64_000 }));
        let fresh = compress(&mut fresh, &json!({ "messages": conversation(count) }));
        assert_eq!(done["messages"], fresh["messages"], "of {count} messages");
    }
}

#[test]
fn a_run_begun_unasked_is_begun_anew_where_the_list_grew() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let mut listener = grown(&daemon, &mut raw, 165);
    let first = ahead(&mut raw)["job"].clone();
    append(&mut raw, 165, 180);
    assert_eq!(listener.read()["method"], "compression.progress");
    let job = eventually("the next run", || {
        let job = ahead(&mut raw);
        (job["state"] == "ready" && job["job"] != first).then_some(job)
    });
    assert_ne!(job["job"], first);
    let done = compress(&mut raw, &json!({}));
    let messages = done["messages"].as_array().unwrap();
    assert_eq!(messages[messages.len() - 15..], conversation(180)[165..]);
}

#[test]
fn the_size_of_the_list_counts_in_each_generation() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let mut listener = grown(&daemon, &mut raw, 400);
    let done = compress(&mut raw, &json!({}));
    let after = done["messages"].as_array().unwrap().len();
    eventually("what the compression said", || (listener.read()["params"]["phase"] == "assemble").then_some(()));
    // The session is over 90 % only together with the messages that the compression left.
    let more = json!({ "session": "s", "generation": 1, "position": after, "messages": conversation(125) });
    raw.result("session.append", &more);
    assert_eq!(listener.read()["method"], "compression.progress", "nobody asked for it");
    eventually("the run", || (ahead(&mut raw)["state"] == "ready").then_some(()));
}
