//! Messages in herma's form, and the parts of their content.

use serde_json::{Map, Value, json};

use crate::Tally;

/// The deepest nesting of content that is read.
const DEPTH: usize = 4;

/// The fields of a part that may contain its text. A refusal of the model has its own field.
const TEXTS: [&str; 3] = ["text", "content", "refusal"];

/// Parses a JSON text. A lone surrogate, which JavaScript programs may write, becomes a replacement character.
pub(crate) fn json(text: &str) -> Option<Value> {
    let whole = |_| herma_json::replace_lone_surrogates(text).and_then(|(text, _)| serde_json::from_str(&text).ok());
    serde_json::from_str(text).map_or_else(whole, Some)
}

/// Returns a message with a role and a text.
pub(crate) fn message(role: &str, text: &str) -> String {
    json!({ "role": role, "content": text }).to_string()
}

/// Returns a message of the assistant, or `None` if it has neither text nor calls.
pub(crate) fn assistant(text: &str, calls: Vec<Value>) -> Option<String> {
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    message.insert("content".into(), if text.is_empty() { Value::Null } else { text.into() });
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    Some(Value::Object(message).to_string())
}

/// Returns a tool call. Arguments that are not a string are converted to JSON text.
pub(crate) fn call(id: &str, name: &str, arguments: &Value) -> Value {
    let arguments = match arguments {
        Value::String(text) => text.clone(),
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    };
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

/// Returns the answer of a tool, with the tool's name if it is known.
pub(crate) fn result(id: &str, name: Option<&str>, text: &str) -> String {
    let mut message = json!({ "role": "tool", "tool_call_id": id, "content": text });
    if let (Some(name), Value::Object(fields)) = (name, &mut message) {
        fields.insert("name".into(), name.into());
    }
    message.to_string()
}

/// Returns the text of content: of a string, or of parts, each on its own line. An image or a file becomes a
/// placeholder and is counted. Any other content without text is only counted.
pub(crate) fn text(content: &Value, tally: &mut Tally) -> String {
    let mut text = String::new();
    add(content, DEPTH, &mut text, tally);
    text
}

/// Returns the parts of content. A value that is not a list is one part.
pub(crate) fn each(content: &Value) -> &[Value] {
    match content {
        Value::Array(parts) => parts,
        other => std::slice::from_ref(other),
    }
}

/// Appends a part to a text, after a line break.
pub(crate) fn push(text: &mut String, part: &str) {
    if part.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(part);
}

fn add(content: &Value, depth: usize, text: &mut String, tally: &mut Tally) {
    match content {
        Value::String(part) => push(text, part),
        Value::Array(parts) if depth > 0 => parts.iter().for_each(|part| add(part, depth - 1, text, tally)),
        Value::Object(part) => match TEXTS.iter().find_map(|name| part.get(*name).filter(|text| !text.is_null())) {
            Some(Value::String(part)) => push(text, part),
            Some(parts @ Value::Array(_)) => add(parts, depth.saturating_sub(1), text, tally),
            _ => other(part, text, tally),
        },
        Value::Null => {}
        _ => tally.add("content without text"),
    }
}

/// Adds a placeholder for a part without text, and counts it.
fn other(part: &Map<String, Value>, text: &mut String, tally: &mut Tally) {
    let kind = part.get("type").or_else(|| part.get("content_type")).and_then(Value::as_str).unwrap_or("content");
    let what = ["image", "audio", "video", "document", "file"].into_iter().find(|what| kind.contains(what));
    match what {
        Some(what) => {
            push(text, &format!("[{what}]"));
            tally.add(what);
        }
        None => tally.add(kind),
    }
}

/// Returns a field if it is a string.
pub(crate) fn string<'a>(record: &'a Value, field: &str) -> Option<&'a str> {
    record.get(field).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_of_any_shape_has_a_text_or_is_counted() {
        for (content, expect, counted) in [
            (json!("a"), "a", vec![]),
            (json!(["a", {"type": "text", "text": "b"}, {"type": "input_text", "text": "c"}]), "a\nb\nc", vec![]),
            (json!([{"type": "tool_result", "content": [{"text": "b"}]}]), "b", vec![]),
            (json!([{"type": "image", "source": {"data": "…"}}, "a"]), "[image]\na", vec![("image", 1)]),
            (json!([{"content_type": "image_asset_pointer"}]), "[image]", vec![("image", 1)]),
            (json!([{"type": "thinking", "thinking": "t"}, 7]), "", vec![("content without text", 1), ("thinking", 1)]),
            (json!(null), "", vec![]),
            (
                json!([{"type": "refusal", "refusal": "no"}, {"text": null, "content": null, "refusal": "never"}]),
                "no\nnever",
                vec![],
            ),
            (json!([[[[["deep"]]]]]), "", vec![("content without text", 1)]),
        ] {
            let mut tally = Tally::default();
            assert_eq!(text(&content, &mut tally), expect, "{content}");
            assert_eq!(tally.iter().collect::<Vec<_>>(), counted, "{content}");
        }
    }

    #[test]
    fn half_a_character_hides_no_record() {
        assert_eq!(json(r#"{"a":"x\ud83d"}"#), Some(json!({ "a": "x\u{fffd}" })));
        assert_eq!(json(r#"{"a":"x"#), None);
    }

    #[test]
    fn messages_have_the_form_of_chat_completions() {
        assert_eq!(assistant("", vec![]), None);
        let calls =
            vec![call("1", "ls", &json!({ "path": "/" })), call("2", "raw", &json!("x")), call("", "n", &Value::Null)];
        let message: Value = serde_json::from_str(&assistant("", calls).unwrap()).unwrap();
        assert_eq!(message["content"], Value::Null);
        assert_eq!(message["tool_calls"][0]["function"], json!({ "name": "ls", "arguments": "{\"path\":\"/\"}" }));
        assert_eq!(message["tool_calls"][1]["function"]["arguments"], "x");
        assert_eq!(message["tool_calls"][2]["function"]["arguments"], "{}");
        let message: Value = serde_json::from_str(&result("1", Some("ls"), "a")).unwrap();
        assert_eq!(message, json!({ "role": "tool", "tool_call_id": "1", "name": "ls", "content": "a" }));
    }
}
