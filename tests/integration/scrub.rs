//! `herma scrub`: nothing of a secret is left in any file of the home, and all else is as it was.

use std::fs;

use herma_protocol::memory::Target;
use herma_tests::{Cli, Daemon, Home};
use serde_json::{Value, json};

/// A key that every text of the home has.
const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ";
const PRIVATE: &str = "the heron is called Ottokar";

/// Returns the files that contain the secret or the private part.
fn files_with_secrets(home: &Home) -> Vec<String> {
    let has =
        |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text.as_bytes()));
    let found = home
        .files()
        .into_iter()
        .filter(|path| fs::read(path).is_ok_and(|bytes| [SECRET, PRIVATE].iter().any(|text| has(&bytes, text))));
    found.map(|path| path.strip_prefix(home.path()).unwrap().display().to_string()).collect()
}

fn said(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": text })
}

/// Fills a home with secrets by every door that masks none.
fn fill(home: &Home, daemon: &Daemon) {
    let mut raw = daemon.raw();
    raw.result("session.open", &json!({ "session": "s", "title": format!("use {SECRET}"), "context_length": 20_000 }));
    let mut list: Vec<Value> = Vec::new();
    for number in 0..40 {
        list.push(said("user", &format!("look at host db-{number} with {SECRET} <private>{PRIVATE}</private>")));
        list.push(said("assistant", &format!("done {number}: {}", "word ".repeat(600))));
    }
    raw.result("session.append", &json!({ "session": "s", "generation": 0, "position": 0, "messages": list }));
    raw.result("context.compress", &json!({ "session": "s", "force": true }));
    let output = format!("{}\nKEY={SECRET}\n<private>{PRIVATE}</private>\n", "row of the output\n".repeat(3_000));
    let admit = json!({ "session": "s", "tool": "terminal", "id": "1", "content": output, "threshold": 100 });
    raw.result("output.admit", &admit);
    for content in ["likes tea".to_owned(), format!("the key of the forge is {SECRET}")] {
        raw.result("memory.add", &json!({ "target": "memory", "content": content }));
    }
    raw.result("constraint.add", &json!({ "session": "s", "text": format!("never print {SECRET}") }));
    raw.result("recall.search", &json!({ "query": "heron" }));
    assert!(home.read_store(Target::Memory).contains(SECRET));
}

#[test]
fn nothing_of_a_secret_is_left_and_all_else_is_there() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    fill(&home, &daemon);
    let before = files_with_secrets(&home);
    for file in ["archive.db", "outputs", "journal", "MEMORY.md"] {
        assert!(before.iter().any(|path| path.contains(file)), "{file}: {before:?}");
    }
    // An agent that sends its list itself would miss its messages.
    let open = Cli::new(&home).run(&["scrub", "--yes"]);
    assert!(open.code == 1 && open.out.contains("session s: its agent has it open"), "{open:?}");
    daemon.raw().result("session.close", &json!({ "session": "s" }));

    let refused = Cli::new(&home).run(&["scrub"]);
    assert!(refused.code == 2 && refused.err.contains("--dry-run"), "{refused:?}");
    let dry = Cli::new(&home).run(&["scrub", "--dry-run", "--json"]);
    let (would, none) = (dry.json(), json!([]));
    assert_eq!((dry.code, &would["left"]), (0, &none), "{dry:?}");
    assert!(
        would["changed"]["messages"].as_u64().unwrap() >= 40 && would["secrets"]["key"].as_u64().unwrap() >= 40,
        "{would}"
    );
    let words = "look at host db-7";
    let found =
        |daemon: &Daemon| daemon.raw().result("recall.search", &json!({ "query": words, "kinds": ["message"] }));
    let handles = |found: &Value| -> Vec<Value> {
        found["hits"].as_array().unwrap().iter().map(|hit| hit["handle"].clone()).collect()
    };
    let hits = handles(&found(&daemon));
    assert!(!hits.is_empty());

    let scrubbed = Cli::new(&home).run(&["scrub", "--yes"]);
    assert!(scrubbed.code == 0 && scrubbed.out.contains("none of them is left"), "{scrubbed:?}");
    assert_eq!(handles(&found(&daemon)), hits);
    assert!(home.read_store(Target::Memory).contains("likes tea"));
    let output = Cli::new(&home).run(&["output", "search", "KEY="]).done();
    assert!(output.contains("KEY=ghp_01...GHIJ"), "{output}");
    let log = Cli::new(&home).run(&["memory", "log"]).done();
    assert!(log.contains("ghp_01...GHIJ") && log.contains("likes tea"), "{log}");
    let again = Cli::new(&home).run(&["scrub", "--yes"]).done();
    assert_eq!(again, "nothing that is kept has a secret\n");
    daemon.kill();
    assert_eq!(files_with_secrets(&home), Vec::<String>::new());
    // The stores are still what their journals say.
    let daemon = Daemon::start(&home);
    let log = Cli::new(&home).run(&["memory", "log"]).done();
    assert!(!log.contains("external"), "{log}");
    assert_eq!(handles(&found(&daemon)), hits);
}

#[test]
fn a_file_that_still_has_a_secret_is_named() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    fill(&home, &daemon);
    daemon.raw().result("session.close", &json!({ "session": "s" }));
    fs::write(home.path().join("herma/note.txt"), format!("it is {SECRET}")).unwrap();
    let scrubbed = Cli::new(&home).run(&["scrub", "--yes", "--json"]);
    assert_eq!(scrubbed.code, 1, "{scrubbed:?}");
    assert_eq!(scrubbed.json()["left"][0]["place"], "herma/note.txt", "{scrubbed:?}");
}
