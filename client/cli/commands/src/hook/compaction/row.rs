//! Rows of Claude Code, and the messages of a list that they stand for.

use serde_json::{Map, Value, json};

use crate::kept::hash;

/// What stands for a picture or a file in the text of a message, on a line of its own.
const PLACEHOLDERS: [&str; 5] = ["[image]", "[audio]", "[video]", "[document]", "[file]"];

/// A row as the client has it.
#[derive(Debug)]
pub(super) struct Row {
    is_assistant: bool,
    pub(super) handle: String,
    text: String,
    /// The text as it is compared.
    plain: String,
    pub(super) calls: Vec<String>,
    pub(super) results: Vec<Answer>,
    /// Chars of the arguments of its calls.
    arguments: usize,
}

/// A result in a row.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) id: String,
    /// None where the client doesn't say it.
    text: Option<String>,
    is_error: bool,
    has_picture: bool,
}

impl Row {
    pub(super) fn read(row: &Value) -> Option<Self> {
        let each = |name: &str| row.get(name).and_then(Value::as_array).into_iter().flatten();
        let text = row.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(Self {
            is_assistant: row.get("role").and_then(Value::as_str) == Some("assistant"),
            handle: row.get("handle")?.as_str()?.to_owned(),
            plain: plain(&text),
            text,
            calls: each("toolUses").filter_map(id).collect(),
            results: each("toolResults").filter_map(Answer::read).collect(),
            arguments: each("toolUses").filter_map(|one| one.get("input")).map(|input| input.to_string().len()).sum(),
        })
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.calls.is_empty() && self.results.is_empty()
    }

    /// Whether it is what the user said.
    pub(super) const fn is_said(&self) -> bool {
        !self.is_assistant && self.results.is_empty() && !self.plain.is_empty()
    }

    /// Whether the calls of the one are answered in the other.
    pub(super) fn is_paired(&self, other: &Self) -> bool {
        let answers = |one: &Self, other: &Self| one.results.iter().any(|result| other.calls.contains(&result.id));
        answers(self, other) || answers(other, self)
    }

    pub(super) fn has_picture(&self) -> bool {
        self.results.iter().any(|result| result.has_picture)
    }

    /// What it is known by when it comes again with another handle.
    pub(super) fn key(&self) -> String {
        match self.calls.first().or_else(|| self.results.first().map(|result| &result.id)) {
            Some(id) => id.clone(),
            None => hash(self.plain.as_bytes()),
        }
    }

    /// Chars of its text, its results and the arguments of its calls.
    pub(super) fn chars(&self) -> usize {
        self.text.chars().count() + self.results.iter().map(Answer::chars).sum::<usize>() + self.arguments
    }

    /// The same of a row that is made anew.
    pub(super) fn chars_of(row: &Value) -> usize {
        let chars = |value: &Value| value.get("text").and_then(Value::as_str).map_or(0, |text| text.chars().count());
        let results = row.get("toolResults").and_then(Value::as_array).into_iter().flatten();
        chars(row) + results.map(chars).sum::<usize>()
    }

    /// It without a handle, with these texts for its results; one that is not given stays.
    pub(super) fn anew(&self, shown: &[Option<&str>]) -> Value {
        let role = if self.is_assistant { "assistant" } else { "user" };
        let mut row = json!({ "role": role, "text": self.text, "toolUses": [] });
        let results = self.results.iter().zip(shown).map(|(result, shown)| {
            let mut one =
                json!({ "tool_use_id": result.id, "text": shown.or(result.text.as_deref()).unwrap_or_default() });
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

impl Answer {
    fn read(result: &Value) -> Option<Self> {
        // What the tool itself said, in its own form.
        let own = result.get("result").unwrap_or(&Value::Null);
        Some(Self {
            id: id(result)?,
            text: result.get("text").and_then(Value::as_str).map(str::to_owned),
            is_error: result.get("isError").and_then(Value::as_bool) == Some(true),
            has_picture: has_picture(own),
        })
    }

    /// Chars of its text; none are known of one that the client doesn't say.
    pub(super) fn chars(&self) -> usize {
        self.text.as_deref().map_or(0, |text| text.chars().count())
    }
}

/// What of a message of a list tells which row it is.
pub(super) struct Message {
    pub(super) role: &'static str,
    pub(super) text: String,
    plain: String,
    calls: Vec<String>,
    pub(super) result: Option<String>,
}

impl Message {
    pub(super) fn read(message: &Value) -> Self {
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

    pub(super) fn is_in(&self, row: &Row) -> bool {
        match &self.result {
            Some(_) => self.is_part_of(row),
            None if !self.calls.is_empty() => self.calls.iter().any(|id| row.calls.contains(id)),
            None => {
                let is_same_role = row.is_assistant == (self.role == "assistant");
                let is_words = row.calls.is_empty() && row.results.is_empty();
                !self.text.is_empty() && is_same_role && is_words && row.plain == self.plain
            }
        }
    }

    /// Whether it stands in a row with the message behind it: the answers of one round do.
    pub(super) fn is_part_of(&self, row: &Row) -> bool {
        self.result.as_ref().is_some_and(|id| row.results.iter().any(|result| result.id == *id))
    }

    /// Whether it names pictures or files that the text of its row doesn't.
    pub(super) fn names_more_than(&self, row: &Row) -> bool {
        placeholders(&self.text) > placeholders(&row.text)
    }
}

/// A text as it is compared: client and transcript differ in white space between parts, and in how they name pictures.
pub(super) fn plain(text: &str) -> String {
    let lines = text.lines().filter(|line| !PLACEHOLDERS.contains(&line.trim()));
    lines.flat_map(str::chars).filter(|char| !char.is_whitespace()).collect()
}

fn placeholders(text: &str) -> usize {
    text.lines().filter(|line| PLACEHOLDERS.contains(&line.trim())).count()
}

fn id(one: &Value) -> Option<String> {
    one.get("tool_use_id").and_then(Value::as_str).map(str::to_owned)
}

/// Whether there is a picture in what a tool said.
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
