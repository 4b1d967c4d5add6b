use serde_json::json;

use super::*;
use crate::testing::{call, call_of, message, result, say};

struct Case {
    turns: Vec<Message>,
    tail: Vec<Message>,
    previous: Option<&'static str>,
    tokens: u64,
    failure: Option<&'static str>,
}

impl Case {
    fn of(turns: Vec<Message>) -> Self {
        Self { turns, tail: vec![say("user", "kept words")], previous: None, tokens: 2_000, failure: None }
    }

    fn write(&self) -> String {
        let originals: Vec<&Message> = self.turns.iter().collect();
        Extract {
            turns: &self.turns,
            originals: &originals,
            tail: &self.tail,
            previous: self.previous,
            budget_tokens: self.tokens,
            reserved_chars: 0,
            said: "",
            dropped: self.turns.len(),
            reason: self.failure.map_or(Reason::Chosen, Reason::Failed),
            redaction: Redaction::On,
            skeleton: Skeleton::Whole,
        }
        .write()
    }
}

/// Returns the lines below a heading.
fn below<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let lines = text.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| !line.starts_with("## ")).filter(|line| !line.is_empty()).collect()
}

#[test]
fn every_section_is_there_in_order() {
    let text = Case::of(vec![]).write();
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(
        headings,
        [
            TASK_HEADING,
            GOAL,
            CONSTRAINTS,
            ACTIONS,
            STATE,
            IN_PROGRESS_HEADING,
            BLOCKED,
            DECISIONS,
            RESOLVED,
            PENDING_HEADING,
            FILES,
            REMAINING_HEADING,
            TURNS,
            CONTEXT
        ]
    );
    assert!(text.contains("Unknown"));
}

#[test]
fn it_quotes_the_last_ask_and_lists_what_was_done() {
    let text = Case::of(vec![
        say("user", "first ask"),
        call(&["a"]),
        result("a", "Error: no such file /tmp/x.rs"),
        say("assistant", "I looked into ~/notes.md."),
        say("user", "second\n ask"),
        call_of("b", "read_file", r#"{"path": "src/lib.rs", "nested": {"workdir": "/srv/app"}}"#),
        result("b", &"z".repeat(300)),
        say("user", "kept words"),
    ])
    .write();
    assert_eq!(below(&text, TASK_HEADING), ["User asked: 'second ask'"]);
    assert_eq!(below(&text, PENDING_HEADING), ["- 'first ask'"]);
    assert_eq!(
        below(&text, ACTIONS),
        [
            "1. Called tool(s): terminal",
            "2. [terminal] ran `ls` -> exit ?, 1 lines output: Error: no such file /tmp/x.rs",
            "3. I looked into ~/notes.md.",
            "4. Called tool(s): read_file",
            "5. [read_file] read src/lib.rs from line 1 (300 chars)",
        ]
    );
    assert_eq!(below(&text, BLOCKED), ["- Error: no such file /tmp/x.rs"]);
    let files = below(&text, FILES);
    for path in ["- src/lib.rs", "- /srv/app", "- ~/notes.md", "- /tmp/x.rs"] {
        assert!(files.contains(&path), "{path} in {files:?}");
    }
    assert_eq!(below(&text, TURNS).first(), Some(&"- USER: first ask"));
    assert!(!text.contains("kept words"), "texts of the tail do not appear");
}

#[test]
fn it_says_why_there_is_no_model() {
    let chosen = Case::of(vec![say("user", "x")]).write();
    assert!(!chosen.contains("unavailable") && chosen.contains("without a model"));
    let mut case = Case::of(vec![say("user", "x")]);
    case.failure = Some("HTTP 500 from\nhost");
    let failed = case.write();
    assert!(failed.contains("Summary generation was unavailable (HTTP 500 from host)"));
    assert!(failed.contains("deterministic fallback") && failed.contains("no earlier summary"));
    assert!(failed.contains(" 1 messages"));
    case.previous = Some("## Goal\nship it");
    assert!(case.write().contains("An earlier summary exists"));
}

#[test]
fn counts_hold_at_the_smallest_budget_and_grow_with_it() {
    let mut turns = Vec::new();
    for at in 0..200 {
        turns.push(say("user", &format!("ask {at}")));
        turns.push(call_of(&format!("c{at}"), "f", &json!({"path": format!("/p/{at}")}).to_string()));
        turns.push(result(&format!("c{at}"), &format!("failed {at}")));
    }
    let small = Case::of(turns.clone()).write();
    for (heading, most) in [(ACTIONS, 12), (BLOCKED, 5), (FILES, 12), (TURNS, 8)] {
        assert_eq!(below(&small, heading).len(), most, "{heading}");
    }
    let mut large = Case::of(turns);
    large.tokens = 8_000;
    let large = large.write();
    for (heading, most) in [(ACTIONS, 48), (BLOCKED, 20), (FILES, 48), (TURNS, 32)] {
        assert_eq!(below(&large, heading).len(), most, "{heading}");
    }
    assert!(below(&large, TURNS).last().unwrap().contains("199"), "the latest ones");
}

#[test]
fn it_never_exceeds_its_budget() {
    let turns: Vec<Message> = (0..400)
        .flat_map(|at| [say("user", &format!("é{at} {}", "long ".repeat(400))), say("assistant", &"y".repeat(3_000))])
        .collect();
    for (tokens, chars) in [(0, 8_000), (2_000, 8_000), (5_000, 20_000), (12_000, 48_000)] {
        for failure in [None, Some("x y ")] {
            let mut case = Case::of(turns.clone());
            case.tokens = tokens;
            case.failure = failure;
            let whole = handoff::with_frame(&case.write()).chars().count();
            assert!(whole <= chars && whole > chars * 3 / 4, "{whole} of {chars}");
        }
    }
}

#[test]
fn long_texts_lose_their_middle_or_their_end() {
    let text = Case::of(vec![say("user", &format!("{}{}", "a".repeat(500), "b".repeat(400)))]).write();
    assert_eq!(below(&text, TASK_HEADING), [format!("User asked: '{} ... {}'", "a".repeat(420), "b".repeat(160))]);
    let last = below(&text, TURNS)[0];
    assert_eq!(last.chars().count(), "- USER: ".len() + 700);
    assert!(last.ends_with(" ...[truncated]"));
}

#[test]
fn secrets_do_not_survive() {
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let mut case = Case::of(vec![
        say("user", &format!("use {secret} and ghp_ab...6789 please")),
        result("a", &format!("error: token {secret} was refused")),
        call_of(
            "b",
            "terminal",
            &json!({"command": format!("export GITHUB_TOKEN={secret}"), "path": format!("/x/{secret}")}).to_string(),
        ),
    ]);
    case.previous = Some("## Completed Actions\n1. used ghp_zzzzzzzzzzzzzzzzzzzz");
    let text = case.write();
    assert!(!text.contains("ghp_") && text.contains("[REDACTED]"), "{text}");
}

#[test]
fn an_earlier_record_is_carried_on() {
    let mut case =
        Case::of(vec![say("user", "ask one"), call_of("a", "patch", r#"{"path": "/a.rs"}"#), result("a", "fine")]);
    case.tokens = 4_000;
    let first: &'static str = Box::leak(case.write().into_boxed_str());
    let mut next = Case::of(vec![say("user", "ask two"), say("assistant", "did two")]);
    next.tokens = 4_000;
    next.previous = Some(first);
    let text = next.write();
    assert_eq!(below(&text, TASK_HEADING), ["User asked: 'ask two'"]);
    assert_eq!(below(&text, PENDING_HEADING), ["- 'ask one'"]);
    assert_eq!(
        below(&text, ACTIONS),
        ["1. Called tool(s): patch", "2. [patch] replace in /a.rs (4 chars result): fine", "3. did two"]
    );
    assert_eq!(below(&text, FILES), ["- /a.rs"]);
    assert_eq!(text.matches(earlier::OWN_COUNT).count(), 1);
}

#[test]
fn a_models_summary_is_carried_on_too() {
    let mut case = Case::of(vec![say("user", "go on")]);
    case.previous = Some(
        "## Goal\nShip the parser\n\n## Constraints & Preferences\n- never push to main\n\n## Blocked\nNone\n\n## Unheard Of\nodd line",
    );
    let text = case.write();
    assert_eq!(below(&text, CONSTRAINTS), ["- never push to main"]);
    assert!(below(&text, GOAL).contains(&"Ship the parser"));
    assert!(below(&text, CONTEXT).contains(&"odd line"));
    assert_eq!(below(&text, BLOCKED), [NOTHING]);
}

#[test]
fn empty_error_fields_are_no_failures() {
    let text = Case::of(vec![
        result("a", r#"{"output": "ok", "error": null}"#),
        result("b", r#"{"error": "", "failed": false}"#),
        result("c", &format!("{} then a fatal thing\nafter", "line\n".repeat(300))),
        result("d", "terror and errorless"),
    ])
    .write();
    let blocked = below(&text, BLOCKED);
    assert_eq!(blocked.len(), 1);
    assert!(blocked[0].contains("then a fatal thing after"));
}

#[test]
fn odd_messages_do_no_harm() {
    let odd = ["7", "\"x\"", "{}", r#"{"role":"tool"}"#, r#"{"role":"assistant","tool_calls":[null]}"#];
    let turns: Vec<Message> = odd.iter().map(|raw| Message::parse(*raw).unwrap()).collect();
    assert!(Case::of(turns).write().contains(CONTEXT));
    let list = message(&json!({"role": "user", "content": ["a", {"type": "text", "text": "b"}]}));
    assert!(Case::of(vec![list]).write().contains("User asked: 'a b'"));
}
