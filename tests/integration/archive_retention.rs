//! Closed sessions leave the archive when they are old or too many, and open ones never do.

use herma_tests::{Daemon, Home, Raw, eventually, kind};
use serde_json::{Value, json};

/// Adds a session with messages of about 170 KB.
fn fill(raw: &mut Raw, session: &str, parent: Option<&str>) {
    raw.result("session.open", &json!({ "session": session, "parent": parent }));
    let messages: Vec<Value> = (0..10)
        .map(|at| {
            let words: String = (0..2_000).map(|word| format!("{session}w{at}x{word} ")).collect();
            json!({ "role": if at % 2 == 0 { "user" } else { "assistant" }, "content": words })
        })
        .collect();
    raw.result("session.append", &json!({ "session": session, "generation": 0, "position": 0, "messages": messages }));
}

fn close(raw: &mut Raw, session: &str) {
    raw.result("session.close", &json!({ "session": session }));
}

/// Makes the daemon look for data to remove: an output exceeds the quota of outputs.
fn look(raw: &mut Raw, number: usize) {
    let content = format!("{number} {}", "too large ".repeat(1_000));
    let output =
        json!({ "session": "open", "tool": "t", "id": number.to_string(), "content": content, "threshold": 0 });
    raw.result("output.admit", &output);
}

/// Subscribes to sessions that are removed.
fn subscriber(daemon: &Daemon) -> Raw {
    let mut raw = daemon.raw();
    raw.result("subscribe", &json!({ "topics": ["session.expired"] }));
    raw
}

/// Returns id, messages and reason of the next removed session.
fn told(raw: &mut Raw) -> (String, u64, String) {
    let line = raw.read();
    assert_eq!(line["method"], "session.expired", "{line}");
    let params = &line["params"];
    assert!(params["bytes"].as_u64().is_some_and(|bytes| bytes > 100_000), "{line}");
    let text = |name: &str| params[name].as_str().unwrap().to_owned();
    (text("session"), params["messages"].as_u64().unwrap(), text("reason"))
}

fn is_there(raw: &mut Raw, session: &str) -> bool {
    let reply = raw.call("session.show", &json!({ "session": session }));
    assert!(["", "not_found"].contains(&kind(&reply)), "{reply}");
    kind(&reply).is_empty()
}

#[test]
fn the_quota_takes_whole_closed_sessions_the_oldest_first() {
    let home = Home::configured("[archive]\nquota = \"2MiB\"\n[output]\nquota = \"1KiB\"\n");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let mut subscriber = subscriber(&daemon);
    // The open session continues the oldest one, which is therefore in use.
    fill(&mut raw, "root", None);
    close(&mut raw, "root");
    fill(&mut raw, "open", Some("root"));
    for session in ["a", "b", "c", "d", "e", "f"] {
        fill(&mut raw, session, None);
        close(&mut raw, session);
    }
    let mut number = 0;
    eventually("the oldest to go", || {
        number += 1;
        look(&mut raw, number);
        (!is_there(&mut raw, "a")).then_some(())
    });
    // Only one request is sent, because sessions may be removed between two requests.
    let listed = raw.result("session.list", &json!({}));
    let listed: Vec<&str> =
        listed["sessions"].as_array().unwrap().iter().map(|row| row["session"].as_str().unwrap()).collect();
    let left: Vec<&str> = ["a", "b", "c", "d", "e", "f"].into_iter().filter(|id| listed.contains(id)).collect();
    assert!(!left.is_empty() && ["a", "b", "c", "d", "e", "f"].ends_with(&left), "{left:?}");
    assert!(is_there(&mut raw, "root") && is_there(&mut raw, "open"));
    assert_eq!(raw.result("session.show", &json!({ "session": "open" }))["messages"], json!(10));
    let hits = |raw: &mut Raw, word: &str| {
        let found = raw.result("recall.search", &json!({ "query": word }));
        found["hits"].as_array().unwrap().len()
    };
    assert_eq!((hits(&mut raw, "aw1x7"), hits(&mut raw, "fw1x7")), (0, 1));

    raw.result("session.remove", &json!({ "session": "open" }));
    let mut went = Vec::new();
    let removed = loop {
        match told(&mut subscriber) {
            (session, 10, reason) if reason == "quota" => went.push(session),
            other => break other,
        }
    };
    assert_eq!(removed, ("open".into(), 10, "removed".into()));
    assert!(
        went.len() >= 6 - left.len()
            && ["a", "b", "c", "d", "e"].starts_with(&went.iter().map(String::as_str).collect::<Vec<_>>()),
        "{went:?}"
    );
}

#[test]
fn what_is_old_goes_and_what_is_open_stays() {
    let home = Home::configured("[archive]\nttl = \"1s\"\n[output]\nquota = \"1KiB\"\n");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let mut subscriber = subscriber(&daemon);
    fill(&mut raw, "open", None);
    fill(&mut raw, "closed", None);
    close(&mut raw, "closed");
    let mut number = 0;
    eventually("the closed one to go", || {
        number += 1;
        look(&mut raw, number);
        (!is_there(&mut raw, "closed")).then_some(())
    });
    assert_eq!(told(&mut subscriber), ("closed".into(), 10, "ttl".into()));
    assert!(is_there(&mut raw, "open"));
    let reopened = raw.result("session.open", &json!({ "session": "closed" }));
    assert_eq!(reopened["resumed"], json!(false));
}

#[test]
fn without_limits_nothing_goes() {
    let home = Home::configured("[archive]\nquota = \"0B\"\n[output]\nquota = \"1KiB\"\n");
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    fill(&mut raw, "open", None);
    fill(&mut raw, "closed", None);
    close(&mut raw, "closed");
    for number in 0..20 {
        look(&mut raw, number);
    }
    assert!(is_there(&mut raw, "closed"));
}
