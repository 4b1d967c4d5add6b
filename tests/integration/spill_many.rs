//! Very many small outputs: everything works at an acceptable cost.

use std::fs;
use std::time::{Duration, Instant};

use herma_tests::{Daemon, Home, eventually};
use serde_json::{Value, json};

/// Number of outputs, which takes seconds. `HERMA_TEST_OUTPUTS=100000` takes minutes.
const OUTPUTS: usize = 20_000;

/// Number of sessions with these outputs.
const SESSIONS: usize = 4;

/// Requests in flight on a connection.
const WINDOW: usize = 48;

/// Maximum memory of the daemon, in bytes.
const MEMORY: u64 = 400 << 20;

/// Maximum time of a call over all outputs.
const LONG: Duration = Duration::from_secs(20);

fn text(session: usize, number: usize) -> String {
    format!("output {number} of s{session}\nword{:x}", number * 2_654_435_761 % 1_000_003)
}

/// Admits the outputs of a session, many at a time.
fn admit_all(daemon: &Daemon, session: usize, count: usize) -> Vec<String> {
    let mut raw = daemon.raw();
    let mut handles = vec![String::new(); count];
    let (mut asked, mut first) = (0, None);
    let mut answered = 0;
    while answered < count {
        while asked < count && asked - answered < WINDOW {
            let params = json!({
                "session": format!("s{session}"), "tool": "t", "id": format!("call_{asked}"),
                "content": text(session, asked), "threshold": 0,
            });
            let id = raw.request("output.admit", &params);
            first = first.or(Some(id));
            asked += 1;
        }
        let mut reply = raw.read();
        let at = usize::try_from(reply["id"].as_u64().unwrap() - first.unwrap()).unwrap();
        match reply["result"]["handle"].take() {
            Value::String(handle) => handles[at] = handle,
            _ => panic!("{reply}"),
        }
        answered += 1;
    }
    handles
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let done = work();
    let took = started.elapsed();
    assert!(took < LONG, "{what} took {took:?}");
    done
}

/// Lists, reads and finds some of them.
fn check(daemon: &Daemon, handles: &[Vec<String>]) {
    let mut raw = daemon.raw();
    let files = raw.result("status", &json!({}))["outputs"]["files"].as_u64().unwrap();
    assert_eq!(files, (SESSIONS * handles[0].len()) as u64);
    for (session, handles) in handles.iter().enumerate() {
        for at in [0, 1, 7, 1_000, 4_999, handles.len() - 1] {
            let read = raw.result("output.read", &json!({ "handle": handles[at] }));
            assert_eq!(read["text"], json!(text(session, at)));
        }
    }
    let listed = timed("output.list", || {
        raw.result("output.list", &json!({ "session": "s1", "limit": 100_000 }))["outputs"].take()
    });
    let rows = listed.as_array().unwrap();
    assert_eq!(rows.len(), handles[1].len());
    assert!(rows.iter().all(|row| row["state"] == "kept" && row["session"] == "s1"));
    let found = timed("output.search", || raw.result("output.search", &json!({ "query": "output 4321 of s2" })));
    assert_eq!(found["matches"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["matches"][0]["handle"], json!(handles[2][4321]));
    let gone = timed("output.gc", || raw.result("output.gc", &json!({})));
    assert_eq!((&gone["expired"], &gone["files"]), (&json!([]), &json!(SESSIONS * handles[0].len())));
}

/// Finds one of them through the text index, once it is indexed.
fn check_recall(daemon: &Daemon, handles: &[Vec<String>]) {
    let mut raw = daemon.raw();
    let word = text(3, 2_001).lines().last().unwrap().to_owned();
    let hit = eventually("an output in the text index", || {
        let found = raw.result("recall.search", &json!({ "query": word, "session": "s3" }));
        found["hits"][0]["handle"].as_str().map(str::to_owned)
    });
    assert!(hit.starts_with(&handles[3][2_001]), "{hit}");
}

#[test]
fn many_outputs_are_kept_listed_read_found_and_cleared_away() {
    let home = Home::configured("[log]\nlevel = \"warn\"\n");
    let mut daemon = Daemon::start(&home);
    let wanted = std::env::var("HERMA_TEST_OUTPUTS").map_or(OUTPUTS, |count| count.parse().unwrap());
    let each = wanted / SESSIONS;
    let handles: Vec<Vec<String>> = std::thread::scope(|scope| {
        let daemon = &daemon;
        let threads: Vec<_> =
            (0..SESSIONS).map(|session| scope.spawn(move || admit_all(daemon, session, each))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    check(&daemon, &handles);
    check_recall(&daemon, &handles);
    assert!(daemon.memory().1 < MEMORY, "{:?}", daemon.memory());

    daemon.kill();
    daemon = timed("start", || {
        let daemon = Daemon::start(&home);
        daemon.assert_serves();
        daemon
    });
    check(&daemon, &handles);
    check_recall(&daemon, &handles);
    assert!(daemon.memory().1 < MEMORY, "{:?}", daemon.memory());

    // Some are removed by hand, a session for good, and all others by the quota.
    for name in 0..100 {
        fs::remove_file(home.path().join(format!("herma/outputs/s0/call_{name}.txt"))).unwrap();
    }
    let mut raw = daemon.raw();
    assert_eq!(timed("output.gc", || raw.result("output.gc", &json!({})))["files"], json!(SESSIONS * each - 100));
    raw.result("recall.search", &json!({ "query": "output" }));
    let removed = timed("session.remove", || raw.result("session.remove", &json!({ "session": "s1" })));
    assert_eq!(removed["outputs"], json!(each));
    daemon.terminate();
    daemon.ended();
    fs::write(home.path().join("herma/config.toml"), "[output]\nquota = \"1 KiB\"\n").unwrap();
    daemon = timed("start", || Daemon::start(&home));
    let gone = timed("output.gc", || daemon.raw().result("output.gc", &json!({})));
    let files = gone["files"].as_u64().unwrap();
    assert!((1..100).contains(&files), "{files}");
    let left = home.outputs();
    assert_eq!(left.len() as u64, files, "{left:?}");
}
