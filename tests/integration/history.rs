//! Every change of a store is listed and can be undone.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use herma_protocol::memory::Target;
use herma_tests::{Daemon, Home, Raw, kind};
use serde_json::{Value, json};

mod back;

fn add(raw: &mut Raw, content: &str) -> Value {
    let result = raw.result("memory.add", &json!({ "target": "memory", "content": content }));
    assert_eq!(result["success"], true, "{result}");
    result
}

fn log(raw: &mut Raw, params: &Value) -> Value {
    raw.result("memory.log", params)
}

/// Returns the revisions of the rows, and whether there are older ones.
fn revisions(log: &Value) -> (Vec<u64>, bool) {
    let rows = log["rows"].as_array().unwrap();
    (rows.iter().map(|row| row["revision"].as_u64().unwrap()).collect(), log["more"].as_bool().unwrap())
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

#[test]
fn the_log_tells_what_changed_and_who_did_it_newest_first() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let began = now();
    for (method, params) in [
        ("memory.add", json!({ "target": "memory", "content": "one", "session": "s1", "agent": "coder" })),
        ("memory.replace", json!({ "target": "memory", "old_text": "one", "content": "ONE", "agent": "critic" })),
        ("memory.add", json!({ "target": "memory", "content": "two", "session": "s2" })),
        ("memory.remove", json!({ "target": "memory", "old_text": "ONE" })),
        (
            "memory.batch",
            json!({ "target": "memory", "operations": [{ "action": "add", "content": "three" }, { "action": "remove", "old_text": "two" }], "session": "s3" }),
        ),
        (
            "memory.tool",
            json!({ "arguments": { "action": "add", "target": "memory", "content": "four" }, "session": "s4", "agent": "model" }),
        ),
        ("memory.undo", json!({ "target": "memory", "session": "s5", "agent": "person" })),
        ("memory.restore", json!({ "target": "memory", "revision": 1, "agent": "person" })),
    ] {
        assert_eq!(raw.result(method, &params)["success"], true, "{method}");
    }
    home.write_store(Target::Memory, b"by hand");
    let result = log(&mut raw, &json!({}));
    let rows = result["rows"].as_array().unwrap();
    let told: Vec<Value> =
        rows.iter().map(|row| json!([row["revision"], row["action"], row["session"], row["agent"]])).collect();
    let expected = [
        json!([9, "external", null, null]),
        json!([8, "restore", null, "person"]),
        json!([7, "undo", "s5", "person"]),
        json!([6, "add", "s4", "model"]),
        json!([5, "batch", "s3", null]),
        json!([4, "remove", null, null]),
        json!([3, "add", "s2", null]),
        json!([2, "replace", null, "critic"]),
        json!([1, "add", "s1", "coder"]),
    ];
    assert_eq!(told, expected);
    assert_eq!((&result["more"], &result["damaged"]), (&json!(false), &json!(0)));
    let after: Vec<&Value> = rows.iter().map(|row| &row["after"]).collect();
    let texts = [
        json!(["by hand"]),
        json!(["one"]),
        json!(["three"]),
        json!(["three", "four"]),
        json!(["three"]),
        json!(["two"]),
        json!(["ONE", "two"]),
        json!(["ONE"]),
        json!(["one"]),
    ];
    assert_eq!(after, texts.iter().collect::<Vec<_>>());
    // Each row starts where the older one ended.
    for pair in rows.windows(2) {
        assert_eq!(pair[0]["before"], pair[1]["after"]);
        assert!(pair[0]["time"].as_f64() >= pair[1]["time"].as_f64(), "{pair:?}");
    }
    assert_eq!(rows[8]["before"], json!([]));
    for row in rows {
        let time = row["time"].as_f64().unwrap();
        // The clock of a file system may lag slightly.
        assert!(row["target"] == "memory" && (began - 1.0..=now() + 1.0).contains(&time), "{row}");
    }
}

#[test]
fn the_log_is_read_in_pages_and_says_when_there_is_more() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for number in 1..=6 {
        add(&mut raw, &format!("entry {number}"));
    }
    for (params, expected, more) in [
        (json!({}), vec![6, 5, 4, 3, 2, 1], false),
        (json!({ "target": "memory", "limit": 2 }), vec![6, 5], true),
        (json!({ "target": "memory", "limit": 2, "before": 5 }), vec![4, 3], true),
        (json!({ "target": "memory", "limit": 2, "before": 3 }), vec![2, 1], false),
        (json!({ "target": "memory", "limit": 6 }), vec![6, 5, 4, 3, 2, 1], false),
        (json!({ "target": "memory", "limit": 1000, "before": 1_000_000 }), vec![6, 5, 4, 3, 2, 1], false),
        (json!({ "target": "memory", "before": 1 }), vec![], false),
        (json!({ "target": "memory", "before": 0 }), vec![], false),
        (json!({ "target": "user" }), vec![], false),
    ] {
        assert_eq!(revisions(&log(&mut raw, &params)), (expected, more), "{params}");
    }
    for wrong in [
        json!({ "limit": 0 }),
        json!({ "limit": 1001 }),
        json!({ "limit": -1 }),
        json!({ "before": -1 }),
        json!({ "target": "mind" }),
        json!({ "revision": 1 }),
    ] {
        let reply = raw.call("memory.log", &wrong);
        assert_eq!(kind(&reply), "invalid_params", "{wrong}: {reply}");
    }
}

#[test]
fn without_a_target_the_log_has_both_stores_by_time() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (target, content) in [("memory", "a"), ("user", "b"), ("user", "c"), ("memory", "d"), ("user", "e")] {
        raw.result("memory.add", &json!({ "target": target, "content": content }));
    }
    let mut told = |limit: u64| {
        let result = log(&mut raw, &json!({ "limit": limit }));
        let rows = result["rows"].as_array().unwrap();
        let rows: Vec<Value> = rows.iter().map(|row| json!([row["target"], row["revision"]])).collect();
        (Value::from(rows), result["more"].as_bool().unwrap())
    };
    let all = json!([["user", 3], ["memory", 2], ["user", 2], ["user", 1], ["memory", 1]]);
    assert_eq!(told(50), (all, false));
    assert_eq!(told(3), (json!([["user", 3], ["memory", 2], ["user", 2]]), true));
}

#[test]
fn every_write_may_name_the_revision_it_expects() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    add(&mut raw, "one");
    add(&mut raw, "two");
    let mut revision = 2;
    for (method, params) in [
        ("memory.add", json!({ "content": "three" })),
        ("memory.replace", json!({ "old_text": "three", "content": "THREE" })),
        ("memory.remove", json!({ "old_text": "two" })),
        ("memory.batch", json!({ "operations": [{ "action": "add", "content": "four" }] })),
        ("memory.undo", json!({})),
        ("memory.restore", json!({ "revision": 1 })),
    ] {
        let before = home.entries(Target::Memory);
        let with = |expected: u64| {
            let mut params = params.clone();
            (params["target"], params["expected_revision"]) = (json!("memory"), json!(expected));
            params
        };
        for stale in [0, revision - 1, revision + 1] {
            let reply = raw.call(method, &with(stale));
            assert_eq!((kind(&reply), &reply["error"]["code"]), ("conflict", &json!(-32006)), "{method}: {reply}");
            let data = &reply["error"]["data"];
            assert_eq!((&data["revision"], &data["entries"]), (&json!(revision), &json!(before)), "{method}: {reply}");
            assert_eq!(home.entries(Target::Memory), before, "{method}");
        }
        let fresh = raw.result(method, &with(revision));
        revision += 1;
        assert_eq!((&fresh["success"], &fresh["revision"]), (&json!(true), &json!(revision)), "{method}: {fresh}");
    }
}

#[test]
fn the_journal_keeps_what_the_configuration_says_and_no_more_than_twice_that() {
    let home = Home::configured("[memory]\njournal_revisions = 3\n");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let journal = home.path().join("herma/journal/default/memory.jsonl");
    for number in 1..=20_u64 {
        add(&mut raw, &format!("entry {number}"));
        let (kept, _) = revisions(&log(&mut raw, &json!({ "target": "memory" })));
        let count = u64::try_from(kept.len()).unwrap();
        assert!(count >= number.min(3) && count <= 6, "{number}: {kept:?}");
        assert!(kept.iter().rev().copied().eq(number + 1 - count..=number), "{number}: {kept:?}");
        assert!(fs::read_to_string(&journal).unwrap().lines().count() <= 8, "{number}");
    }
    let (kept, _) = revisions(&log(&mut raw, &json!({ "target": "memory" })));
    let oldest = *kept.last().unwrap();
    // The text before the oldest kept row can be restored, too.
    let gone = raw.call("memory.restore", &json!({ "target": "memory", "revision": oldest - 2 }));
    let words = gone["error"]["message"].as_str().unwrap();
    assert!(kind(&gone) == "not_found" && words.contains(&(oldest - 1).to_string()), "{gone}");
    let restored = raw.result("memory.restore", &json!({ "target": "memory", "revision": oldest - 1 }));
    assert_eq!(restored["entry_count"], json!(oldest - 1), "{restored}");
    let before = log(&mut raw, &json!({}));
    daemon.kill();
    let daemon = Daemon::start(&home);
    assert_eq!(log(&mut daemon.raw(), &json!({})), before);
    assert_eq!(add(&mut daemon.raw(), "after")["revision"], 22);
}

#[test]
fn history_survives_restarts_and_an_edit_meanwhile_is_part_of_it() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    add(&mut daemon.raw(), "one");
    add(&mut daemon.raw(), "two");
    let before = log(&mut daemon.raw(), &json!({}));
    daemon.terminate();
    assert!(daemon.ended().success());
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert_eq!(log(&mut raw, &json!({})), before);
    assert_eq!(raw.result("memory.undo", &json!({ "target": "memory" }))["entries"], json!(["one"]));
    daemon.kill();
    home.write_store(Target::Memory, b"edited while nobody served");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let result = log(&mut raw, &json!({ "limit": 1 }));
    let row = &result["rows"][0];
    assert_eq!((&row["revision"], &row["action"]), (&json!(4), &json!("external")), "{result}");
    assert_eq!((&row["before"], &row["after"]), (&json!(["one"]), &json!(["edited while nobody served"])));
    assert_eq!(raw.result("memory.undo", &json!({ "target": "memory" }))["entries"], json!(["one"]));
    let restored = raw.result("memory.restore", &json!({ "target": "memory", "revision": 2 }));
    assert_eq!((&restored["revision"], &restored["entries"]), (&json!(6), &json!(["one", "two"])), "{restored}");
}
