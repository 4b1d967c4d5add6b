use serde_json::json;

use super::*;
use crate::testing::{call, list, message, result, say};

fn shape(messages: &[Message]) -> String {
    let one = |m: &Message| match (m.role(), m.text() == STUB) {
        (Role::Tool, true) => format!("!{}", m.tool_call_id().unwrap_or("")),
        (Role::Tool, false) => m.tool_call_id().unwrap_or("-").to_owned(),
        (Role::Assistant, _) => {
            let ids = m.tool_calls().iter().map(|c| c.id.as_deref().unwrap_or("-"));
            format!("({})", ids.collect::<String>())
        }
        (role, _) => role.as_str()[..1].to_owned(),
    };
    messages.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn check(messages: Vec<Message>, expect: &str) {
    let fixed = sanitised(messages);
    assert_eq!(shape(&fixed), expect);
    let again = sanitised(fixed.clone());
    assert_eq!(shape(&again), expect, "doing it twice changes nothing");
}

#[test]
fn orphans_go_and_stubs_come() {
    let u = || say("user", "hi");
    let r = |id: &str| result(id, "out");
    check(vec![u(), call(&["a"]), r("a"), u()], "u (a) a u");
    check(vec![u(), r("a"), u()], "u u");
    check(vec![u(), call(&["a"]), u()], "u (a) !a u");
    check(vec![call(&["a", "b", "c"]), r("b"), u()], "(abc) !a b !c u");
    check(vec![call(&["a", "b"]), r("b"), u()], "(ab) !a b u");
    check(vec![call(&["a", "b", "c"]), r("c"), r("a"), u()], "(abc) !b c a u");
    check(vec![call(&["a"]), r("a"), r("a"), u()], "(a) a u");
    check(vec![r("a"), call(&["a"]), u()], "(a) !a u");
}

#[test]
fn reused_ids_pair_with_the_nearest_open_call() {
    let u = || say("user", "hi");
    let r = |id: &str| result(id, "out");
    check(vec![call(&["a"]), r("a"), call(&["a"]), r("a"), u()], "(a) a (a) a u");
    check(vec![call(&["a"]), u(), call(&["a"]), r("a"), u()], "(a) !a u (a) a u");
    check(vec![call(&["a", "a"]), r("a"), r("a"), u()], "(aa) a a u");
    check(vec![call(&["a", "a"]), r("a"), u()], "(aa) a !a u");
}

#[test]
fn results_without_an_id_are_left_alone() {
    let odd = Message::parse(r#"{"role":"tool","content":"x","tool_call_id":""}"#).unwrap();
    check(vec![odd, say("user", "hi")], "- u");
}

#[test]
fn calls_in_flight_get_no_stub() {
    let r = |id: &str| result(id, "out");
    check(vec![say("user", "hi"), call(&["a", "b"])], "u (ab)");
    check(vec![call(&["a", "b"]), r("b")], "(ab) b");
    for (messages, open) in [
        (vec![call(&["a", "b"]), r("b")], Some(0)),
        (vec![call(&["a"]), r("a")], None),
        (vec![call(&["a"]), say("user", "x")], None),
        (vec![call(&["a", "a"]), r("a")], Some(0)),
        (vec![r("a")], None),
        (vec![], None),
        (list("uac"), Some(2)),
    ] {
        assert_eq!(in_flight(&messages), open);
    }
}

#[test]
fn call_id_wins_over_id() {
    let raw = r#"{"role":"assistant","tool_calls":[{"id":"x","call_id":"a","function":{}},{"call_id":"","id":"b"},{"id":7},"odd",null]}"#;
    let message = Message::parse(raw).unwrap();
    let ids: Vec<_> = message.tool_calls().iter().map(|c| c.id.as_deref()).collect();
    assert_eq!(ids, [Some("a"), Some("b"), Some("7"), None, None]);
}

#[test]
fn results_without_an_id_stand_in_the_order_of_the_calls() {
    let call = |names: &[&str]| {
        let calls: Vec<_> =
            names.iter().map(|name| json!({"function": {"name": name, "arguments": {"a": 1}}})).collect();
        message(&json!({"role": "assistant", "content": "", "tool_calls": calls}))
    };
    let result = || message(&json!({"role": "tool", "tool_name": "look", "content": "found"}));
    let list = [say("user", "go"), call(&["look", "read"]), result(), result(), result(), call(&["read"]), result()];
    let found = callers(&list);
    assert_eq!(found, [None, None, Some((1, 0)), Some((1, 1)), None, None, Some((5, 0))]);
    let pairing = pairing(&list);
    assert!(pairing.orphans.is_empty() && pairing.unanswered.is_empty());
}
