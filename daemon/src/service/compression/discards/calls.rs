//! Finds outputs through the arguments of their calls.

use std::borrow::Cow;

use herma_context::constants::CONTEXT_DISCARD;
use herma_context::{Message, Role};
use memchr::memmem::Finder;
use serde_json::Value;

/// The name and arguments of a call in a transcript.
struct Given<'a> {
    name: Option<&'a str>,
    /// The arguments as they were written.
    arguments: Cow<'a, str>,
    /// The unescaped strings in them, if any are escaped.
    strings: Vec<String>,
}

impl Given<'_> {
    fn has(&self, words: &Finder<'_>) -> bool {
        self.name.map(str::as_bytes) == Some(words.needle())
            || words.find(self.arguments.as_bytes()).is_some()
            || self.strings.iter().any(|string| words.find(string.as_bytes()).is_some())
    }
}

/// For each of these words, returns the positions of the outputs whose calls contain it in their name or arguments.
/// Ignores the calls that name outputs to discard.
pub(super) fn outputs_of(transcript: &[Message], words: &[String]) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new(); words.len()];
    if words.is_empty() {
        return found;
    }
    let words: Vec<Finder<'_>> = words.iter().map(|words| Finder::new(words.as_bytes())).collect();
    for (at, message) in transcript.iter().enumerate() {
        for call in message.tool_calls() {
            let name = call.name.as_deref();
            if name == Some(CONTEXT_DISCARD) {
                continue;
            }
            let arguments = message.arguments(call);
            let given = Given { name, strings: escaped(&arguments), arguments };
            let named =
                words.iter().zip(&mut found).filter(|(words, _)| !words.needle().is_empty() && given.has(words));
            for (_, places) in named {
                let behind = transcript.iter().enumerate().skip(at + 1);
                let results = behind.take_while(|(_, next)| *next.role() == Role::Tool);
                places.extend(
                    results.filter(|(_, result)| result.tool_call_id() == call.id.as_deref()).map(|(at, _)| at),
                );
            }
        }
    }
    found
}

/// Returns the unescaped strings of arguments that contain escapes.
fn escaped(arguments: &str) -> Vec<String> {
    let mut strings = Vec::new();
    if arguments.contains('\\')
        && let Ok(value) = serde_json::from_str(arguments)
    {
        collect(value, &mut strings);
    }
    strings
}

fn collect(value: Value, strings: &mut Vec<String>) {
    match value {
        Value::String(text) => strings.push(text),
        Value::Array(all) => all.into_iter().for_each(|value| collect(value, strings)),
        Value::Object(all) => all.into_iter().for_each(|(_, value)| collect(value, strings)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use serde_json::json;

    use super::*;

    fn called(id: &str, name: &str, arguments: &str) -> [Message; 2] {
        let function = json!({ "name": name, "arguments": arguments });
        let call = json!({ "role": "assistant", "tool_calls": [{ "id": id, "function": function }] });
        let output = json!({ "role": "tool", "tool_call_id": id, "content": "done" });
        [call, output].map(|value| Message::parse(value.to_string()).unwrap())
    }

    #[test]
    fn words_are_found_as_they_are_meant_and_as_they_are_written() {
        let command = |command: &str| json!({ "command": command, "more": [{ "x": 1 }] }).to_string();
        let transcript = [
            called("0", "run", &command("grep \"foo bar\" src")),
            called("1", "run", &command("cd src\nls")),
            called("2", "run", r#"{"command": "ls \u00e9"}"#),
            called("3", "read", r#"{"path": "C:\\a\\b"}"#),
            called("4", CONTEXT_DISCARD, &command("grep")),
        ]
        .concat();
        for (words, places) in [
            (r#"grep "foo bar" src"#, vec![1]),
            (r#"grep \"foo bar\" src"#, vec![1]),
            ("cd src\nls", vec![3]),
            ("ls é", vec![5]),
            (r"C:\a\b", vec![7]),
            ("run", vec![1, 3, 5]),
            ("grep", vec![1]),
            ("command", vec![1, 3, 5]),
            ("", vec![]),
            ("nothing", vec![]),
        ] {
            assert_eq!(outputs_of(&transcript, &[words.to_owned()]), [places], "{words}");
        }
        assert_eq!(outputs_of(&transcript, &[]), Vec::<Vec<usize>>::new());
    }
}
