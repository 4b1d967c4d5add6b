use super::*;
use crate::Message;
use crate::redaction::Redaction;
use crate::testing::{call_of, result, say};

fn index(list: &[Message], chars: usize) -> String {
    let turns: Vec<&Message> = list.iter().collect();
    render(&gather(&turns, &[], Redaction::On), chars, "").text
}

/// Returns a log of many lines with few shapes.
fn noise(lines: usize) -> Vec<String> {
    (0..lines)
        .map(|at| {
            format!("2026-05-01T02:{:02}:11.{at:03}Z INFO [worker-{}] took={at}ms id=a1b2c3d4{at:04x}", at % 60, at % 8)
        })
        .collect()
}

#[test]
fn each_kind_is_found_where_people_and_programs_write_it() {
    for (line, kind) in [
        ("We decided to keep SQLite because it needs no server.", Kind::Decision),
        ("thread 'main' panicked at src/pool.rs:88: lease expired", Kind::Error),
        ("psql: FATAL: role \"app\" does not exist", Kind::Error),
        ("Run `kubectl rollout restart deploy/api -n prod` after that.", Kind::Command),
        ("The runbook is at https://wiki.example.org/x/Yz?a=1.", Kind::Url),
        ("The regression came in with commit 9fceb02d0a.", Kind::Hash),
        ("That is tracked in PROJ-4711 now.", Kind::Issue),
        ("See #812 for the discussion.", Kind::Issue),
        ("The p99 latency went from 412 ms to 1.7 s.", Kind::Measure),
    ] {
        let found = index(&[say("assistant", line)], 1_000);
        assert_eq!(found, format!("{}\n{line}", kind.label()), "{line}");
    }
}

#[test]
fn what_stands_out_in_a_log_is_found_deep_inside() {
    let fact = "lock manager: giving up on shard 17 (errno 11)";
    for nested in [false, true] {
        let mut lines = noise(400);
        lines.insert(200, fact.to_owned());
        let text = lines.join("\n");
        let text = if nested { serde_json::json!({"output": text, "exit_code": 0}).to_string() } else { text };
        let found = index(&[result("a", &text)], 300);
        assert!(found.contains(fact), "{found}");
    }
}

#[test]
fn backslashes_of_plain_text_stay() {
    let list =
        [result("a", r"cannot open C:\temp\new.log"), result("b", r#"{"out": "cannot open \"x\" in C:\\tmp.d"}"#)];
    let found = index(&list, 500);
    assert!(found.contains(r"C:\temp\new.log") && found.contains(r#"cannot open "x" in C:\tmp.d"#), "{found}");
}

#[test]
fn a_class_of_a_regular_expression_is_no_path() {
    for pattern in [r"probe_\w", r"^src\d+", r"fn \w+\s*", r"config\.json", r"a:\d+"] {
        let found =
            index(&[call_of("a", "grep", &serde_json::json!({"pattern": pattern, "in": "lib/a.rs"}).to_string())], 500);
        assert_eq!(found, "Paths:\nlib/a.rs", "{pattern}");
    }
    for path in [r"C:\d\new.log", r"src\net\pool.rs", r"src\b.rs", r"obj\n\out.txt", r"\\host\share\w"] {
        assert!(index(&[say("assistant", &format!("Look into {path} first."))], 500).contains(path), "{path}");
    }
}

#[test]
fn commands_come_with_their_exit_codes() {
    let list = [
        call_of("a", "terminal", r#"{"command": "terraform apply -auto-approve"}"#),
        result("a", r#"{"output": "no", "exit_code": 3}"#),
    ];
    assert!(index(&list, 500).contains("terraform apply -auto-approve -> exit 3"));
}

#[test]
fn every_kind_gets_its_share_and_nothing_exceeds_the_budget() {
    let mut list: Vec<Message> =
        (0..500).map(|at| say("assistant", &format!("Error: thing {at} has failed in step {at}."))).collect();
    list.insert(250, say("assistant", "We agreed on tabs."));
    for chars in [0, 50, 300, 2_000] {
        let text = index(&list, chars);
        assert!(text.chars().count() <= chars, "{chars}");
        assert_eq!(text.contains("We agreed on tabs."), chars >= 50, "{chars}");
    }
}

#[test]
fn an_index_is_read_back_and_old_anchors_stay() {
    let list = [say("assistant", "We decided to use tabs."), say("assistant", "See #812 there.")];
    let first = index(&list, 1_000);
    let parsed = parse(&first);
    assert_eq!(parsed, [(Kind::Decision, "We decided to use tabs."), (Kind::Issue, "See #812 there.")]);
    let log = result("a", &noise(300).join("\n"));
    let again = render(&gather(&[&log], &parsed, Redaction::On), 200, "").text;
    assert!(again.contains("We decided to use tabs.") && again.contains("See #812 there."), "{again}");
}

#[test]
fn secrets_are_masked_and_nothing_is_said_twice() {
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let list = [
        say("assistant", &format!("We decided to use {secret} for it.")),
        say("assistant", "See #812 there."),
        say("assistant", "See #812 there."),
    ];
    let turns: Vec<&Message> = list.iter().collect();
    let anchors = gather(&turns, &[], Redaction::On);
    let text = render(&anchors, 1_000, "").text;
    assert!(!text.contains(secret) && text.matches("#812").count() == 1, "{text}");
    assert!(!render(&anchors, 1_000, "user: See #812 there.").text.contains("#812"));
}

#[test]
fn odd_text_does_no_harm() {
    for text in
        ["", "\\", "{\\", "[\"\\\\n", "é\u{0}#", &"a,\"".repeat(9_000), &"1".repeat(300_000), &"\\n".repeat(9_000)]
    {
        for message in [say("assistant", text), result("a", text), result("a", &format!("{{{text}"))] {
            index(&[message], 500);
        }
    }
}

#[test]
fn calls_give_values_and_never_their_json() {
    let list = [
        say("assistant", "Adding tests to tests/emoji.rs."),
        call_of("a", "terminal", r#"{"command": "cargo test --workspace", "workdir": "/w/crate4"}"#),
        result("a", r#"{"output": "no", "exit_code": 101}"#),
        call_of("b", "terminal", r#"{"command": "cargo test --workspace"}"#),
        call_of("c", "write_file", r#"{"path": "tests/emoji.rs", "content": "x\nsee https://a.example/x\n"}"#),
        call_of("d", "write_file", r#"{"path": "tests/broken.rs", "content": "x"#),
        call_of("e", "edit", r#"{"edits": [{"path": "src/deep.rs", "new": "a"}]}"#),
    ];
    let found = index(&list, 2_000);
    let lines: Vec<&str> = found.lines().collect();
    for line in
        ["cargo test --workspace -> exit 101", "/w/crate4", "tests/emoji.rs", "src/deep.rs", "see https://a.example/x"]
    {
        assert_eq!(lines.iter().filter(|found| **found == line).count(), 1, "{line} in {found}");
    }
    assert!(!found.contains(['{', '}']) && !found.contains("Adding"), "{found}");
    assert_eq!(found.matches("cargo test").count(), 1, "{found}");
}

#[test]
fn a_field_that_says_there_is_no_error_is_none() {
    for (line, is_error) in [
        (r#"{"output": "done", "exit_code": 0, "error": null}"#, false),
        (r#"{"error":"", "total": 3}"#, false),
        (r#"{\"error\": null, \"ok\": true}"#, false),
        (r#"{"errors": [], "failed": 0}"#, false),
        (r#"{"error": "no such file"}"#, true),
        (r#"{"error": null, "stderr": "fatal: not a repository"}"#, true),
        (r#"{"failed": 07}"#, true),
    ] {
        let matched = kind_of(line, Prose::No);
        assert_eq!(matched.is_some_and(|matched| matched.kind == Kind::Error), is_error, "{line}");
    }
}
