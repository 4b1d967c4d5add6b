//! Clock jumps while no daemon runs. No output is removed because of its apparent age, and the quota still holds.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use herma_tests::{Daemon, Home, Raw, eventually, journal::crc32};
use serde_json::{Value, json};

/// A day, in seconds.
const DAY: f64 = 86_400.0;

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

fn keep(raw: &mut Raw, id: &str, length: usize) {
    let params = json!({ "session": "s", "tool": "t", "id": id, "content": id.repeat(length), "threshold": 0 });
    assert_eq!(raw.result("output.admit", &params)["spilled"], true);
}

/// Runs a collection, and returns the reasons for which outputs are removed, in order.
fn gone(raw: &mut Raw) -> Vec<Value> {
    let collected = raw.result("output.gc", &json!({}));
    collected["expired"].as_array().unwrap().iter().map(|output| output["reason"].clone()).collect()
}

/// A line of the catalog.
fn line(kind: &str, body: &str) -> String {
    format!("{{\"crc\":\"{:08x}\",\"{kind}\":{body}}}\n", crc32(body.as_bytes()))
}

/// Sets the time of the last collection in the catalog, and shifts the times at which outputs were stored.
fn edit(home: &Home, seen: Option<f64>, shift: f64) {
    let path = home.path().join("herma/outputs.jsonl");
    let mut lines = String::new();
    let (mut had_seen, mut shifted) = (false, 0);
    for row in fs::read_to_string(&path).unwrap().lines() {
        let (kind, body) = row["{\"crc\":\"00000000\",\"".len()..row.len() - 1].split_once("\":").unwrap();
        assert_eq!(line(kind, body).trim_end(), row, "the catalog is written otherwise");
        match kind {
            "seen" => had_seen = true,
            "kept" => {
                let mut kept: Value = serde_json::from_str(body).unwrap();
                kept["created_at"] = json!(kept["created_at"].as_f64().unwrap() + shift);
                lines.push_str(&line(kind, &kept.to_string()));
                shifted += 1;
            }
            _ => lines.push_str(&line(kind, body)),
        }
    }
    assert!(had_seen && shifted > 0, "{lines}");
    if let Some(seen) = seen {
        lines.push_str(&line("seen", &json!({ "at": seen }).to_string()));
    }
    fs::write(path, lines).unwrap();
}

/// Stores two outputs of a closed session, and shifts the clock before the next daemon starts. Returns the reasons for
/// which outputs were removed after the jump.
fn after_jump(config: &str, seen: Option<f64>, shift: f64) -> (Home, Daemon, Vec<Value>) {
    let home = Home::configured(config);
    let mut daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    keep(&mut raw, "one", 300);
    keep(&mut raw, "two", 400);
    assert_eq!(gone(&mut raw), [Value::Null; 0], "its session is open");
    raw.result("session.close", &json!({ "session": "s" }));
    daemon.terminate();
    daemon.ended();
    edit(&home, seen, shift);
    daemon = Daemon::start(&home);
    let went = gone(&mut daemon.raw());
    (home, daemon, went)
}

#[test]
fn without_a_jump_the_age_decides() {
    let (home, _daemon, went) = after_jump("[output]\nttl = \"0s\"\n", Some(now()), 0.0);
    assert_eq!(went, [json!("ttl"), json!("ttl")]);
    assert!(home.outputs().is_empty());
}

/// The clock may have been right before or may be right now, or years have passed since the last collection. The daemon
/// can't know.
#[test]
fn long_after_the_last_look_nothing_goes_by_age_at_once() {
    for days in [2.0, 400.0, 20_000.0] {
        let (home, mut daemon, went) = after_jump("[output]\nttl = \"0s\"\n", Some(now() - days * DAY), -days * DAY);
        assert_eq!(went, [Value::Null; 0], "{days}");
        // A restart does not prove that the clock is right.
        for _ in 0..3 {
            daemon.kill();
            daemon = Daemon::start(&home);
            assert_eq!(gone(&mut daemon.raw()), [Value::Null; 0], "{days}");
        }
        assert_eq!(home.outputs().len(), 2);
    }
}

#[test]
fn what_comes_from_the_future_has_no_age() {
    for days in [2.0, 400.0, 20_000.0] {
        for shift in [days * DAY, 0.0] {
            let (home, _daemon, went) = after_jump("[output]\nttl = \"1h\"\n", Some(now() + days * DAY), shift);
            assert_eq!((went, home.outputs().len()), (vec![], 2), "{days} {shift}");
        }
    }
}

#[test]
fn the_quota_holds_whatever_the_clock_says() {
    for seen in [now() - 400.0 * DAY, now() + 400.0 * DAY, f64::MAX, -f64::MAX] {
        for shift in [0.0, -400.0 * DAY, 400.0 * DAY] {
            let (home, daemon, went) = after_jump("[output]\nquota = \"3 KiB\"\n", Some(seen), shift);
            assert!(went.iter().all(|reason| reason != "ttl"), "{seen} {shift}: {went:?}");
            let mut raw = daemon.raw();
            for number in 0..5 {
                keep(&mut raw, &format!("of the {number}. time "), 30);
            }
            let bytes = |raw: &mut Raw| raw.result("status", &json!({}))["outputs"]["bytes"].as_u64().unwrap();
            eventually("the outputs to fit", || (bytes(&mut raw) <= 3072).then_some(()));
            assert!(!home.outputs().is_empty());
        }
    }
}
