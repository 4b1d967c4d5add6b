//! Completions: what a shell gets from a running daemon, and without one.

use std::process::Command;

use herma_tests::{Cli, Daemon, Home};
use serde_json::json;

/// Completes the last word of a line in bash, with the script that herma prints.
fn complete(home: &Home, line: &[&str]) -> Vec<String> {
    let script = r#"
        herma() { "$HERMA" "$@"; }
        source <("$HERMA" completions bash)
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9
        _clap_complete_herma herma "${COMP_WORDS[COMP_CWORD]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut command = Command::new("bash");
    command.args(["--norc", "-c", script, "bash", "herma"]).args(line);
    command.env("HERMA", herma_tests::cli_program()).env("HERMA_HOME", home.path());
    let output = command.output().unwrap();
    assert!(output.stderr.is_empty(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn a_shell_completes_what_the_daemon_keeps() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    let mut raw = daemon.raw();
    raw.result(
        "session.open",
        &json!({ "session": "claude-code:5f2a-1", "agent": "claude-code", "title": "The walrus" }),
    );
    // A shell would run this one.
    raw.result("session.open", &json!({ "session": "$(touch gone)", "agent": "`id`" }));
    let content = "a line\n".repeat(20_000);
    let session = "claude-code:5f2a-1";
    raw.result("output.admit", &json!({ "session": session, "tool": "terminal", "id": "c", "content": content }));
    for entry in ["likes tea", "lives by the sea"] {
        raw.result("memory.add", &json!({ "target": "user", "content": entry, "agent": "me" }));
    }
    raw.result("profile.create", &json!({ "name": "work" }));
    let kept = raw.result("constraint.add", &json!({ "session": session, "text": "never tabs" }));
    let handle = cli.run(&["output", "list", "--json"]).json()["outputs"][0]["handle"].as_str().unwrap().to_owned();
    let note = json!({ "command": "create", "path": "/memories/a.md", "file_text": "one" });
    raw.result("files.tool", &json!({ "arguments": note }));
    for (line, expected) in [
        ("session read ", vec!["5f2a-1"]),
        ("session read 5f", vec!["5f2a-1"]),
        ("session tip ", vec![session]),
        ("context status 5", vec!["5f2a-1"]),
        ("output list --session ", vec!["5f2a-1"]),
        ("output read ", vec![&handle]),
        ("recall --expand out_", vec![&handle]),
        ("memory show user ", vec!["2", "1"]),
        ("memory remove user ", vec!["1", "2"]),
        ("memory show ", vec!["memory", "user"]),
        ("--profile w", vec!["work"]),
        ("constraint rm 5f2a ", vec![kept["id"].as_str().unwrap()]),
        ("recall --agent ", vec!["claude-code"]),
        ("files show ", vec!["/memories/a.md"]),
        ("session read nobody", vec![]),
    ] {
        assert_eq!(complete(&home, &line.split(' ').collect::<Vec<_>>()), expected, "{line}");
    }
    let commands = complete(&home, &["session", ""]);
    assert!(commands.contains(&"read".to_owned()) && commands.contains(&"list".to_owned()), "{commands:?}");
    let options = complete(&home, &["session", "read", "--"]);
    assert!(options.contains(&"--whole".to_owned()) && options.contains(&"--json".to_owned()), "{options:?}");
}

#[test]
fn no_completion_puts_code_into_a_line() {
    let home = Home::new();
    for name in ["talk$(touch gone).json", "talk one.json", "talk;id.json", "talk-1.json", "talk-ü.json"] {
        std::fs::write(home.path().join(name), "[]").unwrap();
    }
    let folder = home.path().display().to_string();
    for line in [&["compress"][..], &["session", "append", "s"], &["guard", "scan"], &["--home"]] {
        let found = complete(&home, &[line, &[&format!("{folder}/talk")]].concat());
        let expected = ["talk-1.json", "talk-ü.json"].map(|name| format!("{folder}/{name}"));
        assert_eq!(found, expected, "{line:?}");
    }
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for session in ["trip", "codex:trip", "codex:5f2a77aa-1", "codex:5f2a77aa-1/explore"] {
        raw.result("session.open", &json!({ "session": session }));
    }
    let names = |line: &[&str]| complete(&home, line).into_iter().collect::<std::collections::BTreeSet<String>>();
    let expected = ["5f2a77aa-1", "5f2a77aa-1/explore", "codex:trip", "trip"].map(str::to_owned).into();
    assert_eq!(names(&["session", "read", ""]), expected);
    for line in [&["mcp", "--session", "tr"][..], &["session", "rm", "--yes", "tr"]] {
        assert_eq!(names(line), ["trip".to_owned()].into(), "{line:?}");
    }
}

#[test]
fn a_completion_starts_no_daemon_and_makes_no_home() {
    let folder = Home::new();
    let home = folder.path().join("none");
    let (program, line) = (herma_tests::cli_program(), ["--", "herma", "session", "read", ""]);
    for shell in ["bash", "zsh", "fish"] {
        let mut command = Command::new(&program);
        command.args(line).env("HERMA_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", "3");
        let output = command.env("HERMA_HOME", &home).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {output:?}");
        assert!(!home.exists(), "{shell}");
    }
    // A variable that names no shell changes nothing.
    let other = Command::new(&program).arg("version").env("HERMA_COMPLETE", "1").output().unwrap();
    assert!(String::from_utf8_lossy(&other.stdout).starts_with("herma "), "{other:?}");
}

#[test]
fn every_shell_gets_a_script_that_asks_herma() {
    let program = herma_tests::cli_program();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = Command::new(&program).args(["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(script.contains("HERMA_COMPLETE") && script.contains("herma"), "{shell}: {script}");
        assert!(!script.contains(&program.display().to_string()), "{shell} finds herma on the PATH: {script}");
    }
}

#[test]
fn every_shell_hears_of_every_command_and_option() {
    let program = herma_tests::cli_program();
    for (line, words) in [
        (&[""][..], &["usage", "recall", "trajectory"][..]),
        (&["sea"], &["search"]),
        (&["session", ""], &["resume-target", "lock-holder"]),
        (&["context", ""], &["cache-control", "classify"]),
        (&["recall", "--"], &["--describe", "--since"]),
        (&["memory", "import", "--"], &["--dry-run"]),
        (&["trajectory", "compress", "--"], &["--tokenizer"]),
        (&["context", "usage", "--"], &["--api-mode"]),
    ] {
        for shell in ["bash", "zsh", "fish"] {
            let mut command = Command::new(&program);
            command.args(["--", "herma"]).args(line).env("HERMA_COMPLETE", shell);
            let output = command.env("_CLAP_COMPLETE_INDEX", line.len().to_string()).output().unwrap();
            let answer = String::from_utf8(output.stdout).unwrap();
            for word in words {
                assert!(answer.contains(word), "{shell} {line:?}: {word} in {answer}");
            }
        }
    }
}
