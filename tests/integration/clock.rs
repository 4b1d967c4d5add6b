//! Clocks that jump while no daemon runs: nothing goes by age because of it, and the quota
//! holds all the same.

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

/// The reasons for which outputs go now, in order.
fn gone(raw: &mut Raw) -> Vec<Value> {
    let collected = raw.result("output.gc", &json!({}));
    collected["expired"].as_array().unwrap().iter().map(|output| output["reason"].clone()).collect()
}

/// A line of the catalog.
fn line(kind: &str, body: &str) -> String {
    format!("{{\"crc\":\"{:08x}\",\"{kind}\":{body}}}\n", crc32(body.as_bytes()))
}

/// Says in the catalog that outputs were last collected at this time, and shifts the times
/// at which they were kept.
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

/// Keeps two outputs of a session that is closed, and lets the clock jump before the next
/// daemon. Gives back why outputs went after the jump.
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

/// The clock was right and is far ahead now, or the other way round, or it is years since
/// anybody looked: nobody knows.
#[test]
fn long_after_the_last_look_nothing_goes_by_age_at_once() {
    for days in [2.0, 400.0, 20_000.0] {
        let (home, mut daemon, went) = after_jump("[output]\nttl = \"0s\"\n", Some(now() - days * DAY), -days * DAY);
        assert_eq!(went, [Value::Null; 0], "{days}");
        // Another start is no proof that the clock is right.
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
