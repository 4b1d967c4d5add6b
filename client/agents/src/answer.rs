//! Answers to an agent that all agents understand. Pure.

use serde_json::{Value, json};

use crate::event::EventName;

/// Adds a text to what the model reads.
pub(crate) fn context(name: EventName, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": name.hook(), "additionalContext": text } })
}

/// The field with what the user sees. The model doesn't see it.
pub(crate) const NOTE: &str = "systemMessage";

/// Returns the answer that shows a text to the user.
pub(crate) fn note(text: &str) -> Value {
    json!({ NOTE: text })
}
