//! `herma session list|show|rm`, `herma usage`, `herma recall`, and the tour of the documentation.

use std::fs;
use std::path::Path;
use std::process::Command;

use herma_tests::{Cli, Daemon, Home};
use serde_json::{Value, json};

const TOUR: &str = include_str!("../../../docs/tour.md");

/// Adds a session with two messages, a usage and an output, and its continuation.
fn populate(cli: &Cli<'_>) {
    drop(cli.run(&["session", "open", "trip"]).done());
    let messages = json!([
        { "role": "user", "content": "Where does the walrus live?" },
        { "role": "assistant", "content": "The walrus lives in the Arctic." },
    ]);
    drop(cli.run_with(&["session", "append", "trip", "-"], &messages.to_string()));
    let usage = r#"{"prompt_tokens": 1200, "completion_tokens": 80, "prompt_tokens_details": {"cached_tokens": 200}}"#;
    assert_eq!(cli.run_with(&["context", "usage", "trip", "-", "--model", "local"], usage).code, 0);
}

#[test]
fn sessions_are_listed_shown_and_removed() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    assert_eq!(cli.run(&["session", "list"]).code, 0);
    assert_eq!(cli.run(&["session", "list", "--json"]).json(), json!({ "sessions": [] }));
    populate(&cli);
    let out = cli.run(&["session", "list"]).done();
    assert!(out.contains("trip"), "{out}");
    let row = cli.run(&["session", "list", "--json"]).json()["sessions"][0].take();
    assert_eq!((&row["session"], &row["messages"]), (&json!("trip"), &json!(2)));
    assert_eq!(cli.run(&["session", "show", "trip", "--json"]).json(), row);
    let out = cli.run(&["session", "show", "trip"]).done();
    assert!(out.contains("trip") && out.contains("Where does the walrus live?"), "{out}");
    for (arguments, code) in [
        (["session", "show", "nobody"].as_slice(), 1),
        (&["session", "show"], 2),
        (&["session", "list", "--limit", "0"], 2),
        (&["session", "list", "--before", "someday"], 2),
        (&["session", "rm", "trip"], 2),
        (&["session", "rm", "nobody", "--yes"], 1),
    ] {
        let ran = cli.run(arguments);
        assert!(ran.code == code && ran.out.is_empty() && !ran.err.is_empty(), "{arguments:?}: {ran:?}");
    }
    assert_eq!(cli.run(&["session", "show", "trip"]).code, 0, "nothing was removed without a yes");
    let ran = cli.run(&["session", "rm", "nobody", "trip", "--yes"]);
    assert!(ran.code == 1 && ran.out.contains("removed trip"), "{ran:?}");
    assert_eq!(cli.run(&["session", "show", "trip"]).code, 1);
    assert_eq!(cli.run(&["recall", "walrus"]).code, 1);
}

#[test]
fn a_session_is_read_by_the_beginning_of_its_id_or_its_number() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    for (id, words) in [("claude-code:5f2a-1", "one"), ("claude-code:5f3b-2", "two"), ("codex:77aa-3", "three")] {
        let call = json!({ "id": "c", "type": "function", "function": { "name": "Bash", "arguments": "{\"command\":\"ls\"}" } });
        let messages = json!([
            { "role": "user", "content": format!("say {words}") },
            { "role": "assistant", "content": null, "tool_calls": [call] },
            { "role": "tool", "tool_call_id": "c", "content": "1\n2\n3\n4\n5\n6" },
            { "role": "assistant", "content": format!("{words} it is") },
        ]);
        assert_eq!(cli.run_with(&["session", "append", id, "-"], &messages.to_string()).code, 0);
    }
    for (named, words) in [("5f2a", "one"), ("claude-code:5f3", "two"), ("codex:77aa-3", "three"), ("@1", "three")] {
        let text = cli.run(&["session", "read", named]).done();
        for part in [
            &format!("  say {words}\n"),
            "  -> Bash  {\"command\":\"ls\"}",
            "  … 2 more lines",
            &format!("  {words} it is\n"),
        ] {
            assert!(text.contains(part), "{named}: {part:?} in {text}");
        }
        assert_eq!(cli.run(&["session", "show", named, "--json"]).json()["messages"], 4, "{named}");
    }
    let users = cli.run(&["session", "read", "@3", "--role", "user", "--json"]).json();
    assert_eq!((&users["total"], &users["messages"][0]["text"]), (&json!(1), &json!("say one")));
    assert_eq!(cli.run(&["session", "read", "@2", "--last", "0"]).code, 2);
    let empty = cli.run(&["session", "show", ""]);
    assert!(empty.code == 2 && empty.err.contains("name is empty"), "{empty:?}");
    let gone = cli.run(&["session", "rm", "codex:77", "--yes"]);
    assert!(gone.code == 1 && gone.err.contains("there is no session"), "a script must name the whole id: {gone:?}");
    let last = cli.run(&["session", "read", "@2", "--last", "1"]).done();
    assert!(last.contains("two it is") && last.contains("messages 4 to 4 of 4") && !last.contains("say two"), "{last}");
    let whole = cli.run(&["session", "read", "@2", "--whole"]).done();
    assert!(whole.contains("  5\n  6\n"), "{whole}");
    for (named, code, words) in [
        ("5f", 2, "several sessions begin with \"5f\""),
        ("nobody", 1, "`herma session list` has those"),
        ("@9", 1, "has 3 sessions"),
        ("@0", 1, "there is no @0"),
    ] {
        let ran = cli.run(&["session", "read", named]);
        assert!(ran.code == code && ran.err.contains(words) && ran.out.is_empty(), "{named}: {ran:?}");
    }
    let found = cli.run(&["session", "list", "say", "two", "--json"]).json();
    assert_eq!(found["sessions"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["sessions"][0]["session"], "claude-code:5f3b-2");
    assert!(cli.run(&["session", "list", "heron"]).done().contains("No session fits."));
    let pages: Vec<Value> = ["1", "2", "3"]
        .map(|page| {
            cli.run(&["session", "list", "--limit", "1", "--page", page, "--json"]).json()["sessions"][0]["session"]
                .clone()
        })
        .into();
    assert_eq!(pages, ["codex:77aa-3", "claude-code:5f3b-2", "claude-code:5f2a-1"]);
}

#[test]
fn recall_looks_into_the_sessions_of_an_agent_or_a_folder() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    let folder = fs::canonicalize(home.path()).unwrap().join("shop");
    fs::create_dir(&folder).unwrap();
    for (id, agent, cwd) in [("one", "claude-code", folder.to_str().unwrap()), ("two", "codex", "/elsewhere")] {
        drop(cli.run(&["session", "open", id, "--agent", agent]).done());
        drop(cli.run(&["session", "update", id, "--cwd", cwd]).done());
        let said = json!([{ "role": "user", "content": "the walrus sleeps" }]).to_string();
        assert_eq!(cli.run_with(&["session", "append", id, "-"], &said).code, 0);
    }
    let here = Cli::new(&home).within(&folder);
    for (found, expected) in [
        (cli.run(&["recall", "walrus", "--json"]), vec!["one", "two"]),
        (cli.run(&["recall", "walrus", "--agent", "codex", "--json"]), vec!["two"]),
        (cli.run(&["search", "walrus", "--folder", folder.to_str().unwrap(), "--json"]), vec!["one"]),
        (here.run(&["recall", "walrus", "--here", "--json"]), vec!["one"]),
        (here.run(&["recall", "walrus", "--here", "--agent", "codex", "--json"]), vec![]),
    ] {
        let found = found.json();
        let mut sessions: Vec<&str> =
            found["hits"].as_array().unwrap().iter().map(|hit| hit["session"].as_str().unwrap()).collect();
        sessions.sort_unstable();
        assert_eq!(sessions, expected, "{found}");
    }
    let hit = cli.run(&["recall", "walrus", "--agent", "codex", "--json"]).json()["hits"][0].take();
    assert_eq!((&hit["cwd"], &hit["agent"]), (&json!("/elsewhere"), &json!("codex")));
    assert_eq!(cli.run(&["recall", "walrus", "--agent", "nobody"]).code, 1);
    let everywhere = cli.run(&["recall", "walrus", "--agent", "codex", "--everywhere", "--json"]).json();
    assert!(everywhere["notice"].as_str().unwrap().contains("no other was asked"), "{everywhere}");
    assert_eq!(cli.run(&["recall", "--describe", "one", "--agent", "codex"]).code, 2);
}

#[test]
fn the_program_alone_shows_the_current_state() {
    let home = Home::new();
    let cli = Cli::new(&home)
        .with("HOME", home.path().to_str().unwrap())
        .with("CLAUDE_CONFIG_DIR", "")
        .with("CODEX_HOME", "");
    let before = cli.run(&[]).done();
    assert!(before.contains("not running") && before.contains("herma setup"), "{before}");
    assert!(!home.path().join("herma").exists(), "a look makes nothing");
    let _daemon = Daemon::start(&home);
    populate(&cli);
    let text = cli.run(&[]).done();
    for words in ["running for", "1, 1 open", "@1", "Where does the walrus live?", "herma session read @1"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(cli.run(&["--json"]).json()["sessions"][0]["session"], "trip");
    assert!(cli.run(&["version"]).done().starts_with("herma 0."));
}

#[test]
fn usage_is_summed_up_for_people_and_for_programs() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    assert_eq!(cli.run(&["usage"]).code, 0);
    populate(&cli);
    for (by, key) in [("model", "local"), ("session", "trip"), ("agent", "unknown")] {
        let sums = cli.run(&["usage", "--by", by, "--json"]).json();
        let row = &sums["rows"][0];
        assert_eq!((&row["key"], &row["calls"], &row["prompt"]), (&json!(key), &json!(1), &json!(1200)), "{by}");
        assert_eq!((&row["input"], &row["cache_read"], &row["total"]), (&json!(1000), &json!(200), &json!(1280)));
        let out = cli.run(&["usage", "--by", by]).done();
        assert!(out.contains(key) && out.contains("1,280"), "{out}");
    }
    assert_eq!(cli.run(&["usage", "--since", "1h", "--json"]).json()["total"]["calls"], 1);
    assert_eq!(cli.run(&["usage", "--since", "4000000000", "--json"]).json()["total"]["calls"], 0);
    let nobody = cli.run(&["usage", "--session", "nobody", "--json"]);
    assert!(nobody.code == 1 && nobody.err.contains(r#""kind":"not_found""#), "{nobody:?}");
    for wrong in [["usage", "--by", "week"], ["usage", "--since", "later"]] {
        assert_eq!(cli.run(&wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn recall_prints_hits_and_what_they_lead_to() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    populate(&cli);
    let out = cli.run(&["recall", "walrus", "arctic"]).done();
    assert!(out.contains("Arctic") && out.contains("msg_"), "{out}");
    let found = cli.run(&["recall", "walrus", "--limit", "1", "--around", "0", "--json"]).json();
    assert_eq!((found["hits"].as_array().unwrap().len(), &found["more"]), (1, &json!(true)));
    let place = cli.run(&["recall", "walrus", "--json"]).json();
    assert_eq!((place["hits"].as_array().unwrap().len(), &place["more"]), (1, &json!(false)), "one place: {place}");
    let handle = found["hits"][0]["handle"].as_str().unwrap();
    let expanded = cli.run(&["recall", "--expand", handle, "--json"]).json();
    assert_eq!(expanded["items"].as_array().unwrap().len(), 2);
    let out = cli.run(&["recall", "--expand", handle, "-B", "0", "-A", "0"]).done();
    assert_eq!(out.matches("walrus").count(), 1, "{out}");
    let tools = cli.run(&["recall", "--schema", "--json"]).json();
    assert!(tools["tools"].is_array());
    for line in cli.run(&["recall", "--schema"]).done().lines() {
        assert!(serde_json::from_str::<Value>(line).unwrap().is_object());
    }
    assert_eq!(cli.run(&["recall", "--describe", "trip", "--json"]).json(), json!({ "compressions": [] }));
    for (arguments, code) in [
        (["recall", "zebra"].as_slice(), 1),
        (&["recall"], 2),
        (&["recall", "x", "--limit", "101"], 2),
        (&["recall", "x", "--kind", "note"], 2),
        (&["recall", "--expand", "msg_999"], 1),
        (&["recall", "--describe", "nobody"], 1),
    ] {
        let ran = cli.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{arguments:?}: {ran:?}");
    }
    let none = cli.run(&["recall", "zebra", "--json"]);
    assert_eq!((none.code, &none.json()["hits"]), (1, &json!([])), "also JSON says so: {none:?}");
}

/// Returns the commands of the tour from the text `from` to the end of its code block.
fn tour(from: &str) -> String {
    let at = TOUR.find(from).unwrap_or_else(|| panic!("the tour has no {from:?}"));
    TOUR[at..].split("```").next().unwrap().to_owned()
}

#[test]
fn the_commands_of_the_tour_do_what_it_says() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let programs = herma_tests::daemon::program().parent().unwrap().to_owned();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (from, told) in [
        ("seq 1 50000 | herma output admit", ["<persisted-output>", "40000\n40001\n40002\n", "4711"].as_slice()),
        ("head -n 6 daemon/context", &[]),
        ("herma recall flight insurance", &["»flight«", "trip"]),
        ("echo '{\"prompt_tokens\": 1200", &["local", "1,280"]),
    ] {
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let script = format!("set -eo pipefail\n{}", tour(from));
        let ran = Command::new("bash")
            .args(["-c", &script])
            .current_dir(root)
            .env("PATH", path)
            .env("HERMA_HOME", home.path())
            .env_remove("HERMA_SOCKET")
            .output()
            .unwrap();
        let (out, err) = (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
        assert!(ran.status.success(), "{script}\n{out}\n{err}");
        for words in told {
            assert!(out.contains(words), "{words:?}: {out}");
        }
    }
}
