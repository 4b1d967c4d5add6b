//! What people name: a session by the beginning of its id or by its place, an output by the beginning of its handle, an
//! entry by its number.

use herma_tests::{Cli, Daemon, Home};
use serde_json::{Value, json};

const WHOLE: &str = "claude-code:5f2a-1";

/// Commands that only read, with `ID` in the place of the session.
const READING: [&str; 17] = [
    "session show ID",
    "session read ID",
    "session snapshot ID",
    "session refresh ID",
    "context status ID",
    "context pins ID",
    "context check --session ID --tokens 10",
    "context classify --session ID --status 500 overloaded",
    "constraint list ID",
    "output list --session ID",
    "output search --session ID line",
    "usage --session ID",
    "usage --savings --session ID",
    "recall --session ID walrus",
    "recall --describe ID",
    "recall --state ID",
    "context usage ID -",
];

fn filled() -> (Home, Daemon) {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for (session, words) in [(WHOLE, "walrus"), ("claude-code:5f3b-2", "heron"), ("codex:77aa-3", "newt")] {
        let messages = json!([{ "role": "user", "content": format!("say {words}") }]);
        raw.result("session.open", &json!({ "session": session }));
        raw.result("context.configure", &json!({ "session": session, "context_length": 20_000 }));
        raw.result(
            "session.append",
            &json!({ "session": session, "generation": 0, "position": 0, "messages": messages }),
        );
    }
    let content = "a line\n".repeat(20_000);
    raw.result("output.admit", &json!({ "session": WHOLE, "tool": "terminal", "id": "c", "content": content }));
    (home, daemon)
}

#[test]
fn every_command_about_a_session_takes_the_beginning_of_its_id_or_its_place() {
    let (home, _daemon) = filled();
    let cli = Cli::new(&home);
    let run = |command: &str, name: &str| {
        let words: Vec<String> = command.split(' ').map(|word| word.replace("ID", name)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        cli.run_with(&words, r#"{"prompt_tokens":10,"completion_tokens":1}"#)
    };
    for command in READING {
        let whole = run(command, WHOLE);
        let answers = |code: i32| code == 0 || (code == 1 && command.starts_with("recall"));
        assert!(answers(whole.code), "{command}: {whole:?}");
        for name in ["5f2a", "claude-code:5f2", "@3"] {
            let named = run(command, name);
            assert_eq!((named.code, &named.out), (whole.code, &whole.out), "{command} with {name}: {}", named.err);
        }
        let none = run(command, "nobody");
        assert!(none.code == 1 && none.err.contains("there is no session"), "{command}: {none:?}");
        let unclear = run(command, "claude");
        assert!(unclear.code == 2 && unclear.err.contains("give more of the id"), "{command}: {unclear:?}");
    }
}

#[test]
fn changes_name_the_session_in_full_and_plumbing_takes_any_id() {
    let (home, _daemon) = filled();
    let cli = Cli::new(&home);
    let updated = cli.run(&["session", "update", "5f2a", "--title", "Feed the walrus"]).done();
    assert_eq!(updated.trim(), format!("updated {WHOLE}"));
    assert!(cli.run(&["session", "show", WHOLE]).done().contains("Feed the walrus"));
    let kept = cli.run(&["constraint", "add", "@3", "never tabs"]).done();
    assert!(kept.starts_with("kept as "), "{kept}");
    assert!(cli.run(&["constraint", "list", WHOLE]).done().contains("never tabs"));
    assert_eq!(cli.run(&["context", "pin", "5f2a", "--position", "0"]).code, 0);
    assert!(cli.run(&["context", "pins", WHOLE]).done().contains("walrus"));
    assert_eq!(cli.run(&["session", "close", "5f2a"]).done().trim(), format!("closed {WHOLE}"));
    // A new id may be the beginning of another one. Scripts would write into a session that they don't mean.
    assert_eq!(cli.run(&["session", "tip", "5f2a"]).done().trim(), "5f2a");
    assert_eq!(cli.run(&["session", "tip", "@3"]).done().trim(), WHOLE);
    assert_eq!(cli.run(&["session", "lock", "codex:77", "me"]).done().trim(), "me has the lock of codex:77");
    let more = r#"[{"role":"user","content":"own"}]"#;
    assert!(cli.run_with(&["session", "append", "codex:77", "-"], more).done().contains("codex:77 is kept"));
    assert_eq!(cli.run(&["session", "show", "codex:77", "--json"]).json()["session"], "codex:77");
}

#[test]
fn the_beginning_of_a_session_with_subagents_means_the_session() {
    let (home, daemon) = filled();
    let cli = Cli::new(&home);
    for child in ["/explore", "/review", "~2"] {
        daemon.raw().result("session.open", &json!({ "session": format!("{WHOLE}{child}") }));
    }
    for name in ["5f2a", "claude-code:5f2a", "5f2a-1"] {
        assert_eq!(cli.run(&["session", "show", name, "--json"]).json()["session"], WHOLE, "{name}");
    }
    let child = cli.run(&["session", "show", "5f2a-1/explore", "--json"]).json();
    assert_eq!(child["session"], format!("{WHOLE}/explore"));
    assert_eq!(cli.run(&["session", "open", "new", "--parent", "codex:77aa-3"]).code, 0);
    // @1 is the session that was opened last.
    let opened = cli.run(&["session", "open", "@1", "--json"]).json();
    assert_eq!((&opened["resumed"], cli.run(&["session", "show", "new"]).code), (&json!(true), 0), "{opened}");
}

#[test]
fn an_output_is_named_by_the_beginning_of_its_handle() {
    let (home, _daemon) = filled();
    let cli = Cli::new(&home);
    let handle = cli.run(&["output", "list", "--json"]).json()["outputs"][0]["handle"].as_str().unwrap().to_owned();
    let short = &handle[..8];
    let read = |name: &str| cli.run(&["output", "read", name]).out;
    let whole = read(&handle);
    assert!(whole.starts_with("a line\n"), "{whole}");
    for name in [short, &short[4..], &format!("{short}…"), &format!("{short}:1")] {
        assert_eq!(read(name), whole, "{name}");
    }
    let found = |name: &str| cli.run(&["output", "search", "line", "--limit", "1", "--output", name]).out;
    assert_eq!(found(short), found(&handle));
    let expanded = |name: &str| cli.run(&["recall", "--expand", name]).out;
    assert_eq!(expanded(short), expanded(&handle));
    let none = cli.run(&["output", "read", "out_0123"]);
    assert!(none.code == 1 && none.err.contains("there is no output \"out_0123\""), "{none:?}");
    let removed = cli.run(&["output", "rm", "out_0123", short]);
    assert!(removed.code == 1 && removed.out.contains(&format!("removed {handle}")), "{removed:?}");
    let gone = cli.run(&["output", "read", short]);
    assert!(gone.code == 1 && gone.err.contains("removed"), "{gone:?}");
}

#[test]
fn an_entry_is_named_by_its_number() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    for entry in ["likes tea", "has 2 cats", "lives by the sea"] {
        assert_eq!(cli.run(&["memory", "add", "user", entry]).code, 0);
    }
    let unclear = cli.run(&["memory", "remove", "user", "2"]);
    assert_eq!(unclear.code, 0, "the number of an entry is in its own text: {unclear:?}");
    assert_eq!(cli.run(&["memory", "replace", "user", "2", "lives in town"]).code, 0);
    assert_eq!(cli.run(&["memory", "add", "user", "1 dog"]).code, 0);
    let unclear = cli.run(&["memory", "remove", "user", "1"]);
    assert!(unclear.code == 2 && unclear.err.contains("in the text of entry 3"), "{unclear:?}");
    assert_eq!(cli.run(&["memory", "remove", "user", "9"]).code, 4, "it is text, and no entry has it");
    let stale = cli.run(&["memory", "remove", "user", "2", "--expected-revision", "1"]);
    assert_eq!(stale.code, 1, "{stale:?}");
    let entries: Value = daemon.raw().result("memory.list", &json!({ "target": "user" }))["user"]["entries"].clone();
    assert_eq!(entries, json!(["likes tea", "lives in town", "1 dog"]));
}
