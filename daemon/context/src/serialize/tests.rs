use serde_json::json;

use super::*;
use crate::testing::{call_of, list, message, result, say};

fn one(turn: Message) -> String {
    serialize(&[turn], Redaction::On)
}

#[test]
fn blocks_are_labelled() {
    let turns = [
        say("user", "hi"),
        say("assistant", "ho"),
        result("id1", "out"),
        say("developer", "x"),
        call_of("a", "terminal", "{\"command\": \"ls /tmp\"}"),
    ];
    assert_eq!(
        serialize(&turns, Redaction::On),
        "[USER]: hi\n\n[ASSISTANT]: ho\n\n[TOOL RESULT id1]: out\n\n[DEVELOPER]: x\n\n[ASSISTANT]: \n[Tool calls:\n  terminal({\"command\": \"ls /tmp\"})\n]"
    );
    assert_eq!(serialize(&list(""), Redaction::On), "");
}

#[test]
fn long_contents_and_arguments_are_cut() {
    let long = format!("{}{}", "a".repeat(4_000), "b".repeat(2_001));
    assert_eq!(
        one(say("user", &long)),
        format!("[USER]: {}\n...[truncated]...\n{}", "a".repeat(4_000), "b".repeat(1_500))
    );
    assert!(!one(say("user", &"a".repeat(6_000))).contains("truncated"));
    let call = one(call_of("a", "f", &"x".repeat(1_501)));
    assert!(call.contains(&format!("f({}...)", "x".repeat(1_200))));
}

#[test]
fn media_and_secrets_go_and_text_parts_stay() {
    assert_eq!(
        one(say("user", "see MEDIA:/tmp/a.png and MEDIA:b")),
        "[USER]: see [media attachment] and [media attachment]"
    );
    let secret = one(say("user", "OPENAI_API_KEY=sk-proj-abcdefghijklmnop1234567890"));
    assert!(!secret.contains("abcdefghijklmnop"), "{secret}");
    let parts =
        message(&json!({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image", "x": 1}, "b"]}));
    assert_eq!(one(parts), "[USER]: a\nb");
    assert_eq!(one(message(&json!({"role": "user", "content": null}))), "[USER]: ");
}
