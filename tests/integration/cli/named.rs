//! Paths and names on the command line must exist. A typo creates nothing and contacts no other daemon.

use std::process::Command;

use herma_tests::{Cli, Daemon, Home};
use serde_json::json;

/// Runs a command that names its own home or socket. Returns the exit code and standard error.
fn run(arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(herma_tests::cli_program());
    let output = command.args(arguments).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_home_that_is_not_there_is_made_by_no_command_that_only_looks() {
    let folder = Home::new();
    let typo = folder.path().join("typo");
    for command in [
        &["status"][..],
        &["ping"],
        &["memory", "list"],
        &["memory", "replace", "user", "a", "b"],
        &["memory", "undo", "user"],
        &["session", "list"],
        &["session", "close", "s"],
        &["recall", "walrus"],
        &["output", "list"],
        &["usage"],
        &["profile", "list"],
        &["shared", "status"],
        &["shared", "leave"],
        &["shared", "export", "-"],
        &["constraint", "add", "s", "Never."],
        &["compress", "-", "--session", "s"],
        &["top"],
    ] {
        let (code, said) = run(&[&["--home", typo.to_str().unwrap()], command].concat());
        assert!(code == 2 && said.contains("typo"), "{command:?}: {code} {said}");
        assert!(!typo.exists(), "{command:?}");
    }
    let (code, said) = run(&["--home", typo.to_str().unwrap(), "memory", "add", "user", "likes tea"]);
    assert!(code == 0 && said.contains("is a new home"), "{code} {said}");
    assert!(typo.join("memories/USER.md").exists());
    assert_eq!(run(&["--home", typo.to_str().unwrap(), "daemon", "stop"]).0, 0);
}

#[test]
fn a_socket_that_is_named_is_not_answered_by_another_one() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let place = home.path().to_str().unwrap();
    let nowhere = home.path().join("nowhere.sock");
    for more in [&[][..], &["--no-spawn"]] {
        let named = ["--home", place, "--socket", nowhere.to_str().unwrap(), "memory", "add", "user", "likes tea"];
        let (code, said) = run(&[&named[..], more].concat());
        assert!(code == 2 && said.contains("nowhere.sock") && said.contains("hermad.sock"), "{code} {said}");
    }
    let (code, said) = run(&["--home", place, "--socket", nowhere.to_str().unwrap(), "daemon", "stop"]);
    assert!(code == 2 && said.contains("nowhere.sock"), "{code} {said}");
    assert!(
        !nowhere.exists() && Cli::new(&home).run(&["memory", "list", "--json"]).json()["user"]["entries"] == json!([])
    );
    let own = home.socket();
    assert_eq!(run(&["--home", place, "--socket", own.to_str().unwrap(), "ping"]).0, 0);
}

#[test]
fn a_session_that_is_not_there_is_opened_only_by_what_says_so() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    let list = json!([{ "role": "user", "content": "hello" }]).to_string();
    for (command, input) in [
        (&["context", "usage", "typo", "-"][..], r#"{"prompt_tokens": 1, "completion_tokens": 1}"#),
        (&["compress", "-", "--session", "typo"], &list),
        (&["compress", "-", "--session", "typo", "--preview"], &list),
        (&["constraint", "add", "typo", "Never book without asking."], ""),
        (&["constraint", "rm", "typo", "con_1"], ""),
        (&["context", "pin", "typo", "--position", "1"], ""),
        (&["context", "unpin", "typo", "pin_1"], ""),
        (&["context", "discard", "typo", "--position", "1"], ""),
        (&["context", "episode", "typo", "open", "the task"], ""),
        (&["context", "open", "typo", "nod_1"], ""),
        (&["context", "fold", "typo", "nod_1"], ""),
        (&["session", "refresh", "typo"], ""),
        (&["session", "close", "typo"], ""),
    ] {
        let ran = cli.run_with(command, input);
        assert!(ran.code == 1 && ran.err.contains("no session \"typo\""), "{command:?}: {ran:?}");
        assert_eq!(cli.run(&["session", "list", "--json"]).json(), json!({ "sessions": [] }), "{command:?}");
    }
    assert_eq!(cli.run_with(&["session", "append", "new", "-"], &list).code, 0);
}
