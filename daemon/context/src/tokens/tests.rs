use serde_json::{Value, json};

use super::*;
use crate::testing::{image, message, say};

fn estimate(value: Value) -> u64 {
    estimate_messages([&message(&value)])
}

#[test]
fn texts_round_up() {
    for (text, tokens) in [("", 0), ("hello", 2), ("上下文压", 1), ("abcd", 1), ("abcde", 2)] {
        assert_eq!(estimate_text(text), tokens, "{text}");
    }
}

#[test]
fn one_ceiling_over_the_sum() {
    assert_eq!(estimate_messages(&[] as &[Message]), 0);
    let one = say("user", "x");
    let chars = r#"{"role": "user", "content": "x"}"#.len();
    assert_eq!(Measure::of(&one).chars, chars);
    assert_eq!(estimate_messages([&one, &one, &one]), (3 * chars as u64).div_ceil(4));
}

#[test]
fn white_space_and_escapes_as_sent_do_not_count() {
    let spaced = Message::parse("{ \"role\" :\n \"user\",\"content\":\"\\u00e9\\/\" }").unwrap();
    assert_eq!(Measure::of(&spaced).chars, r#"{"role": "user", "content": "é/"}"#.chars().count());
}

#[test]
fn images_count_flat() {
    let big = json!({"type": "image_url", "image_url": {"url": "A".repeat(1_000_000)}});
    assert!(estimate(json!({"role": "user", "content": [big]})) < 5_000);
    let tiny = estimate(json!({"role": "user", "content": [image()]}));
    assert!((1_500..2_000).contains(&tiny), "{tiny}");
    let with_stub = Measure::of(&message(&json!({"role": "user", "content": [image()]})));
    let stub = r#"{"role": "user", "content": [{"type": "image_url", "image": "[stripped]"}]}"#;
    assert_eq!(with_stub, Measure { chars: stub.len(), images: 1 });
}

#[test]
fn provider_blocks_and_multimodal_results_count_what_is_text() {
    let plain = json!({"role": "user", "content": "x"});
    let blocks = json!({"role": "user", "content": "x", "_anthropic_content_blocks": [{"type": "image", "source": "AAAA"}, {"type": "text", "text": "long long"}]});
    assert_eq!(estimate(blocks), estimate(plain) + 1_500);
    let multimodal = json!({"role": "tool", "content": {"_multimodal": true, "text_summary": "abc", "content": [{"type": "image", "data": "A".repeat(9_000)}]}});
    let shadow = json!({"role": "tool", "content": "abc"});
    assert_eq!(estimate(multimodal), estimate(shadow) + 1_500);
}

#[test]
fn messages_that_are_no_objects_count_their_text() {
    for (raw, chars) in [("\"hello\"", 5), ("1234567", 7), ("[1,2]", 6), ("null", 4)] {
        assert_eq!(Measure::of(&Message::parse(raw).unwrap()).chars, chars, "{raw}");
    }
}

#[test]
fn a_request_adds_its_parts_when_they_are_there() {
    let one = say("user", "hello");
    let alone = estimate_messages([&one]);
    assert_eq!(estimate_request(None, [&one], None), alone);
    assert_eq!(estimate_request(Some(""), [&one], Some("[]")), alone);
    assert_eq!(estimate_request(Some("hello"), [&one], Some(r#"[{"a":1}]"#)), alone + 2 + 3);
}

#[test]
fn budget_lengths() {
    for (content, chars) in [
        (json!("héllo"), 5),
        (json!(null), 0),
        (json!([]), 0),
        (json!(["abc", image(), {"type": "text", "text": "de"}, {"type": "x"}, 12, null]), 3 + 6_400 + 2 + 2 + 4),
        (json!(12.5), 4),
        (json!({"a": 1}), 8),
        (json!([{"type": "input_image", "x": "A".repeat(99_999)}]), 6_400),
    ] {
        let of = message(&json!({"role": "user", "content": content.clone()}));
        assert_eq!(budget_chars(&of), chars, "{content}");
    }
    let call = json!({"role": "assistant", "content": "12345678", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "x".repeat(11)}}, "odd"]});
    assert_eq!(message_tokens(&message(&call)), 2 + 10 + 2);
}
