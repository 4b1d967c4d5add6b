//! Conversations to compress, and what is asked about them.

use herma_tests::{Daemon, Raw};
use serde_json::{Value, json};

/// The window of the session, in tokens.
pub(super) const WINDOW: u64 = 9000;

fn said(at: usize, repeated: usize) -> Value {
    let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
    json!({ "role": role, "content": format!("message {at} {}", "of the conversation ".repeat(repeated)) })
}

/// A conversation of short and long messages.
pub(crate) fn conversation(count: usize) -> Vec<Value> {
    (0..count).map(|at| said(at, 60)).collect()
}

/// A longer one.
pub(super) fn grown() -> Vec<Value> {
    conversation(90)
}

/// One whose few messages all belong to the head or the tail.
pub(super) fn with_a_large_tail() -> Vec<Value> {
    (0..9).map(|at| said(at, 3)).collect()
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

/// The next notification.
pub(super) fn told_of(raw: &mut Raw) -> (String, Value) {
    let mut line = raw.read();
    (line["method"].as_str().unwrap().to_owned(), line["params"].take())
}
