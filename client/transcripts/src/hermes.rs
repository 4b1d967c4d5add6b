//! Rows of the database of Hermes, `state.db`.

use serde_json::{Map, Value, json};

use crate::parts;

/// The prefix of content that is JSON instead of text.
const JSON: &str = "\0json:";

/// A row of the table `messages`. A column that an older version lacks is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// The role of the speaker.
    pub role: String,
    /// The content: a text, or JSON after a prefix.
    pub content: Option<String>,
    /// The tool calls, as JSON.
    pub tool_calls: Option<String>,
    /// The id of the call that this row answers.
    pub tool_call_id: Option<String>,
    /// The tool that gave the answer.
    pub tool_name: Option<String>,
}

/// Returns the message of a row as JSON text, or `None` for a row that is not part of the conversation, such as a
/// system prompt.
#[must_use]
pub fn message(row: &Row) -> Option<String> {
    if !matches!(row.role.as_str(), "user" | "assistant" | "tool") {
        return None;
    }
    let content = match &row.content {
        None => Value::Null,
        Some(text) => match text.strip_prefix(JSON).and_then(parts::json) {
            Some(content) => content,
            None => text.as_str().into(),
        },
    };
    let calls = row.tool_calls.as_deref().and_then(parts::json).filter(Value::is_array);
    let is_empty = matches!(&content, Value::Null) || content.as_str().is_some_and(str::is_empty);
    if is_empty && calls.as_ref().is_none_or(|calls| *calls == json!([])) {
        return None;
    }
    let mut message = Map::new();
    message.insert("role".into(), row.role.as_str().into());
    message.insert("content".into(), content);
    let named = [("tool_call_id", &row.tool_call_id), ("name", &row.tool_name)];
    message.extend(named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.as_deref()?.into()))));
    message.extend(calls.map(|calls| ("tool_calls".to_owned(), calls)));
    Some(Value::Object(message).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_message() {
        let row = |role: &str, content: Option<&str>| Row {
            role: role.into(),
            content: content.map(str::to_owned),
            ..Row::default()
        };
        let calls = r#"[{"id":"1","function":{"name":"ls","arguments":"{}"}}]"#;
        for (row, expect) in [
            (row("user", Some("hello")), Some(json!({ "role": "user", "content": "hello" }))),
            (
                row("user", Some("\0json:[{\"type\": \"text\", \"text\": \"a\"}]")),
                Some(json!({ "role": "user", "content": [{ "type": "text", "text": "a" }] })),
            ),
            (row("user", Some("\0json:[")), Some(json!({ "role": "user", "content": "\0json:[" }))),
            (
                Row { tool_calls: Some(calls.into()), ..row("assistant", None) },
                Some(
                    json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "1", "function": { "name": "ls", "arguments": "{}" } }] }),
                ),
            ),
            (
                Row { tool_call_id: Some("1".into()), tool_name: Some("ls".into()), ..row("tool", Some("a")) },
                Some(json!({ "role": "tool", "content": "a", "tool_call_id": "1", "name": "ls" })),
            ),
            (Row { tool_calls: Some("[".into()), ..row("assistant", Some("")) }, None),
            (row("assistant", None), None),
            (row("system", Some("be kind")), None),
        ] {
            let message = message(&row).map(|text| serde_json::from_str::<Value>(&text).unwrap());
            assert_eq!(message, expect, "{row:?}");
        }
    }
}
