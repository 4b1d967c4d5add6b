//! The parts of a message as the Gemini API has them, which Qwen Code and Gemini CLI record: `text`, `functionCall` and
//! `functionResponse`.

use serde_json::Value;

use crate::Tally;
use crate::parts::{self, string};

/// What the parts of one message contain.
#[derive(Debug, Default)]
pub(crate) struct Content {
    /// The texts, each on a line of its own.
    pub(crate) text: String,
    /// The calls of tools, in herma's form.
    pub(crate) calls: Vec<Value>,
    /// The results of tools: the id of the call, and the message.
    pub(crate) results: Vec<(String, String)>,
}

impl Content {
    /// Reads parts. `words` returns what counts of a text. Thoughts and parts without text are counted.
    pub(crate) fn read(content: &Value, words: fn(&str) -> Option<&str>, tally: &mut Tally) -> Self {
        let mut read = Self::default();
        for part in parts::each(content) {
            if part.get("thought").and_then(Value::as_bool) == Some(true) {
                tally.add("thought");
            } else if let Some(call) = part.get("functionCall") {
                let field = |name| string(call, name).unwrap_or_default();
                let arguments = call.get("args").unwrap_or(&Value::Null);
                read.calls.push(parts::call(field("id"), field("name"), arguments));
            } else if let Some(result) = part.get("functionResponse") {
                let text = output(result.get("response").unwrap_or(&Value::Null), tally);
                let id = string(result, "id").unwrap_or_default();
                read.results.push((id.to_owned(), parts::result(id, string(result, "name"), &text)));
            } else if part.get("inlineData").or_else(|| part.get("fileData")).is_some() {
                parts::push(&mut read.text, "[file]");
                tally.add("file");
            } else {
                let text = parts::text(part, tally);
                match words(&text) {
                    Some(words) => parts::push(&mut read.text, words),
                    None => tally.add("context of the client"),
                }
            }
        }
        read
    }
}

/// Returns the text of a tool's response: its output, or else its error, or else all of it.
fn output(response: &Value, tally: &mut Tally) -> String {
    let field = |name: &str| response.get(name).filter(|value| !value.is_null() && **value != "");
    let said = field("output").or_else(|| field("error")).unwrap_or(response);
    let text = parts::text(said, tally);
    // What has no text is shown as it is.
    if text.is_empty() && !matches!(said, Value::Null | Value::String(_)) { said.to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_are_text_calls_or_results() {
        let mut tally = Tally::default();
        let all = json!([
            { "text": "one" },
            { "text": "hidden", "thought": true },
            { "text": "<context>" },
            { "functionCall": { "id": "c", "name": "ls", "args": { "path": "/" } } },
            { "functionResponse": { "id": "c", "name": "ls", "response": { "output": "a\nb" } } },
            { "functionResponse": { "id": "d", "name": "ls", "response": { "error": "no" } } },
            { "functionResponse": { "id": "e", "name": "ls", "response": { "rows": 2 } } },
            { "functionResponse": { "id": "f", "name": "ls", "response": { "output": { "rows": 2 } } } },
            { "functionResponse": { "id": "g", "name": "ls", "response": { "output": null, "error": "gone" } } },
            { "functionResponse": { "id": "h", "name": "ls", "response": { "output": "", "error": "late" } } },
            { "functionResponse": { "id": "i", "name": "ls", "response": { "output": 42 } } },
            { "inlineData": { "data": "…", "mimeType": "image/png" } },
        ]);
        let read = Content::read(&all, |text| (!text.starts_with('<')).then_some(text), &mut tally);
        assert_eq!(read.text, "one\n[file]");
        assert_eq!(read.calls, [parts::call("c", "ls", &json!({ "path": "/" }))]);
        let rows = "{\"rows\":2}";
        let expected =
            [("c", "a\nb"), ("d", "no"), ("e", rows), ("f", rows), ("g", "gone"), ("h", "late"), ("i", "42")];
        assert_eq!(read.results, expected.map(|(id, text)| (id.to_owned(), parts::result(id, Some("ls"), text))));
        let counted = |kind: &str| tally.iter().find(|(name, _)| *name == kind).map(|(_, count)| count);
        assert_eq!(["context of the client", "file", "thought"].map(counted), [Some(1); 3]);
        assert_eq!(Content::read(&json!("plain"), |text| Some(text), &mut tally).text, "plain");
    }
}
