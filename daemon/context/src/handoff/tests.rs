use serde_json::{Value, json};

use super::*;
use crate::testing::{message, say};

#[test]
fn the_prefix_is_put_on_once() {
    let once = with_prefix("body");
    assert_eq!(with_prefix(&once), once);
    assert_eq!(with_prefix(&with_frame("body")), once);
    assert_eq!(strip(&with_frame("## Goal\nx")), "## Goal\nx");
}

#[test]
fn older_prefixes_and_markers_are_stripped() {
    for (text, body) in [
        ("[CONTEXT SUMMARY]: old body", "old body"),
        ("  [CONTEXT COMPACTION — REFERENCE ONLY] other words.\nbody\nmore  ", "body\nmore"),
        ("[CONTEXT COMPACTION — REFERENCE ONLY] only a line", ""),
        ("plain", "plain"),
        ("[CONTEXT SUMMARY]:\n[CONTEXT SUMMARY]: twice", "[CONTEXT SUMMARY]: twice"),
        ("body\n\n--- END OF CONTEXT SUMMARY -- respond to the message below, not the summary above ---", "body"),
    ] {
        assert_eq!(strip(text), body, "{text}");
    }
}

#[test]
fn a_merged_handoff_comes_apart_at_the_marker() {
    let text = format!("{}\n\nmy own\n\nwords", with_frame("## Goal\nx"));
    let parts = split(&text).unwrap();
    assert_eq!(parts, Parts { body: "## Goal\nx".to_owned(), rest: "my own\n\nwords".to_owned() });
    assert_eq!(split("hello"), None);
    let appended = with_frame("## Goal\nx\n\n## Archived Messages\nthere");
    assert_eq!(split(&appended).unwrap().body, "## Goal\nx");
}

#[test]
fn handoffs_are_recognised_by_their_beginning() {
    for (value, expect) in [
        (json!({"role": "user", "content": with_frame("x")}), true),
        (json!({"role": "assistant", "content": format!("\n {}", with_frame("x"))}), true),
        (json!({"role": "user", "content": [{"type": "text", "text": with_frame("x")}]}), true),
        (json!({"role": "user", "content": "[CONTEXT SUMMARY]: x"}), true),
        (json!({"role": "tool", "content": with_frame("x")}), false),
        (json!({"role": "user", "content": "about [CONTEXT COMPACTION"}), false),
        (json!({"role": "user", "content": null}), false),
        (json!("[CONTEXT SUMMARY]: x"), false),
    ] {
        assert_eq!(is_handoff(&message(&value)), expect, "{value}");
    }
}

#[test]
fn placements() {
    use Placement::{Assistant as A, Merge as M, User as U};
    for (prev, next, expect) in [
        ("assistant", "assistant", U),
        ("user", "user", A),
        ("tool", "user", A),
        ("tool", "assistant", U),
        ("system", "user", A),
        ("system", "assistant", U),
        ("assistant", "user", M),
        ("user", "assistant", M),
        ("assistant", "tool", U),
        ("odd", "user", A),
    ] {
        let got = placement(Some(&Role::from(prev)), Some(&Role::from(next)));
        assert_eq!(got, expect, "{prev}/{next}");
    }
    assert_eq!(placement(Some(&Role::System), None), A);
    assert_eq!(placement(None, Some(&Role::User)), M);
    assert_eq!(placement(None, Some(&Role::Assistant)), U);
}

#[test]
fn merging_keeps_the_rest_of_the_message() {
    let text = with_frame("body");
    for (content, expect) in [
        (json!("own \"words\""), json!(format!("{text}\n\nown \"words\""))),
        (json!(null), json!(text)),
        (
            json!([{"type": "text", "text": "own"}]),
            json!([{"type": "text", "text": format!("{text}\n\n")}, {"type": "text", "text": "own"}]),
        ),
        (json!([]), json!([{"type": "text", "text": format!("{text}\n\n")}])),
    ] {
        let before = message(&json!({"role": "user", "content": content.clone(), "name": "x"}));
        let value: Value = serde_json::from_str(merged(&text, &before).raw()).unwrap();
        assert_eq!(value["content"], expect, "{content}");
        assert_eq!((&value["_compressed_summary"], &value["name"]), (&json!(true), &json!("x")));
    }
    let value: Value = serde_json::from_str(merged(&text, &message(&json!({"role": "user"}))).raw()).unwrap();
    assert_eq!(value["content"], json!(text));
}

#[test]
fn a_body_cannot_fake_a_boundary() {
    let body = format!("a\n{END_MARKER}\n{PREFIX}\n## Archived Messages\nb");
    assert_eq!(defused(&body), "a\nb");
    assert!(is_only_handoff(&say("user", &with_frame(&defused(&body)))));
}

#[test]
fn what_a_handoff_was_put_in_front_of_comes_back_as_it_was() {
    let text = with_frame("what was done");
    let calls = json!([{"id": "1", "function": {"name": "look", "arguments": "{}"}}]);
    for content in [
        json!(null),
        json!(""),
        json!("words"),
        json!("\nwords\n\n"),
        json!([]),
        json!([{"type": "text", "text": "x"}]),
    ] {
        let before = message(&json!({"role": "assistant", "content": content, "tool_calls": calls}));
        let merged = merged(&text, &before);
        assert!(is_handoff(&merged) && !is_only_handoff(&merged), "{content}");
        let after: Value = serde_json::from_str(without_handoff(&merged).unwrap().raw()).unwrap();
        assert_eq!(after, serde_json::from_str::<Value>(before.raw()).unwrap());
    }
    assert_eq!(without_handoff(&say("user", &text)), None);
}
