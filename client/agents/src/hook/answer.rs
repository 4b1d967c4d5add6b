//! What is said to a client, in its forms. Pure.

use serde_json::{Value, json};

use super::event::{Client, Name};

/// Adds a text to what the model reads.
pub(super) fn context(name: Name, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": name.hook(), "additionalContext": text } })
}

/// The field with what the user sees. The model doesn't see it.
pub(super) const NOTE: &str = "systemMessage";

/// Returns the answer that shows a text to the user.
pub(crate) fn note(text: &str) -> Value {
    json!({ NOTE: text })
}

/// Puts another text in the place of a tool's output. `response` is what the tool said, in its own form, with the
/// new text in it.
pub(super) fn output(client: Client, response: Value, text: String) -> Value {
    match client {
        Client::ClaudeCode => {
            json!({ "hookSpecificOutput": { "hookEventName": Name::PostToolUse.hook(), "updatedToolOutput": response } })
        }
        // It goes on with its turn all the same.
        Client::Codex => json!({ "continue": false, "stopReason": text }),
    }
}
