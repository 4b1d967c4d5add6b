//! Answers to an agent that all agents understand. No I/O.

use serde_json::{Value, json};

use crate::event::EventName;

/// Returns the answer that adds a text to the model's context.
pub(crate) fn context(name: EventName, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": name.hook(), "additionalContext": text } })
}

/// The field for a text that the user sees and the model doesn't.
pub(crate) const NOTE: &str = "systemMessage";

/// Returns the answer that shows a text to the user.
pub(crate) fn note(text: &str) -> Value {
    json!({ NOTE: text })
}
