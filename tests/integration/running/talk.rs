//! Conversations to compress, and requests about them.

use herma_tests::{Daemon, Raw};
use serde_json::{Value, json};

/// The window of the session, in tokens.
pub(super) const WINDOW: u64 = 9000;

fn said(at: usize, repeated: usize) -> Value {
    let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
    json!({ "role": role, "content": format!("message {at} {}", "of the conversation ".repeat(repeated)) })
}

/// A conversation of messages of about the same length.
pub(crate) fn conversation(count: usize) -> Vec<Value> {
    (0..count).map(|at| said(at, 60)).collect()
}

/// A longer conversation.
pub(super) fn grown() -> Vec<Value> {
    conversation(90)
}

/// A conversation whose messages all belong to the head or the tail. After the head there are only the results of its
/// calls.
pub(super) fn without_a_middle() -> Vec<Value> {
    let ids = (0..8).map(|at| format!("call_{at}"));
    let call = |id: &String| json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": "{}" } });
    let calls: Vec<Value> = ids.clone().map(|id| call(&id)).collect();
    let results = ids.map(|id| json!({ "role": "tool", "tool_call_id": id, "content": "done" }));
    let head = [said(0, 3), said(1, 3), json!({ "role": "assistant", "content": null, "tool_calls": calls })];
    head.into_iter().chain(results).collect()
}

/// Opens the session `s` with a small window.
pub(crate) fn configure(raw: &mut Raw, more: Value) {
    let mut params = json!({ "session": "s", "context_length": WINDOW });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    raw.result("context.configure", &params);
}

pub(super) fn status(raw: &mut Raw) -> Value {
    raw.result("context.status", &json!({ "session": "s" }))
}

pub(super) fn subscribed(daemon: &Daemon, topics: &[&str]) -> Raw {
    let mut raw = daemon.raw();
    raw.result("subscribe", &json!({ "topics": topics }));
    raw
}

/// Returns the method and params of the next notification.
pub(super) fn told_of(raw: &mut Raw) -> (String, Value) {
    let mut line = raw.read();
    (line["method"].as_str().unwrap().to_owned(), line["params"].take())
}
