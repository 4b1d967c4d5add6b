//! How long outputs stay: the age limit after their session is closed, the quota of all outputs, and the records of
//! removed ones.

use std::time::{SystemTime, UNIX_EPOCH};

use herma_tests::{Daemon, Home, Raw, eventually, kind};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Stores a unique text of 10,000 bytes. Returns its handle.
fn keep(raw: &mut Raw, session: &str, id: &str) -> String {
    let params = json!({ "session": session, "tool": "probe", "id": id, "content": text(session, id), "threshold": 0 });
    let admitted = raw.result("output.admit", &params);
    assert_eq!(admitted["spilled"], true);
    admitted["handle"].as_str().unwrap().to_owned()
}

fn text(session: &str, id: &str) -> String {
    format!("{:-<10000}", format!("{session} {id} "))
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn close(raw: &mut Raw, session: &str) {
    raw.result("session.close", &json!({ "session": session }));
}

fn subscriber(daemon: &Daemon) -> Raw {
    let mut raw = daemon.raw();
    raw.result("subscribe", &json!({ "topics": ["output.expired"] }));
    raw
}

/// Returns the params of the next notification about a removed output.
fn told(raw: &mut Raw) -> Value {
    let mut line = raw.read();
    assert_eq!((&line["method"], &line["id"]), (&json!("output.expired"), &json!(null)), "{line}");
    line["params"].take()
}

/// Waits until this many outputs are removed by a collection. Returns their handles.
fn gone(raw: &mut Raw, count: usize, dry_run: bool) -> Vec<String> {
    eventually("outputs to become too old", || {
        let result = raw.result("output.gc", &json!({ "dry_run": dry_run }));
        let expired = result["expired"].as_array().unwrap();
        let handles: Vec<String> = expired.iter().map(|one| one["handle"].as_str().unwrap().to_owned()).collect();
        (handles.len() == count).then_some(handles)
    })
}

/// Returns the handle, state and reason of every listed output.
fn states(raw: &mut Raw, params: &Value) -> Vec<(String, Value, Value)> {
    let listed = raw.result("output.list", params);
    let row = |row: &Value| (row["handle"].as_str().unwrap().to_owned(), row["state"].clone(), row["reason"].clone());
    listed["outputs"].as_array().unwrap().iter().map(row).collect()
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

#[test]
fn what_a_closed_session_left_expires_and_is_told_of() {
    let home = Home::configured("[output]\nttl = \"1s\"\n");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let mut others = subscriber(&daemon);
    let began = now();
    let (one, two, open) = (keep(&mut raw, "old", "c1"), keep(&mut raw, "old", "c2"), keep(&mut raw, "open", "c1"));
    // The age of an output does not count while its session is open.
    let result = raw.result("output.gc", &json!({}));
    assert_eq!((&result["expired"], &result["freed"]), (&json!([]), &json!(0)));
    assert_eq!((&result["files"], &result["bytes"]), (&json!(3), &json!(30_000)));
    close(&mut raw, "old");

    let mut expected = vec![one.clone(), two.clone()];
    expected.sort();
    let mut would_go = gone(&mut raw, 2, true);
    would_go.sort();
    assert_eq!(would_go, expected);
    // A dry run changes nothing and sends no notification.
    assert_eq!(home.outputs().len(), 3);
    assert!(states(&mut raw, &json!({})).iter().all(|(_, state, _)| state == "kept"));
    assert_eq!(raw.result("output.read", &json!({ "handle": one }))["text"], json!(text("old", "c1")));

    let result = raw.result("output.gc", &json!({}));
    assert_eq!((&result["freed"], &result["files"], &result["bytes"]), (&json!(20_000), &json!(1), &json!(10_000)));
    for row in result["expired"].as_array().unwrap() {
        let expected = json!([row["handle"], "old", "probe", row["id"], 10_000, "ttl"]);
        assert_eq!(
            json!([row["handle"], row["session"], row["tool"], row["id"], row["bytes"], row["reason"]]),
            expected
        );
    }
    let mut notices = [told(&mut others), told(&mut others)];
    notices.sort_by_key(|notice| notice["id"].as_str().unwrap().to_owned());
    for (notice, (handle, id)) in notices.iter().zip([(&one, "c1"), (&two, "c2")]) {
        let expected = json!({
            "handle": handle, "session": "old", "tool": "probe", "id": id, "bytes": 10_000,
            "sha256": digest(&text("old", id)), "reason": "ttl",
        });
        assert_eq!(notice, &expected);
    }
    let check = |raw: &mut Raw| {
        for (params, id) in [
            (json!({ "handle": one }), "c1"),
            (json!({ "handle": format!("{two}:3"), "lines": 2, "line": 1 }), "c2"),
            (json!({ "path": home.path().join("herma/outputs/old/c1.txt") }), "c1"),
        ] {
            let reply = raw.call("output.read", &params);
            assert_eq!(kind(&reply), "not_found", "{reply}");
            let data = &reply["error"]["data"];
            let what = (&data["bytes"], &data["sha256"], &data["reason"]);
            assert_eq!(what, (&json!(10_000), &json!(digest(&text("old", id))), &json!("ttl")), "{params}");
            let at = data["expired_at"].as_f64().unwrap();
            assert!(began < at && at <= now(), "{at}");
        }
        let reply = raw.call("recall.expand", &json!({ "handle": format!("{one}:1") }));
        assert_eq!((kind(&reply), &reply["error"]["data"]["reason"]), ("not_found", &json!("ttl")));
        assert_eq!(raw.result("output.read", &json!({ "handle": open }))["text"], json!(text("open", "c1")));
        let listed = states(raw, &json!({ "session": "old" }));
        assert!(listed.len() == 2 && listed.iter().all(|(_, state, why)| state == "expired" && why == "ttl"));
        assert_eq!(states(raw, &json!({ "session": "open" })), [(open.clone(), json!("kept"), json!(null))]);
        assert_eq!(kind(&raw.call("output.remove", &json!({ "handle": one }))), "not_found");
    };
    check(&mut raw);
    assert_eq!(home.outputs().len(), 1);
    daemon.kill();
    let daemon = Daemon::start(&home);
    check(&mut daemon.raw());
}

#[test]
fn a_session_that_goes_on_again_keeps_what_it_has() {
    let home = Home::configured("[output]\nttl = \"1s\"\n");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let (again, old) = (keep(&mut raw, "again", "c"), keep(&mut raw, "old", "c"));
    close(&mut raw, "again");
    close(&mut raw, "old");
    raw.result("session.open", &json!({ "session": "again" }));
    assert_eq!(gone(&mut raw, 1, false), [old]);
    assert_eq!(states(&mut raw, &json!({ "session": "again" })), [(again, json!("kept"), json!(null))]);
}

#[test]
fn what_expired_can_be_kept_anew() {
    let home = Home::configured("[output]\nttl = \"1s\"\n");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let handle = keep(&mut raw, "s", "c");
    close(&mut raw, "s");
    assert_eq!(gone(&mut raw, 1, false).first(), Some(&handle));
    raw.result("session.open", &json!({ "session": "s" }));
    assert_eq!(keep(&mut raw, "s", "c"), handle);
    assert_eq!(raw.result("output.read", &json!({ "handle": handle }))["text"], json!(text("s", "c")));
    assert_eq!(states(&mut raw, &json!({})), [(handle, json!("kept"), json!(null))]);
}

#[test]
fn the_quota_takes_the_oldest_of_closed_sessions_first_and_then_of_open_ones() {
    let home = Home::configured("[output]\nquota = \"35KiB\"\n");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let mut others = subscriber(&daemon);
    let open = keep(&mut raw, "open", "o1");
    let (one, two) = (keep(&mut raw, "closed-1", "c"), keep(&mut raw, "closed-2", "c"));
    // The order in which they were closed does not count.
    close(&mut raw, "closed-2");
    close(&mut raw, "closed-1");
    assert_eq!(raw.result("output.gc", &json!({}))["expired"], json!([]));
    for (id, (handle, session)) in [("o2", (&one, "closed-1")), ("o3", (&two, "closed-2")), ("o4", (&open, "open"))] {
        let newest = keep(&mut raw, "open", id);
        let notice = told(&mut others);
        let what = (&notice["handle"], &notice["session"], &notice["reason"], &notice["bytes"]);
        assert_eq!(what, (&json!(handle), &json!(session), &json!("quota"), &json!(10_000)), "{id}");
        let reply = raw.call("output.read", &json!({ "handle": handle }));
        assert_eq!((kind(&reply), &reply["error"]["data"]["reason"]), ("not_found", &json!("quota")));
        assert_eq!(raw.result("output.read", &json!({ "handle": newest }))["text"], json!(text("open", id)));
    }
    let status = raw.result("status", &json!({}));
    let outputs = &status["outputs"];
    assert_eq!(
        (&outputs["files"], &outputs["bytes"], &outputs["quota"]),
        (&json!(3), &json!(30_000), &json!(35 << 10))
    );
    let kept: Vec<&Value> = outputs.as_object().unwrap().values().collect();
    assert_eq!(kept.len(), outputs.as_object().unwrap().len());
    assert_eq!(home.outputs().len(), 3);
}

#[test]
fn identical_contents_count_once_against_the_quota() {
    let home = Home::configured("[output]\nquota = \"15KiB\"\n");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for id in ["a", "b", "c", "d"] {
        let params = json!({ "session": "s", "tool": "t", "id": id, "content": text("s", "a"), "threshold": 0 });
        assert_eq!(raw.result("output.admit", &params)["spilled"], true);
    }
    let result = raw.result("output.gc", &json!({}));
    assert_eq!((&result["expired"], &result["files"], &result["bytes"]), (&json!([]), &json!(4), &json!(10_000)));
}

#[test]
fn the_list_names_what_is_kept_and_what_was_removed() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let mut others = subscriber(&daemon);
    let began = now();
    let handles = [keep(&mut raw, "s", "c1"), keep(&mut raw, "t", "c1"), keep(&mut raw, "s", "c2")];
    assert_eq!(raw.result("output.remove", &json!({ "handle": handles[0] })), json!({ "bytes": 10_000 }));
    let notice = told(&mut others);
    assert_eq!((&notice["handle"], &notice["reason"]), (&json!(handles[0]), &json!("removed")));
    let listed = raw.result("output.list", &json!({}));
    let rows = listed["outputs"].as_array().unwrap();
    let order: Vec<&str> = rows.iter().map(|row| row["handle"].as_str().unwrap()).collect();
    assert_eq!(order, [&handles[2], &handles[1], &handles[0]], "newest first");
    for (row, (session, id, state)) in
        rows.iter().zip([("s", "c2", "kept"), ("t", "c1", "kept"), ("s", "c1", "expired")])
    {
        let path = home.path().join(format!("herma/outputs/{session}/{id}.txt"));
        let expected = json!({
            "session": session, "tool": "probe", "id": id, "path": path, "chars": 10_000, "bytes": 10_000,
            "sha256": digest(&text(session, id)), "state": state,
        });
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&row[name], value, "{name}: {row}");
        }
        assert!((began..=now()).contains(&row["created_at"].as_f64().unwrap()), "{row}");
        assert_eq!(row["expired_at"].is_number(), state == "expired");
        assert_eq!(row["reason"], if state == "expired" { json!("removed") } else { json!(null) });
    }
    assert_eq!(states(&mut raw, &json!({ "limit": 1 }))[0].0, handles[2]);
    assert_eq!(states(&mut raw, &json!({ "session": "nobody" })), []);
    for limit in [0, 100_001] {
        assert_eq!(kind(&raw.call("output.list", &json!({ "limit": limit }))), "invalid_params");
    }
    let reply = raw.call("output.read", &json!({ "handle": handles[0] }));
    assert_eq!((kind(&reply), &reply["error"]["data"]["reason"]), ("not_found", &json!("removed")));
    for handle in [handles[0].as_str(), "out_00000000000000000000", "", "x"] {
        assert_eq!(kind(&raw.call("output.remove", &json!({ "handle": handle }))), "not_found", "{handle}");
    }

    // Removing a session removes its outputs.
    let result = raw.result("session.remove", &json!({ "session": "s" }));
    assert_eq!((&result["outputs"], &result["messages"]), (&json!(1), &json!(0)));
    let notice = told(&mut others);
    assert_eq!((&notice["handle"], &notice["reason"]), (&json!(handles[2]), &json!("removed")));
    assert_eq!(home.outputs().len(), 1);
    assert_eq!(kind(&raw.call("output.read", &json!({ "handle": handles[2] }))), "not_found");
}
