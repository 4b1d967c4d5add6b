//! Invalid ids and messages from an agent.

use std::fs;

use herma_tests::{Daemon, Home, Raw, kind};
use serde_json::{Value, json};

/// A list that is long enough to be compressed, with `middle` in the middle.
fn around(middle: &[Value]) -> Vec<Value> {
    let side = |from: usize| {
        (from..from + 30).flat_map(|turn| {
            [
                json!({ "role": "user", "content": format!("question {turn} {}", "word ".repeat(60)) }),
                json!({ "role": "assistant", "content": format!("answer {turn} {}", "word ".repeat(60)) }),
            ]
        })
    };
    side(0).chain(middle.iter().cloned()).chain(side(30)).collect()
}

fn compress(raw: &mut Raw, messages: &[Value]) -> Value {
    raw.call("context.compress", &json!({ "session": "s", "messages": messages }))
}

fn configured(daemon: &Daemon) -> Raw {
    let mut raw = daemon.raw();
    let reply = raw.call("context.configure", &json!({ "session": "s", "context_length": 9000 }));
    assert!(reply["result"].is_object(), "{reply}");
    raw
}

#[test]
fn hostile_ids_never_leave_the_home() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let ids = ["../../x", "/etc/passwd", "..", ".", "a/b", "a\\b", "-rf", "~", "名前", "a b", "$(id)", "x;y", "CON"];
    let mut paths = Vec::new();
    for session in ids {
        let opened = raw.call("session.open", &json!({ "session": session }));
        assert_eq!(opened["result"]["session"], session, "{opened}");
        for id in ids {
            let content = format!("{session} {id}");
            let params = json!({ "session": session, "tool": "t", "id": id, "content": content, "threshold": 0 });
            let kept = raw.call("output.admit", &params)["result"].clone();
            let path = kept["path"].as_str().unwrap_or_else(|| panic!("{kept}")).to_owned();
            assert!(
                path.starts_with(home.path().join("herma/outputs").to_str().unwrap()) && !path.contains(".."),
                "{path}"
            );
            let read = raw.call("output.read", &json!({ "handle": kept["handle"] }));
            assert_eq!(read["result"]["text"], content);
            assert_eq!(raw.call("output.read", &json!({ "path": path }))["result"]["text"], content);
            paths.push(path);
        }
    }
    let files = home.outputs().len();
    assert_eq!(files, ids.len() * ids.len());
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), files);
    let mut top: Vec<String> =
        fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    top.retain(|name| name != "memories");
    assert_eq!(top, ["herma"]);
}

#[test]
fn ids_that_are_empty_too_long_or_hold_controls_are_refused_by_name() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let long = "i".repeat(10_000);
    for (method, params, param) in [
        ("session.open", json!({ "session": "" }), "session"),
        ("session.open", json!({ "session": long }), "session"),
        ("session.open", json!({ "session": "a\nb" }), "session"),
        ("session.open", json!({ "session": "a\u{0}b" }), "session"),
        ("session.open", json!({ "session": "s", "title": long }), "title"),
        ("session.snapshot", json!({ "session": long }), "session"),
        ("session.close", json!({ "session": "s", "reason": long }), "reason"),
        ("output.admit", json!({ "session": "", "tool": "t", "id": "i", "content": "x" }), "session"),
        ("output.admit", json!({ "session": "s", "tool": long, "id": "i", "content": "x" }), "tool"),
        ("memory.add", json!({ "target": "user", "content": "x", "agent": long }), "agent"),
        ("memory.add", json!({ "target": "user", "content": "x", "session": long }), "session"),
        ("context.compress", json!({ "session": "", "messages": [] }), "session"),
        ("context.configure", json!({ "session": long, "context_length": 1000 }), "session"),
        ("memory.list", json!({ "profile": long }), "profile"),
        ("memory.list", json!({ "profile": "" }), "profile"),
        ("memory.list", json!({ "profile": "../../x" }), "profile"),
        ("session.open", json!({ "session": "s", "profile": "../../x" }), "profile"),
        ("session.open", json!({ "session": "s", "profile": "a/b" }), "profile"),
    ] {
        let reply = raw.call(method, &params);
        assert_eq!(kind(&reply), "invalid_params", "{method}: {reply}");
        assert_eq!(reply["error"]["data"]["param"], param, "{method}: {reply}");
        assert!(reply["error"]["message"].as_str().unwrap().len() < 400);
    }
    assert!(!home.path().join("profiles").exists());
    // Providers choose the ids of outputs, so any id is accepted.
    for id in ["", &long, "a\u{0}b"] {
        let params = json!({ "session": "s", "tool": "t", "id": id, "content": "x", "threshold": 0 });
        let kept = raw.call("output.admit", &params);
        assert_eq!(kept["result"]["spilled"], true, "{kept}");
    }
}

#[test]
fn a_profile_that_was_never_opened_is_not_made_by_a_typo() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let add = json!({ "target": "user", "content": "x", "profile": "wrok" });
    assert_eq!(kind(&raw.call("memory.add", &add)), "not_found");
    assert!(!home.path().join("profiles").exists());
    raw.call("session.open", &json!({ "session": "s", "profile": "work" }));
    let add = json!({ "target": "user", "content": "x", "profile": "work" });
    assert_eq!(raw.call("memory.add", &add)["result"]["success"], true);
    assert_eq!(fs::read_to_string(home.path().join("profiles/work/memories/USER.md")).unwrap(), "x");
    assert_eq!(kind(&raw.call("session.open", &json!({ "session": "s", "profile": "other" }))), "conflict");
}

#[test]
fn lists_that_are_short_or_empty_come_back_as_they_are() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = configured(&daemon);
    for length in [0, 1, 2, 5] {
        let list = &around(&[])[..length];
        let result = compress(&mut raw, list)["result"].clone();
        assert_eq!((&result["messages"], &result["report"]["compressed"]), (&json!(list), &json!(false)), "{result}");
        assert!(result["report"]["reason"].is_string());
        let plan = raw.call("context.plan", &json!({ "session": "s", "messages": list }))["result"].clone();
        let nothing = plan["start"].as_u64() >= plan["end"].as_u64();
        assert_eq!(plan["prompt"].is_null(), nothing, "{plan}");
    }
    assert_eq!(raw.call("context.status", &json!({ "session": "s" }))["result"]["generation"], 0);
}

#[test]
fn odd_messages_are_compressed_like_any_other() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    for (at, odd) in [
        json!({ "role": "assistant", "content": null }),
        json!({ "role": "user", "content": [] }),
        json!({ "role": "user", "content": [{ "type": "text", "text": "part" }, "bare", 7, null] }),
        json!({ "role": "user", "content": { "object": true } }),
        json!({ "role": "user", "content": 3.5 }),
        json!({ "role": "user" }),
        json!({ "content": "no role" }),
        json!({ "role": "narrator", "content": "meanwhile" }),
        json!({ "role": null, "content": "null role" }),
        json!({ "role": "user", "content": "x", "mood": { "deep": [1, 2] }, "_private": true }),
        json!({ "role": "tool", "tool_call_id": "nobody", "content": "a result without a call" }),
        json!({ "role": "tool", "content": "a result without an id" }),
        json!({ "role": "assistant", "content": "a call without a result", "tool_calls": [{ "id": "c", "function": { "name": "f", "arguments": "{" } }] }),
        json!({ "role": "assistant", "content": "odd calls", "tool_calls": [null, 7, {}] }),
        json!({ "role": "assistant", "content": "no list", "tool_calls": "call" }),
    ]
    .into_iter()
    .enumerate()
    {
        let mut raw = daemon.raw();
        let session = format!("s{at}");
        raw.call("context.configure", &json!({ "session": session, "context_length": 9000 }));
        let list = around(std::slice::from_ref(&odd));
        let reply = raw.call("context.compress", &json!({ "session": session, "messages": list }));
        let result = &reply["result"];
        assert_eq!(result["report"]["compressed"], true, "{odd}: {reply}");
        assert_eq!(result["messages"].as_array().unwrap().last(), list.last(), "{odd}");
        let plan = raw.call("context.plan", &json!({ "session": session, "messages": list }));
        assert!(plan["result"]["prompt"].is_string(), "{odd}: {plan}");
    }
}

#[test]
fn what_is_no_list_of_messages_is_refused() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = configured(&daemon);
    for list in [json!(7), json!({ "role": "user" }), json!("[]"), json!(true)] {
        for (method, params) in [
            ("context.compress", json!({ "session": "s", "messages": list })),
            ("context.plan", json!({ "session": "s", "messages": list })),
            ("context.estimate", json!({ "messages": list })),
            ("output.settle_turn", json!({ "session": "s", "messages": list })),
        ] {
            let reply = raw.call(method, &params);
            assert_eq!(kind(&reply), "invalid_params", "{method}: {reply}");
            assert!(reply["error"]["message"].as_str().unwrap().contains("messages"), "{reply}");
        }
    }
    assert_eq!(raw.call("context.status", &json!({ "session": "s" }))["result"]["generation"], 0);
}

#[test]
fn a_list_with_an_item_that_is_no_message_is_refused_by_its_number() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = configured(&daemon);
    let before = raw.call("context.status", &json!({ "session": "s" }));
    for odd in [
        json!({}),
        json!(7),
        json!("bare text"),
        json!(null),
        json!([]),
        json!({ "id": 1 }),
        json!({ "type": "user", "message": { "role": "user", "content": "a record of a transcript" } }),
        json!({ "from": "human", "value": "a turn of a trajectory" }),
    ] {
        let list = around(std::slice::from_ref(&odd));
        for (method, params) in [
            ("context.compress", json!({ "session": "s", "messages": list })),
            ("context.plan", json!({ "session": "s", "messages": list })),
            ("context.check", json!({ "session": "s", "messages": list })),
            ("context.undo", json!({ "session": "s", "messages": list })),
            ("context.episode", json!({ "session": "s", "action": "open", "title": "t", "messages": list })),
            ("context.discard", json!({ "session": "s", "messages": list })),
        ] {
            let reply = raw.call(method, &params);
            assert_eq!(
                (kind(&reply), &reply["error"]["data"]["param"]),
                ("invalid_params", &json!("messages")),
                "{reply}"
            );
            assert!(reply["error"]["message"].as_str().unwrap().contains("item 60 "), "{method}: {reply}");
        }
        let reply = raw.call("context.pin", &json!({ "session": "s", "message": odd }));
        let param = if odd.is_null() { "position" } else { "message" };
        assert_eq!((kind(&reply), &reply["error"]["data"]["param"]), ("invalid_params", &json!(param)), "{reply}");
        // Any list can be measured.
        assert!(raw.call("context.estimate", &json!({ "messages": list }))["result"]["tokens"].is_number());
    }
    assert_eq!(raw.call("context.status", &json!({ "session": "s" }))["result"], before["result"]);
    // A refused list creates no session.
    let list = json!([{ "id": 1 }]);
    for method in ["context.compress", "context.discard"] {
        assert_eq!(kind(&raw.call(method, &json!({ "session": "new", "messages": list }))), "invalid_params");
    }
    assert_eq!(kind(&raw.call("context.status", &json!({ "session": "new" }))), "not_found");
}

#[test]
fn a_window_or_setting_out_of_range_is_refused_and_changes_nothing() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = configured(&daemon);
    let before = raw.call("context.status", &json!({ "session": "s" }));
    for wrong in [
        json!({ "context_length": 0 }),
        json!({ "context_length": -5 }),
        json!({ "threshold": 0 }),
        json!({ "threshold": 1.01 }),
        json!({ "threshold": "half" }),
        json!({ "engine": "lossy" }),
        json!({ "summarizer": "oracle" }),
    ] {
        let mut params = json!({ "session": "s" });
        params.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        assert_eq!(kind(&raw.call("context.configure", &params)), "invalid_params", "{wrong}");
    }
    let after = raw.call("context.status", &json!({ "session": "s" }));
    assert_eq!(after["result"], before["result"]);
    // A ratio outside 0.10 to 0.80 is clamped, and any window from 1 on is accepted.
    let clamped = raw.call("context.configure", &json!({ "session": "s", "target_ratio": 5, "context_length": 1 }));
    assert_eq!(clamped["result"]["target_ratio"], 0.8, "{clamped}");
    assert_eq!(compress(&mut raw, &around(&[]))["result"]["messages"].as_array().unwrap().last(), around(&[]).last());
}
