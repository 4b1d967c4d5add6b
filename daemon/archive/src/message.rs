//! Reads the parts of a message that the archive needs: its role, its calls, its text.

use std::borrow::Cow;

use serde_json::Value;

use crate::lenient;

/// Tools whose results repeat archived content. If their results were searched, a search would find only earlier
/// searches.
const RECALL_TOOLS: [&str; 7] =
    ["recall_search", "recall_expand", "recall_describe", "recall_state", "recall_ask", "output_read", "output_search"];

/// The heading of the section of a handoff that lists the things that its messages name.
pub const STATE_HEADING: &str = "## State of the Work";

/// The field that marks a message with a handoff.
const HANDOFF: &str = "_compressed_summary";

/// The beginning of a handoff, and of the line that ends it. The user's own words may be around it.
const HANDOFF_BEGIN: &str = "[CONTEXT COMPACTION";
const HANDOFF_END: &str = "--- END OF CONTEXT SUMMARY";

/// The tags of the preview of an output. The output itself is a document of its own.
const PREVIEW: [&str; 2] = ["<persisted-output>", "</persisted-output>"];

/// How deep nested parts are searched for text.
const DEPTH: usize = 4;

/// Returns the words of a message that a search may find, one part per line: its text, its text parts, the names and
/// arguments of its calls. Reasoning and images are left out. A body that is no JSON has none.
#[must_use]
pub fn text_of(body: &str) -> String {
    lenient::parse(body).map(|value| text_of_value(&value)).unwrap_or_default()
}

/// Returns the words of a message that are indexed: those of its text, and the name of its author or tool. A handoff
/// and the preview of an output have none. Otherwise a search would find them instead of the messages and the output.
#[must_use]
pub fn searched(body: &str) -> String {
    let Some(value) = lenient::parse(body) else { return String::new() };
    let text = text_of_value(&value);
    let is_flagged = value.get(HANDOFF).and_then(Value::as_bool) == Some(true);
    let is_tool = value.get("role").and_then(Value::as_str) == Some("tool");
    let text = if is_tool { without_preview(&text) } else { without_handoff(&text, is_flagged) };
    // Ollama puts the tool's name into this field of a result.
    let name = value.get("name").or_else(|| value.get("tool_name").filter(|_| is_tool));
    match name.and_then(Value::as_str) {
        Some(name) if !name.is_empty() && !text.is_empty() => format!("{name}\n{text}"),
        _ => text.into_owned(),
    }
}

/// Returns the words around a handoff, or the whole text if it has none. A flagged handoff may have another form.
fn without_handoff(text: &str, is_flagged: bool) -> Cow<'_, str> {
    let Some(begin) = handoff_begin(text).or(is_flagged.then_some(0)) else { return text.into() };
    let before = text[..begin].trim();
    let end = text[begin..].split_once(HANDOFF_END);
    let behind = end.map_or("", |(_, rest)| rest.split_once('\n').map_or("", |(_, behind)| behind)).trim();
    [before, behind].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join("\n").into()
}

/// Returns where a handoff begins: a line with its whole prefix, which begins the text or is followed by an end marker.
/// Words about handoffs have neither.
fn handoff_begin(text: &str) -> Option<usize> {
    text.match_indices(HANDOFF_BEGIN).map(|(at, _)| at).find(|at| {
        let (before, rest) = text.split_at(*at);
        let is_first = before.trim().is_empty();
        let begins_line = is_first || before.trim_end_matches([' ', '\t']).ends_with('\n');
        let is_prefix = rest.lines().next().is_some_and(|line| line.contains(']'));
        begins_line && is_prefix && (is_first || rest.contains(HANDOFF_END))
    })
}

/// Returns the words after the preview of an output, or the whole text if it does not begin with one.
fn without_preview(text: &str) -> Cow<'_, str> {
    let [begin, end] = PREVIEW;
    let behind = text.trim_start().strip_prefix(begin).and_then(|rest| rest.rsplit_once(end));
    behind.map_or(text.into(), |(_, behind)| behind.trim().into())
}

/// The parts of a message that matter here. A field with an unexpected type counts as missing.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Parsed {
    /// Its role; empty when it has none.
    pub(crate) role: String,
    /// Its own `name`, or that of a tool.
    name: Option<String>,
    /// The id of the call that it answers.
    pub(crate) answers: Option<String>,
    /// Its tool calls.
    pub(crate) calls: Vec<Call>,
    /// Whether its content marks itself as recalled.
    says_recalled: bool,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// Its id, usually unique in the conversation.
    pub(crate) id: String,
    /// Whether it calls a recall tool.
    pub(crate) recalls: bool,
}

impl Parsed {
    /// Parses a body. A body that is no JSON object is an empty message. Only the needed fields are parsed: most of a
    /// body is content, which is skipped.
    pub(crate) fn of(body: &str) -> Self {
        let mut parsed = Self::default();
        for (key, value) in herma_json::fields(body) {
            match &*herma_json::decode(key) {
                "role" => parsed.role = string(value).unwrap_or_default(),
                "name" | "tool_name" => parsed.name = string(value).or(parsed.name.take()),
                "tool_call_id" => parsed.answers = string(value),
                "tool_calls" => parsed.calls = items(value).map(Call::of).collect(),
                "content" => parsed.says_recalled = says_recalled(value),
                _ => {}
            }
        }
        parsed
    }

    /// Whether it repeats archived content. `asked` returns whether the call of that id was to a recall tool.
    pub(crate) fn is_recalled<E>(&self, asked: impl FnOnce(&str) -> Result<bool, E>) -> Result<bool, E> {
        if self.says_recalled {
            return Ok(true);
        }
        if self.role != "tool" {
            return Ok(false);
        }
        if self.name.as_deref().is_some_and(recalls) {
            return Ok(true);
        }
        self.answers.as_deref().map_or(Ok(false), asked)
    }
}

impl Call {
    fn of(call: &str) -> Self {
        let id = herma_json::member(call, "id").and_then(string);
        let function = herma_json::member(call, "function");
        let name = function.and_then(|function| herma_json::member(function, "name")).and_then(string);
        Self { id: id.unwrap_or_default(), recalls: name.as_deref().is_some_and(recalls) }
    }
}

fn recalls(tool: &str) -> bool {
    RECALL_TOOLS.contains(&tool)
}

/// Whether a content, as JSON text, is a string with an object that marks itself as recalled. No client writes the
/// letters of the field as escapes, so most contents need not be parsed.
fn says_recalled(content: &str) -> bool {
    content.starts_with('"')
        && content.contains(RECALLED)
        && serde_json::from_str(content).is_ok_and(|content: String| is_recalled_object(&content))
}

/// The field with which an answer marks itself as recalled.
const RECALLED: &str = "recalled";

fn is_recalled_object(content: &str) -> bool {
    content.trim_start().starts_with('{')
        && matches!(lenient::parse(content),
            Some(Value::Object(object)) if object.get(RECALLED) == Some(&Value::Bool(true)))
}

/// Returns the text of a value that is a string.
fn string(value: &str) -> Option<String> {
    value.starts_with('"').then(|| herma_json::decode(value).into_owned())
}

/// Returns the items of a value that is a list.
fn items(value: &str) -> impl Iterator<Item = &str> {
    let mut items = Vec::new();
    if value.starts_with('[') {
        herma_json::items(value, 0, |at| {
            let end = herma_json::value_end(value.as_bytes(), at);
            items.extend(value.get(at..end));
            end
        });
    }
    items.into_iter()
}

fn text_of_value(value: &Value) -> String {
    let mut text = Text::default();
    match value {
        Value::Object(message) => {
            text.content(message.get("content").unwrap_or(&Value::Null), DEPTH);
            text.content(message.get("refusal").unwrap_or(&Value::Null), 0);
            for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                text.call(call.get("function").unwrap_or(&Value::Null));
            }
            text.call(message.get("function_call").unwrap_or(&Value::Null));
        }
        other => text.content(other, DEPTH),
    }
    text.lines
}

/// A text that is put together, one part per line.
#[derive(Default)]
struct Text {
    lines: String,
}

impl Text {
    fn push(&mut self, part: &str) {
        if part.is_empty() {
            return;
        }
        if !self.lines.is_empty() {
            self.lines.push('\n');
        }
        self.lines.push_str(part);
    }

    fn content(&mut self, content: &Value, depth: usize) {
        match content {
            Value::String(text) => self.push(text),
            Value::Array(parts) if depth > 0 => parts.iter().for_each(|part| self.part(part, depth - 1)),
            _ => {}
        }
    }

    fn part(&mut self, part: &Value, depth: usize) {
        let Value::Object(fields) = part else {
            return self.content(part, depth);
        };
        match fields.get("type").and_then(Value::as_str) {
            Some("reasoning" | "thinking" | "redacted_thinking") => {}
            Some("tool_use") => {
                self.content(fields.get("name").unwrap_or(&Value::Null), 0);
                self.values(fields.get("input").unwrap_or(&Value::Null));
            }
            Some("tool_result") => self.content(fields.get("content").unwrap_or(&Value::Null), depth),
            Some("refusal") => self.content(fields.get("refusal").unwrap_or(&Value::Null), 0),
            _ => self.content(fields.get("text").unwrap_or(&Value::Null), 0),
        }
    }

    /// Arguments are usually JSON in a string. Its escapes are undone, so that a word after a line break is a word.
    fn call(&mut self, function: &Value) {
        self.content(function.get("name").unwrap_or(&Value::Null), 0);
        match function.get("arguments") {
            Some(Value::String(raw)) => match serde_json::from_str(raw) {
                Ok(arguments) => self.values(&arguments),
                Err(_) => self.push(raw),
            },
            Some(arguments) => self.values(arguments),
            None => {}
        }
    }

    fn values(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.push(text),
            Value::Number(number) => self.push(&number.to_string()),
            Value::Array(items) => items.iter().for_each(|item| self.values(item)),
            Value::Object(fields) => {
                for (key, field) in fields {
                    self.push(key);
                    self.values(field);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_was_said_or_called() {
        for (body, expect) in [
            (r#"{"role":"user","content":"hello"}"#, "hello"),
            (r#""bare""#, "bare"),
            (
                r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:x"}},"b"]}"#,
                "a\nb",
            ),
            (r#"{"role":"assistant","content":null,"reasoning":"r","reasoning_content":"r"}"#, ""),
            (r#"{"content":[{"type":"reasoning","text":"r"},{"type":"thinking","thinking":"r"}]}"#, ""),
            (
                r#"{"tool_calls":[{"id":"1","function":{"name":"grep","arguments":"{\"pattern\":\"a\\nb\",\"n\":3}"}}]}"#,
                "grep\npattern\na\nb\nn\n3",
            ),
            (r#"{"tool_calls":[{"function":{"name":"grep","arguments":"{broken"}}]}"#, "grep\n{broken"),
            (r#"{"function_call":{"name":"old","arguments":{"a":["b"]}}}"#, "old\na\nb"),
            (
                r#"{"content":[{"type":"tool_use","name":"t","input":{"k":"v"}},{"type":"tool_result","content":[{"type":"text","text":"done"}]}]}"#,
                "t\nk\nv\ndone",
            ),
            (r#"{"content":{"odd":1},"tool_calls":"odd"}"#, ""),
            ("no json", ""),
            ("7", ""),
        ] {
            assert_eq!(text_of(body), expect, "{body}");
        }
    }

    #[test]
    fn who_said_it_is_searched_too() {
        for (body, expect) in [
            (r#"{"role":"user","name":"Ada","content":"hello"}"#, "Ada\nhello"),
            (r#"{"role":"tool","name":"grep","content":"a"}"#, "grep\na"),
            (r#"{"role":"tool","tool_name":"grep","content":"a"}"#, "grep\na"),
            (r#"{"role":"user","tool_name":"grep","content":"a"}"#, "a"),
            (r#"{"role":"user","name":7,"content":"a"}"#, "a"),
            (r#"{"role":"user","name":"","content":"a"}"#, "a"),
            (r#"{"_compressed_summary":true,"content":"of a model's own form"}"#, ""),
            (r#"{"role":"user","content":"[CONTEXT COMPACTION - x] a\n## State of the Work\nfile b"}"#, ""),
            (
                r#"{"role":"user","name":"Ada","content":"before\n\n[CONTEXT COMPACTION - x] a\n--- END OF CONTEXT SUMMARY - y ---\n\nand behind"}"#,
                "Ada\nbefore\nand behind",
            ),
            (r#"{"role":"tool","name":"grep","content":"<persisted-output>\na\n</persisted-output>"}"#, ""),
            (r#"{"role":"tool","content":"<persisted-output>a</persisted-output>\n[exit code 1]"}"#, "[exit code 1]"),
            (r#"{"role":"tool","content":"<persisted-output> is a tag"}"#, "<persisted-output> is a tag"),
            (r#"{"role":"user","content":"<persisted-output> is a tag"}"#, "<persisted-output> is a tag"),
            // Words about a handoff are no handoff.
            (
                r#"{"role":"user","content":"why is [CONTEXT COMPACTION] there? b"}"#,
                "why is [CONTEXT COMPACTION] there? b",
            ),
            (r#"{"role":"user","content":"[CONTEXT COMPACTION is in the log"}"#, "[CONTEXT COMPACTION is in the log"),
            (
                r#"{"role":"user","content":"see:\n[CONTEXT COMPACTION - x] b\nc"}"#,
                "see:\n[CONTEXT COMPACTION - x] b\nc",
            ),
            (r#"{"role":"assistant","content":null,"refusal":"I can't"}"#, "I can't"),
            (r#"{"role":"assistant","content":[{"type":"refusal","refusal":"I won't"}]}"#, "I won't"),
            (r###"{"content":"## State of the Work\na"}"###, "## State of the Work\na"),
            ("no json", ""),
        ] {
            assert_eq!(searched(body), expect, "{body}");
        }
    }

    #[test]
    fn a_recall_is_known_by_its_name_its_call_or_its_word() {
        let asked = |id: &str| Ok::<_, ()>(id == "r");
        for (body, expect) in [
            (r#"{"role":"tool","name":"recall_search","content":"x"}"#, true),
            (r#"{"role":"tool","tool_name":"recall_search","content":"x"}"#, true),
            (r#"{"role":"tool","name":"grep","content":"x"}"#, false),
            (r#"{"role":"user","name":"recall_search","content":"x"}"#, false),
            (r#"{"role":"tool","tool_call_id":"r","content":"x"}"#, true),
            (r#"{"role":"tool","tool_call_id":"s","content":"x"}"#, false),
            (r#"{"role":"user","tool_call_id":"r","content":"x"}"#, false),
            (r#"{"role":"tool","content":" {\"recalled\": true}"}"#, true),
            (r#"{"role":"tool","content":"{\"recalled\": false}"}"#, false),
            (r#"{"role":"tool","content":"{\"a\":{\"recalled\": true}}"}"#, false),
            (r#"{"role":"tool","content":"[{\"recalled\": true}]"}"#, false),
            (r#""recall_search""#, false),
            (r#"{"role":"tool","content":"recalled"}"#, false),
            (r#"{"role":"tool","content":"\n{\u0022recalled\u0022:true}"}"#, true),
            (r#"{"role":"tool","n":1e400,"name":"recall_search","content":7}"#, true),
            (r#"{"role":"user","role":"tool","name":"grep","name":"recall_search"}"#, true),
            (r#"{"role":["tool"],"name":"recall_search"}"#, false),
        ] {
            assert_eq!(Parsed::of(body).is_recalled(asked), Ok(expect), "{body}");
        }
    }

    #[test]
    fn calls_are_read() {
        let body = r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"output_read"}},{"id":"b","function":{"name":"ls"}},7,{"id":8,"function":"x"}]}"#;
        let calls: Vec<_> = Parsed::of(body).calls.into_iter().map(|call| (call.id, call.recalls)).collect();
        assert_eq!(
            calls,
            [("a".to_owned(), true), ("b".to_owned(), false), (String::new(), false), (String::new(), false)]
        );
        assert!(Parsed::of(r#"{"tool_calls":"odd"}"#).calls.is_empty());
    }
}
