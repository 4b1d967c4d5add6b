//! The output and exit codes of the command line, against a real daemon.

use herma_protocol::memory::Target;
use herma_tests::{Cli, Daemon, Home};
use serde_json::{Value, json};

mod archive;
mod completion;
mod config;
mod continuation;
mod decide;
mod doctor;
mod edit;
mod guard;
mod hermes;
mod looks;
mod named;
mod names;
mod screen;
mod shelf;
mod terminal;
mod transfer;

/// Creates a history: "one" and "two" were added, "one" was replaced by "1".
fn with_history(cli: &Cli<'_>) {
    for arguments in [
        ["memory", "add", "user", "one"].as_slice(),
        &["memory", "add", "user", "two", "--agent", "coder"],
        &["memory", "replace", "user", "one", "1"],
    ] {
        drop(cli.run(arguments).done());
    }
}

/// A container without time zone files still supports `Area/City`.
#[test]
fn times_are_those_of_the_zone_that_is_set_by_name() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    with_history(&Cli::new(&home));
    let shown = |zone: &str, folder: &str| {
        let cli = Cli::new(&home).with("TZ", zone).with("TZDIR", folder);
        cli.run(&["memory", "log", "user"]).done()
    };
    let expected = shown("<+0545>-5:45", "/usr/share/zoneinfo");
    assert_ne!(expected, shown("UTC", "/usr/share/zoneinfo"));
    for folder in ["/usr/share/zoneinfo", "/nowhere"] {
        for zone in ["Asia/Kathmandu", ":Asia/Kathmandu"] {
            assert_eq!(shown(zone, folder), expected, "{zone} {folder}");
        }
    }
}

/// When the stop command ends, the home can be copied as a whole.
#[test]
fn a_daemon_that_was_stopped_has_closed_its_files() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let messages: Vec<Value> = (0..2_000)
        .map(|number| json!({ "role": "user", "content": format!("{number} {}", "word ".repeat(200)) }))
        .collect();
    daemon
        .raw()
        .result("session.append", &json!({ "session": "s", "generation": 0, "position": 0, "messages": messages }));
    let log = home.path().join("herma/archive.db-wal");
    assert!(log.exists());
    assert_eq!(Cli::new(&home).run(&["daemon", "stop"]).done(), "stopped\n");
    assert!(!log.exists(), "the archive was not closed yet");
}

/// Regression test: `herma memory add user -` added a hyphen, where other commands read standard input.
#[test]
fn a_text_is_read_from_standard_input_where_the_argument_is_a_hyphen() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    drop(cli.run_with(&["memory", "add", "user", "-"], "likes tea\n").done());
    drop(cli.run_with(&["memory", "replace", "user", "tea", "-"], "likes\ncoffee\n").done());
    drop(cli.run_with(&["memory", "add", "--host-bound", "user", "-"], "owns a cat").done());
    assert_eq!(home.entries(Target::User), ["likes\ncoffee", "[host-bound] owns a cat"]);
    drop(cli.run(&["session", "open", "s", "--context-length", "100000"]).done());
    drop(cli.run_with(&["constraint", "add", "s", "-"], "Never push to main.").done());
    let rules = cli.run(&["constraint", "list", "s", "--json"]).json();
    assert_eq!(rules["constraints"][0]["text"], "Never push to main.");
}

#[test]
fn changes_are_listed_with_who_made_them_and_what_they_were() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    assert_eq!(
        cli.run(&["memory", "log"]).done(),
        "No changes yet. They appear when a store is written: herma memory add user TEXT\n"
    );
    assert_eq!(cli.run(&["memory", "log", "--since", "1h"]).done(), "No change fits.\n");
    with_history(&cli);
    home.write_store(Target::User, "1\n§\ntwo\n§\nby hand".as_bytes());
    let out = cli.run(&["memory", "log", "user"]).done();
    let cells =
        |line: &str| line.split("  ").map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect();
    let rows: Vec<Vec<String>> = out.lines().map(cells).collect();
    assert_eq!(rows[0], ["revision", "time", "action", "who", "change"]);
    let told: Vec<String> = rows[1..].iter().map(|row| [&row[..1], &row[2..]].concat().join(" | ")).collect();
    let expected = [
        "4 | external | - | +by hand",
        "3 | replace | cli | -one | +1",
        "2 | add | coder | +two",
        "1 | add | cli | +one",
    ];
    assert_eq!(told, expected, "{out}");
    let out = cli.run(&["memory", "log", "--limit", "2"]).done();
    assert!(out.lines().count() == 4 && out.contains("older changes are kept"), "{out}");
    let page = cli.run(&["memory", "log", "user", "--before", "3", "--json"]).json();
    let revisions: Vec<&Value> = page["rows"].as_array().unwrap().iter().map(|row| &row["revision"]).collect();
    assert_eq!((json!(revisions), &page["more"]), (json!([2, 1]), &json!(false)));
    assert_eq!(cli.run(&["memory", "log", "--limit", "0"]).code, 2);
}

#[test]
fn a_store_is_shown_as_it_was_and_compared() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    with_history(&cli);
    for (revision, expected) in [
        ("0", "user at revision 0\n  (no entries)\n"),
        ("1", "user at revision 1\n  1. one\n"),
        ("2", "user at revision 2\n  1. one\n  2. two\n"),
        ("3", "user at revision 3\n  1. 1\n  2. two\n"),
    ] {
        assert_eq!(cli.run(&["memory", "show", "user", revision]).done(), expected);
    }
    let held = cli.run(&["memory", "show", "user", "2", "--json"]).json();
    assert_eq!(held, json!({ "target": "user", "revision": 2, "entries": ["one", "two"] }));
    for (arguments, expected) in [
        (["memory", "diff", "user"].as_slice(), "user, revision 2 to 3\n- one\n+ 1\n(1 entry unchanged)\n"),
        (&["memory", "diff", "user", "1"], "user, revision 1 to 3\n- one\n+ 1\n+ two\n"),
        (&["memory", "diff", "user", "3", "1"], "user, revision 3 to 1\n- 1\n- two\n+ one\n"),
    ] {
        let out = cli.run(arguments).done();
        // The line about unchanged entries is not compared.
        let changes =
            |text: &str| text.lines().filter(|line| !line.starts_with('(')).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(changes(&out), changes(expected), "{arguments:?}");
    }
    let difference = cli.run(&["memory", "diff", "user", "0", "2", "--json"]).json();
    let expected =
        json!({ "target": "user", "from": 0, "to": 2, "added": ["one", "two"], "removed": [], "unchanged": 0 });
    assert_eq!(difference, expected);
    for arguments in
        [["memory", "show", "user", "9"].as_slice(), &["memory", "diff", "user", "9"], &["memory", "diff", "memory"]]
    {
        let ran = cli.run(arguments);
        assert!(ran.code == 1 && ran.out.is_empty() && ran.err.starts_with("herma: "), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn changes_are_taken_back_and_put_back() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    let refused = cli.run(&["memory", "undo", "user"]);
    assert!(refused.code == 4 && refused.out.contains("refused: "), "{refused:?}");
    with_history(&cli);
    let out = cli.run(&["memory", "undo", "user"]).done();
    assert!(out.starts_with("- 1\n+ one\n") && out.contains("revision 4"), "{out}");
    assert_eq!(home.entries(Target::User), ["one", "two"]);
    let result = cli.run(&["memory", "undo", "user", "--json"]).json();
    assert_eq!((&result["revision"], &result["entries"]), (&json!(5), &json!(["1", "two"])), "{result}");
    let out = cli.run(&["memory", "restore", "user", "1"]).done();
    assert!(out.starts_with("- 1\n- two\n+ one\n"), "{out}");
    assert_eq!(home.entries(Target::User), ["one"]);
    let row = cli.run(&["memory", "log", "user", "--limit", "1", "--json"]).json()["rows"][0].take();
    assert_eq!((&row["action"], &row["agent"]), (&json!("restore"), &json!("cli")), "{row}");
    let unknown = cli.run(&["memory", "restore", "user", "99"]);
    assert!(unknown.code == 1 && unknown.err.contains("revision 99 is not kept"), "{unknown:?}");
    let stale = cli.run(&["memory", "undo", "user", "--expected-revision", "2", "--json"]);
    let error: Value = serde_json::from_str(&stale.err).unwrap();
    assert_eq!((stale.code, &error["error"]["kind"], stale.out.as_str()), (1, &json!("conflict"), ""), "{stale:?}");
    assert_eq!(home.entries(Target::User), ["one"]);
}

#[test]
fn every_result_is_json_on_request() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    with_history(&cli);
    for arguments in [
        ["ping"].as_slice(),
        &["status"],
        &["memory", "list"],
        &["memory", "log"],
        &["memory", "show", "user", "1"],
        &["memory", "diff", "user"],
        &["memory", "schema"],
        &["memory", "export"],
        &["memory", "pending"],
        &["memory", "approve", "--all"],
        &["memory", "reject", "--all"],
        &["memory", "tool", "{\"action\":\"add\",\"target\":\"user\",\"content\":\"x\"}"],
        &["memory", "undo", "user"],
        &["memory", "restore", "user", "2"],
        &["memory", "add", "memory", "x"],
        &["memory", "remove", "memory", "x"],
        &["profile", "create", "work"],
        &["profile", "list"],
        &["session", "open", "s"],
        &["session", "snapshot", "s"],
        &["session", "refresh", "s"],
        &["session", "close", "s"],
        &["guard", "scan", "-"],
    ] {
        let ran = cli.run(&[arguments, &["--json"]].concat());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{arguments:?}");
        assert!(ran.json().is_object(), "{arguments:?}: {}", ran.out);
    }
}

#[test]
fn the_exit_code_says_whose_turn_it_is() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    for (arguments, code) in [
        (["memory", "list"].as_slice(), 0),
        (&["session", "snapshot", "nobody"], 1),
        (&["memory", "import", "/no/such/file", "user"], 1),
        (&["memory", "list", "--profile", "wrok"], 1),
        (&["memory", "lst"], 2),
        (&["memory", "add", "user"], 2),
        (&["memory", "add", "mind", "x"], 2),
        (&["memory", "add", "user", " "], 4),
        (&["memory", "remove", "user", "nothing like it"], 4),
    ] {
        let ran = cli.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {ran:?}");
    }
    daemon.kill();
    let ran = cli.run(&["memory", "list", "--json"]);
    let error: Value = serde_json::from_str(&ran.err).unwrap();
    assert!(ran.code == 3 && error["error"]["message"].is_string(), "{ran:?}");
}
