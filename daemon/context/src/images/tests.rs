use serde_json::{Value, json};

use super::*;
use crate::testing::{image, message, say};

fn picture(role: &str) -> Message {
    message(&json!({"role": role, "content": [{"type": "text", "text": "see"}, image(), "bare"], "x": 1}))
}

#[test]
fn only_the_newest_user_image_stays() {
    let messages = [picture("user"), picture("tool"), say("user", "hi"), picture("user"), picture("assistant")];
    let out = strip_old(&messages);
    for at in [0, 1] {
        let value: Value = serde_json::from_str(out[at].raw()).unwrap();
        assert_eq!(
            value["content"],
            json!([{"type": "text", "text": "see"}, {"type": "text", "text": STRIPPED}, "bare"])
        );
        assert_eq!(value["x"], 1);
    }
    for at in [2, 3, 4] {
        assert!(out[at].same(&messages[at]), "{at}");
    }
    assert!(strip_old(&out).iter().zip(&out).all(|(a, b)| a.same(b)), "idempotent");
}

#[test]
fn without_an_anchor_nothing_changes() {
    for messages in [
        vec![],
        vec![picture("user"), say("user", "hi")],
        vec![picture("assistant"), say("user", "hi")],
        vec![Message::parse("\"odd\"").unwrap(), message(&json!({"role": "tool", "content": {"a": [image()]}}))],
    ] {
        assert!(strip_old(&messages).iter().zip(&messages).all(|(a, b)| a.same(b)));
    }
}
