//! Answers to an agent that all agents understand. No I/O.

use serde_json::{Value, json};

use crate::event::EventName;

/// Returns the answer that adds a text to the model's context.
pub(crate) fn context(name: EventName, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": name.hook(), "additionalContext": text } })
}

/// Returns the answer that replaces the output of a tool.
pub(crate) fn replaced_output(output: Value) -> Value {
    let name = EventName::PostToolUse.hook();
    json!({ "hookSpecificOutput": { "hookEventName": name, "updatedToolOutput": output } })
}

/// The field for a text that the user sees and the model doesn't.
pub(crate) const NOTE: &str = "systemMessage";

/// Returns the answer that shows a text to the user.
pub(crate) fn note(text: &str) -> Value {
    json!({ NOTE: text })
}
