use serde_json::json;

use super::*;
use crate::testing::message;

#[test]
fn any_json_value_is_a_message_and_keeps_its_text() {
    for raw in [
        " { \"role\" : \"user\" , \"content\":\"a\\u00e9\" } ",
        "\"bare\"",
        "12",
        "null",
        "[1,{\"role\":\"user\"}]",
        "{}",
        r#"{"role":7,"content":false,"tool_calls":{"a":1},"tool_call_id":{}}"#,
        r#"{"role":null,"content":{"a":[]},"tool_calls":[null,1,"x",[],{}]}"#,
        r#"{"content":"\ud800","role":"us\u0065r"}"#,
    ] {
        assert_eq!(Message::parse(raw).unwrap().raw(), raw);
    }
    for bad in ["", "{", "{} {}", "nope", "{\"a\":}"] {
        assert!(Message::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn the_view_is_lenient() {
    let odd = Message::parse(
        r#"{"role":"us\u0065r","content":"one","content":"two","_compressed_summary":true,"tool_call_id":12}"#,
    )
    .unwrap();
    assert_eq!(odd.role(), &Role::User);
    assert_eq!(odd.text(), "two", "the last of two keys wins, as in every reader");
    assert_eq!(odd.tool_call_id(), Some("12"));
    assert!(odd.is_summary());
    let call = message(
        &json!({"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"x": 1}}}]}),
    );
    assert_eq!(call.arguments(&call.tool_calls()[0]), r#"{"x":1}"#);
}

#[test]
fn very_deep_values_do_no_harm() {
    let deep = format!("{{\"content\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    if let Ok(message) = Message::parse(deep) {
        assert_eq!(message.text(), "");
        assert!(crate::tokens::estimate_messages([&message]) > 0);
        assert!(crate::tokens::budget_chars(&message) < 1_000_000);
    }
}

#[test]
fn edits_leave_the_other_fields_as_they_were() {
    let before = Message::parse(r#"{ "x" : 1.0e2, "content":  "old" ,"role":"user"}"#).unwrap();
    assert_eq!(before.with_content("\"new\"", &[]).raw(), r#"{ "x" : 1.0e2, "content":  "new" ,"role":"user"}"#);
    assert_eq!(
        before.with_content("null", &[("k", "true")]).raw(),
        r#"{ "x" : 1.0e2, "content":  null ,"role":"user", "k": true}"#
    );
    let empty = Message::parse("{}").unwrap();
    assert_eq!(empty.with_content("1", &[]).raw(), r#"{"content": 1}"#);
}
