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
    /// The results of tools, as messages.
    pub(crate) results: Vec<String>,
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
                read.results.push(parts::result(
                    string(result, "id").unwrap_or_default(),
                    string(result, "name"),
                    &text,
                ));
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

/// Returns the text of a tool's response: its output or its error, else the whole response as JSON.
fn output(response: &Value, tally: &mut Tally) -> String {
    match response.get("output").or_else(|| response.get("error")) {
        Some(text) => parts::text(text, tally),
        None if response.is_object() => response.to_string(),
        None => parts::text(response, tally),
    }
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
            { "inlineData": { "data": "…", "mimeType": "image/png" } },
        ]);
        let read = Content::read(&all, |text| (!text.starts_with('<')).then_some(text), &mut tally);
        assert_eq!(read.text, "one\n[file]");
        assert_eq!(read.calls, [parts::call("c", "ls", &json!({ "path": "/" }))]);
        let expected = [("c", "a\nb"), ("d", "no"), ("e", "{\"rows\":2}")];
        assert_eq!(read.results, expected.map(|(id, text)| parts::result(id, Some("ls"), text)));
        let counted = [("context of the client", 1), ("file", 1), ("thought", 1)];
        assert_eq!(tally.iter().collect::<Vec<_>>(), counted);
        assert_eq!(Content::read(&json!("plain"), |text| Some(text), &mut tally).text, "plain");
    }
}
