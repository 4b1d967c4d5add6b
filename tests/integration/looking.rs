//! Checks that reads change nothing. Each method that only reads is called with the ids of its golden file, in an empty
//! home and in a filled one. Afterwards the home must be the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use herma_protocol::Method;
use herma_protocol::memory::Target;
use herma_protocol::method::Effect;
use herma_tests::raw::kind;
use herma_tests::{Daemon, Home, python};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// The session of the golden files, and its profile.
const SESSION: &str = "s-1";
const PROFILE: &str = "work";

/// Methods that a connection answers itself, or that end the daemon.
const LEFT_OUT: [&str; 2] = ["shutdown", "subscribe"];

/// Prints the rows of all tables of an archive.
const DUMP: &str = "
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for (name,) in sorted(db.execute(\"select name from sqlite_master where type = 'table' and sql not like '%VIRTUAL%'\")):
    for row in db.execute(f'select * from \"{name}\"'):
        print(name, row)
";

/// Returns the params of a method's golden request, for this profile.
fn params(method: Method, profile: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("golden/v2/{}.json", method.name()));
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let request: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let mut params = request["params"].clone();
    let fields = params.as_object_mut().unwrap();
    fields.remove("idempotency_key");
    fields.remove("deadline_ms");
    // Removes the settings of a list without a session, an unconfigured summarizer, and a node, which excludes a
    // session.
    for name in ["config", "summarizer", "node"] {
        fields.remove(name);
    }
    fields.insert("profile".into(), profile.into());
    params
}

/// The contents of a home: the files, and the rows of the archive.
fn image(home: &Home) -> BTreeMap<String, String> {
    let archive = home.path().join("herma/archive.db");
    let files = home.files().into_iter().filter_map(|path| {
        let name = path.strip_prefix(home.path()).unwrap_or(&path).display().to_string();
        let is_of_runs =
            ["archive.db", "hermad.log", "hermad.lock", "hermad.sock"].iter().any(|part| name.contains(part));
        let text = fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        // The catalog records each start.
        let text = text.lines().filter(|line| !line.contains("\"opened\"") && !line.contains("\"seen\""));
        let text = text.collect::<Vec<_>>().join("\n");
        let is_empty_catalog = text.is_empty() && name.ends_with("outputs.jsonl");
        (!is_of_runs && !is_empty_catalog).then_some((name, text))
    });
    let rows = if archive.exists() { python::run(DUMP, &[archive.to_str().unwrap()]) } else { String::new() };
    files.chain([("the rows of the archive".to_owned(), rows)]).collect()
}

/// Ends a daemon cleanly, so that no work is pending.
fn stop(mut daemon: Daemon) {
    kill_process(Pid::from_raw(daemon.pid().cast_signed()).unwrap(), Signal::TERM).unwrap();
    daemon.ended();
}

/// Adds a closed session with all kinds of data.
fn fill(home: &Home) {
    let daemon = Daemon::start(home);
    let mut raw = daemon.raw();
    raw.result("profile.create", &json!({ "name": PROFILE }));
    let mut tell = |method: &str, mut params: Value| {
        params["profile"] = PROFILE.into();
        raw.result(method, &params)
    };
    tell("session.open", json!({ "session": SESSION, "agent": "coder", "context_length": 200_000 }));
    tell("memory.add", json!({ "target": "memory", "content": "likes tea" }));
    let said = |turn: usize| json!({ "role": if turn.is_multiple_of(2) { "user" } else { "assistant" }, "content": format!("step {turn}: never touch {turn}.txt") });
    let messages: Vec<Value> = (0..60).map(said).collect();
    tell("session.append", json!({ "session": SESSION, "generation": 0, "position": 0, "messages": messages }));
    tell("output.admit", json!({ "session": SESSION, "tool": "t", "id": "c1", "content": "row\n".repeat(30_000) }));
    tell("constraint.add", json!({ "session": SESSION, "text": "never push" }));
    tell("files.write", json!({ "path": "/memories/a.md", "text": "note" }));
    tell("session.close", json!({ "session": SESSION }));
    stop(daemon);
}

#[test]
fn what_only_reads_changes_nothing() {
    for (is_known, profile) in [(false, "default"), (true, PROFILE)] {
        let home = Home::new();
        if is_known {
            fill(&home);
        }
        // Changes by a start and a stop do not count.
        stop(Daemon::start(&home));
        let before = image(&home);
        let daemon = Daemon::start(&home);
        let read = Method::ALL.iter().filter(|method| method.effect() == Effect::Read);
        for method in read.filter(|method| !LEFT_OUT.contains(&method.name())) {
            let answer = daemon.raw().call(method.name(), &params(*method, profile));
            // For an unknown session, these methods answer a sum, a search result or the session's own id. All others
            // answer `not_found`.
            let asks_for_session = params(*method, profile).get("session").is_some_and(Value::is_string);
            let answers = [
                Method::SessionUsage,
                Method::LedgerRead,
                Method::OutputList,
                Method::OutputSearch,
                Method::RecallSearch,
                Method::SessionLockHolder,
                Method::SessionTip,
                Method::SessionResumeTarget,
            ];
            if !is_known && asks_for_session && !answers.contains(method) {
                assert_eq!(kind(&answer), "not_found", "{}: {answer}", method.name());
            }
        }
        stop(daemon);
        let after = image(&home);
        for name in before.keys().chain(after.keys()) {
            let [before, after] = [&before, &after].map(|image| image.get(name).map(String::as_str));
            let differing = before
                .unwrap_or_default()
                .lines()
                .zip(after.unwrap_or_default().lines())
                .find(|(one, other)| one != other);
            assert!(
                before == after,
                "{name} changed (known: {is_known}): {differing:?}\n{before:.600?}\n{after:.600?}"
            );
        }
    }
    let home = Home::new();
    home.write_store(Target::Memory, b"one");
    let daemon = Daemon::start(&home);
    assert_eq!(
        daemon.raw().call("context.check", &json!({ "session": "nobody" }))["error"]["data"]["kind"],
        "not_found"
    );
    assert_eq!(daemon.raw().result("session.list", &json!({}))["sessions"], json!([]), "a check opened a session");
}
