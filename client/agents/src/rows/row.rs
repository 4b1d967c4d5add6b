//! Rows of an agent, and the messages of a list that match them.

use herma_base::kept::hash;
use serde_json::{Map, Value, json};

/// Placeholders for pictures and files in the text of a message, each on its own line.
const PLACEHOLDERS: [&str; 5] = ["[image]", "[audio]", "[video]", "[document]", "[file]"];

/// A row of an agent.
#[derive(Debug)]
pub(crate) struct Row {
    is_assistant: bool,
    pub(crate) handle: String,
    text: String,
    /// The text in the form used for comparisons.
    plain: String,
    /// The same of the text as herma keeps it, if that differs.
    kept: Option<String>,
    pub(crate) calls: Vec<String>,
    pub(crate) results: Vec<ToolResult>,
    /// The chars of the arguments of its calls.
    arguments: usize,
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct ToolResult {
    /// The id of the call.
    pub(crate) id: String,
    /// `None` if the agent sent no text.
    text: Option<String>,
    is_error: bool,
    has_picture: bool,
}

impl Row {
    pub(crate) fn read(row: &Value) -> Option<Self> {
        let each = |name: &str| row.get(name).and_then(Value::as_array).into_iter().flatten();
        let text = row.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(Self {
            is_assistant: row.get("role").and_then(Value::as_str) == Some("assistant"),
            handle: row.get("handle")?.as_str()?.to_owned(),
            plain: plain(&text),
            kept: None,
            text,
            calls: each("toolUses").filter_map(id).collect(),
            results: each("toolResults").filter_map(ToolResult::read).collect(),
            arguments: each("toolUses").filter_map(|one| one.get("input")).map(|input| input.to_string().len()).sum(),
        })
    }

    /// Notes the row's text as herma keeps it, if no message of the list has the text as it is.
    pub(crate) fn note_kept(&mut self, list: &[Message], kept: &mut dyn FnMut(&str) -> String) {
        if self.is_words() && !list.iter().any(|message| message.plain == self.plain) {
            self.kept = Some(plain(&kept(&self.text))).filter(|kept| *kept != self.plain);
        }
    }

    /// Returns whether the row has only a text.
    const fn is_words(&self) -> bool {
        !self.plain.is_empty() && self.calls.is_empty() && self.results.is_empty()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.calls.is_empty() && self.results.is_empty()
    }

    /// Returns whether the row is a text of the user.
    pub(crate) const fn is_user_text(&self) -> bool {
        !self.is_assistant && self.results.is_empty() && !self.plain.is_empty()
    }

    /// Returns whether one of the two rows has the result of a call in the other one.
    pub(crate) fn is_paired(&self, other: &Self) -> bool {
        let answers = |one: &Self, other: &Self| one.results.iter().any(|result| other.calls.contains(&result.id));
        answers(self, other) || answers(other, self)
    }

    pub(crate) fn has_picture(&self) -> bool {
        self.results.iter().any(|result| result.has_picture)
    }

    /// Returns a key that identifies the row in later compactions, when it has another handle.
    pub(crate) fn key(&self) -> String {
        match self.calls.first().or_else(|| self.results.first().map(|result| &result.id)) {
            Some(id) => id.clone(),
            None => hash(self.plain.as_bytes()),
        }
    }

    /// Returns the chars of the text, the results and the arguments of the calls.
    pub(crate) fn chars(&self) -> usize {
        self.text.chars().count() + self.results.iter().map(ToolResult::chars).sum::<usize>() + self.arguments
    }

    /// Returns the chars of a rebuilt or new row.
    pub(crate) fn chars_of(row: &Value) -> usize {
        let chars = |value: &Value| value.get("text").and_then(Value::as_str).map_or(0, |text| text.chars().count());
        let results = row.get("toolResults").and_then(Value::as_array).into_iter().flatten();
        chars(row) + results.map(chars).sum::<usize>()
    }

    /// Returns the row without its handle. `shortened` has the new text of each result, or `None` for a result that
    /// stays.
    pub(crate) fn rebuilt(&self, shortened: &[Option<&str>]) -> Value {
        let role = if self.is_assistant { "assistant" } else { "user" };
        let mut row = json!({ "role": role, "text": self.text, "toolUses": [] });
        let results = self.results.iter().zip(shortened).map(|(result, text)| {
            let mut one =
                json!({ "tool_use_id": result.id, "text": text.or(result.text.as_deref()).unwrap_or_default() });
            if result.is_error {
                one["isError"] = true.into();
            }
            one
        });
        let results: Vec<Value> = results.collect();
        if !results.is_empty() {
            row["toolResults"] = results.into();
        }
        row
    }
}

impl ToolResult {
    fn read(result: &Value) -> Option<Self> {
        // The tool's own format of the result.
        let own = result.get("result").unwrap_or(&Value::Null);
        Some(Self {
            id: id(result)?,
            text: result.get("text").and_then(Value::as_str).map(str::to_owned),
            is_error: result.get("isError").and_then(Value::as_bool) == Some(true),
            has_picture: has_picture(own),
        })
    }

    /// Returns the chars of the text; 0 if the agent sent none.
    pub(crate) fn chars(&self) -> usize {
        self.text.as_deref().map_or(0, |text| text.chars().count())
    }
}

/// The parts of a message that identify its row.
pub(crate) struct Message {
    pub(crate) role: &'static str,
    pub(crate) text: String,
    plain: String,
    calls: Vec<String>,
    pub(crate) result: Option<String>,
}

impl Message {
    pub(crate) fn read(message: &Value) -> Self {
        let empty = Map::new();
        let fields = message.as_object().unwrap_or(&empty);
        let string = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let calls = fields.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        let text = string(fields.get("content")).unwrap_or_default().trim().to_owned();
        Self {
            role: if fields.get("role").and_then(Value::as_str) == Some("assistant") { "assistant" } else { "user" },
            plain: plain(&text),
            text,
            calls: calls.filter_map(|call| string(call.get("id"))).collect(),
            result: string(fields.get("tool_call_id")),
        }
    }

    pub(crate) fn is_in(&self, row: &Row) -> bool {
        match &self.result {
            Some(_) => self.is_result_in(row),
            None if !self.calls.is_empty() => self.calls.iter().any(|id| row.calls.contains(id)),
            None => {
                let is_same_role = row.is_assistant == (self.role == "assistant");
                let is_same_text = row.plain == self.plain || row.kept.as_ref() == Some(&self.plain);
                !self.text.is_empty() && is_same_role && row.is_words() && is_same_text
            }
        }
    }

    /// Returns whether the message is a result in a row. One row may have the results of several calls.
    pub(crate) fn is_result_in(&self, row: &Row) -> bool {
        self.result.as_ref().is_some_and(|id| row.results.iter().any(|result| result.id == *id))
    }

    /// Returns whether the message has more placeholders for pictures and files than the row's text.
    pub(crate) fn names_more_files_than(&self, row: &Row) -> bool {
        placeholders(&self.text) > placeholders(&row.text)
    }
}

/// Returns the id of the call whose result is the newest of the agent's rows.
pub(crate) fn newest_result(rows: &Value) -> Option<String> {
    let rows: Vec<Row> = rows.as_array()?.iter().filter_map(Row::read).collect();
    rows.iter().rev().find_map(|row| row.results.last()).map(|result| result.id.clone())
}

/// Returns the key of a row that has only a text. A compaction may give a row a new handle, but not a new key.
pub(crate) fn key(text: &str) -> String {
    hash(plain(text).as_bytes())
}

/// Returns a text without white space and placeholders, in which row and transcript differ.
pub(crate) fn plain(text: &str) -> String {
    let lines = text.lines().filter(|line| !PLACEHOLDERS.contains(&line.trim()));
    lines.flat_map(str::chars).filter(|char| !char.is_whitespace()).collect()
}

fn placeholders(text: &str) -> usize {
    text.lines().filter(|line| PLACEHOLDERS.contains(&line.trim())).count()
}

fn id(one: &Value) -> Option<String> {
    one.get("tool_use_id").and_then(Value::as_str).map(str::to_owned)
}

/// Returns whether a tool returned a picture.
fn has_picture(result: &Value) -> bool {
    match result {
        Value::Object(fields) => {
            let is_image = |name: &str| matches!(fields.get(name), Some(Value::String(kind)) if kind == "image");
            let is_flagged = fields.get("isImage").and_then(Value::as_bool) == Some(true);
            is_flagged || is_image("type") || fields.get("content").is_some_and(has_picture)
        }
        Value::Array(parts) => parts.iter().any(has_picture),
        _ => false,
    }
}
