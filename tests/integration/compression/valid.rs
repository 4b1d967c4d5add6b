//! Checks whether a chat API accepts a list.

use herma_protocol::context::ConstantsResult;
use serde_json::Value;

/// Checks that every result follows its call, and that only calls of the last message lack a result.
pub(crate) fn check(messages: &[Value]) {
    let mut open: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match message["role"].as_str().unwrap() {
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap();
                let call = open.iter().position(|call| call == id);
                open.remove(call.unwrap_or_else(|| panic!("message {at} answers no call: {message}")));
            }
            role => {
                assert!(open.is_empty(), "{open:?} unanswered before message {at}, {role}");
                let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
                open.extend(calls.iter().map(|call| call["id"].as_str().unwrap().to_owned()));
            }
        }
    }
}

/// Checks that `after` has no more neighbours with equal roles than `before`.
pub(crate) fn check_roles(before: &[Value], after: &[Value]) {
    let repeated = |messages: &[Value]| {
        let same = |pair: &&[Value]| pair[0]["role"] == pair[1]["role"] && pair[0]["role"] != "tool";
        messages.windows(2).filter(same).count()
    };
    assert!(repeated(after) <= repeated(before), "{} -> {}", repeated(before), repeated(after));
    assert_eq!(after[0]["role"], before[0]["role"]);
}

/// Returns the position of the only handoff, and checks its form against the constants.
pub(crate) fn handoff(messages: &[Value], constants: &ConstantsResult) -> usize {
    let marked = |message: &Value| message[&constants.metadata_key] == true;
    let found: Vec<usize> = (0..messages.len()).filter(|at| marked(&messages[*at])).collect();
    let [at] = found[..] else { panic!("handoffs at {found:?}") };
    let text = messages[at]["content"].as_str().unwrap();
    assert!(text.starts_with(&format!("{}\n", constants.prefix)), "{text}");
    assert_eq!(text.matches(&constants.end_marker).count(), 1, "{text}");
    at
}
