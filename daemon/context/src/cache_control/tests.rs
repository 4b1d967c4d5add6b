use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::testing::{call, result, say};

const MARK: &str = r#""cache_control": {"type": "ephemeral"}"#;

fn message(raw: &str) -> Message {
    Message::parse(raw).unwrap()
}

/// Returns the positions of messages with a mark.
fn marks(messages: &[Message]) -> Vec<usize> {
    let has = |(at, message): (usize, &Message)| message.raw().contains(KEY).then_some(at);
    messages.iter().enumerate().filter_map(has).collect()
}

#[test]
fn only_the_mark_is_new() {
    for (raw, tools, expect) in [
        (
            r#"{"role":"user","content":"a\u00e9\/"}"#,
            ToolMarks::None,
            r#"{"role":"user","content":[{"type": "text", "text": "a\u00e9\/", MARK}]}"#,
        ),
        (
            r#"{ "role" : "user", "content" : "", "n":1.0 }"#,
            ToolMarks::None,
            r#"{ "role" : "user", "content" : "", "n":1.0 , MARK}"#,
        ),
        (
            r#"{"role":"assistant","content":null,"x":{}}"#,
            ToolMarks::None,
            r#"{"role":"assistant","content":null,"x":{}, MARK}"#,
        ),
        (r#"{"role":"assistant"}"#, ToolMarks::None, r#"{"role":"assistant"}"#),
        (
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"s"}]}"#,
            ToolMarks::None,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"s"}]}"#,
        ),
        (
            r#"{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]}"#,
            ToolMarks::None,
            r#"{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]}"#,
        ),
        (
            r#"{"role":"user","content":[{"type":"text","text":" "}]}"#,
            ToolMarks::None,
            r#"{"role":"user","content":[{"type":"text","text":" "}]}"#,
        ),
        (
            r#"{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"old"}},{"type":"text","text":"b"}]}"#,
            ToolMarks::None,
            r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b", MARK}]}"#,
        ),
        (
            r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"}" ,"y":[]}]}"#,
            ToolMarks::None,
            r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"}" ,"y":[], MARK}]}"#,
        ),
        (r#"{"role":"user","content":[{}]}"#, ToolMarks::None, r#"{"role":"user","content":[{MARK}]}"#),
        (
            r#"{"role":"user","content":[{"cache_\u0063ontrol":{"type":"old"},"type":"image"}]}"#,
            ToolMarks::None,
            r#"{"role":"user","content":[{"type":"image", MARK}]}"#,
        ),
        (
            r#"{"role":"tool","content":"x","cache_control":null}"#,
            ToolMarks::Native,
            r#"{"role":"tool","content":"x", MARK}"#,
        ),
        (r#"{"role":"tool","content":"x"}"#, ToolMarks::Native, r#"{"role":"tool","content":"x", MARK}"#),
        (r#"{"role":"tool","content":"x"}"#, ToolMarks::None, r#"{"role":"tool","content":"x"}"#),
        (r#"{"role":"user","content":[]}"#, ToolMarks::Native, r#"{"role":"user","content":[]}"#),
        (r#"{"role":"user","content":["bare"]}"#, ToolMarks::Native, r#"{"role":"user","content":["bare"]}"#),
        (r#"{"role":"user","content":7}"#, ToolMarks::Native, r#"{"role":"user","content":7}"#),
        (r#""bare""#, ToolMarks::Native, r#""bare""#),
        ("[1]", ToolMarks::Native, "[1]"),
    ] {
        let out = marked(&[message(raw)], Ttl::FiveMinutes, tools);
        assert_eq!(out[0].raw(), expect.replace("MARK", MARK), "{raw}");
    }
}

#[test]
fn an_hour_is_said() {
    let out = marked(&[say("user", "a")], Ttl::OneHour, ToolMarks::None);
    let value: Value = serde_json::from_str(out[0].raw()).unwrap();
    assert_eq!(value["content"][0]["cache_control"], json!({"type": "ephemeral", "ttl": "1h"}));
}

#[test]
fn four_places_at_most() {
    let turns = |count: usize| -> Vec<Message> { (0..count).map(|_| say("user", "a")).collect() };
    let with_system = [vec![say("system", "s")], turns(6)].concat();
    assert_eq!(marks(&marked(&with_system, Ttl::FiveMinutes, ToolMarks::None)), [0, 4, 5, 6]);
    assert_eq!(marks(&marked(&turns(6), Ttl::FiveMinutes, ToolMarks::None)), [2, 3, 4, 5]);
    let late = [turns(2), vec![say("system", "s")], turns(3)].concat();
    assert_eq!(marks(&marked(&late, Ttl::FiveMinutes, ToolMarks::None)), [1, 3, 4, 5]);
    let calls = [vec![say("system", "s")], turns(3), vec![call(&["a"]), result("a", "x"), say("user", "b")]].concat();
    assert_eq!(marks(&marked(&calls, Ttl::FiveMinutes, ToolMarks::None)), [0, 4, 6]);
    assert_eq!(marks(&marked(&calls, Ttl::FiveMinutes, ToolMarks::Native)), [0, 4, 5, 6]);
    assert_eq!(marked(&[], Ttl::FiveMinutes, ToolMarks::None), []);
    assert_eq!(marks(&marked(&[say("system", "s")], Ttl::FiveMinutes, ToolMarks::None)), [0]);
}

fn any_message() -> impl Strategy<Value = String> {
    let role = prop_oneof![Just("system"), Just("user"), Just("assistant"), Just("tool"), Just("odd")];
    let part = prop_oneof![
        Just("{}".to_owned()),
        Just("\"bare\"".to_owned()),
        Just("null".to_owned()),
        Just("{ \"type\":\"text\" ,\"text\":\"\\\"}\" }".to_owned()),
        Just("{\"cache_control\":1,\"cache_control\":{}}".to_owned()),
    ];
    let content = prop_oneof![
        Just("null".to_owned()),
        Just("\"\"".to_owned()),
        Just("\"a\\u00e9 }\"".to_owned()),
        Just("{\"_multimodal\":true}".to_owned()),
        Just("12.50".to_owned()),
        prop::collection::vec(part, 0..4).prop_map(|parts| format!("[{}]", parts.join(" , "))),
    ];
    prop_oneof![
        9 => (role, content).prop_map(|(role, content)| format!("{{ \"x\":1.0,\"role\":\"{role}\" ,\"content\": {content}}}")),
        1 => Just("[\"user\"]".to_owned()),
    ]
}

proptest! {
    #[test]
    fn any_list_stays_readable_and_keeps_what_it_had(raws in prop::collection::vec(any_message(), 0..9), native: bool) {
        let tools = if native { ToolMarks::Native } else { ToolMarks::None };
        let input: Vec<Message> = raws.iter().map(|raw| message(raw)).collect();
        let out = marked(&input, Ttl::OneHour, tools);
        prop_assert_eq!(out.len(), input.len());
        prop_assert!(out.iter().map(marks::count).sum::<usize>() <= MAX_MARKS);
        for (before, after) in input.iter().zip(&out) {
            let plain = |message: &Message| serde_json::from_str::<Value>(marks::without(message).raw()).unwrap();
            // With a mark a text becomes a block.
            let is_text = plain(before)["content"].is_string();
            prop_assert!(is_text || plain(before) == plain(after), "{before:?} {after:?}");
        }
        for (before, after) in input.iter().zip(&out) {
            let value: Value = serde_json::from_str(after.raw()).unwrap();
            if marks::count(after) > marks::count(before) {
                prop_assert!(value.to_string().contains("\"ttl\":\"1h\""));
            }
            let is_kept = before.raw() == after.raw() || after.raw().starts_with("{ \"x\":1.0,\"role\":");
            prop_assert!(is_kept);
        }
        prop_assert_eq!(&out, &marked(&input, Ttl::OneHour, tools));
    }
}

#[test]
fn an_agent_that_goes_on_with_the_list_has_four_marks_on_what_is_newest() {
    let mut list = vec![say("system", "s"), say("user", "q")];
    for turn in 0..6 {
        list = marked(&list, Ttl::FiveMinutes, ToolMarks::None);
        assert!(list.iter().map(marks::count).sum::<usize>() <= MAX_MARKS, "{turn}: {list:?}");
        assert!(marks::count(&list[0]) == 1 && marks::count(list.last().unwrap()) == 1, "{turn}");
        list.extend([say("assistant", "a"), say("user", "q")]);
    }
    // Marks of the caller stay while there is room.
    let own =
        |text: &str| message(&format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}",{MARK}}}]}}"#));
    let list = [vec![own("first")], vec![say("assistant", "a"); 3]].concat();
    assert_eq!(marks(&marked(&list[..3], Ttl::FiveMinutes, ToolMarks::None)), [0, 1, 2]);
    let list = [vec![own("first"), own("second")], vec![say("assistant", "a"); 4]].concat();
    assert_eq!(marks(&marked(&list, Ttl::FiveMinutes, ToolMarks::None)), [2, 3, 4, 5]);
}
