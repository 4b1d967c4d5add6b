//! Schemas of functions, in the three forms that endpoints accept, and the tool that returns them.

use serde_json::{Value, json};

use crate::tokens::own_estimate_text;

/// The tool that returns the schemas of others.
pub const OPEN_TOOLS: &str = "open_tools";

/// The most chars of a tool's line after its name.
const LINE: usize = 100;

/// The cost of the tool that opens others without their lines, in tokens.
pub(super) const OPENER_TOKENS: u64 = 120;

const WORDS: &str = "Gives you the schemas of more tools. The tools below can't be called before: name those that you \
need, all in one call, and they are there from your next message on.";

/// The form of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `{"type": "function", "function": {"name", "description", "parameters"}}`, of chat completions.
    Chat,
    /// `{"name", "description", "input_schema"}`, of Anthropic's messages.
    Messages,
    /// `{"type": "function", "name", "description", "parameters"}`, of OpenAI's responses.
    Responses,
}

/// A tool in the form sent to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The name; `None` for a schema of an unknown form.
    pub name: Option<String>,
    /// The JSON text as given.
    pub raw: String,
    /// The cost in tokens, by estimate.
    pub tokens: u64,
    /// The cost of its line, if its schema is not sent.
    pub line_tokens: u64,
    line: String,
    form: Form,
}

impl Tool {
    /// Reads a schema of any form.
    pub fn read(raw: String) -> Self {
        let schema: Value = serde_json::from_str(&raw).unwrap_or_default();
        let text = |schema: &Value, field: &str| schema.get(field).and_then(Value::as_str).map(str::to_owned);
        let (form, inner) = match (schema.get("function"), schema.get("input_schema")) {
            (Some(function), _) => (Form::Chat, function),
            (None, Some(_)) => (Form::Messages, &schema),
            (None, None) => (Form::Responses, &schema),
        };
        // A tool that the provider itself runs has its own type and no parameters.
        let is_function = form != Form::Responses || text(&schema, "type").as_deref() == Some("function");
        let name = text(inner, "name").filter(|name| is_function && !name.is_empty());
        let line = line(name.as_deref().unwrap_or_default(), &text(inner, "description").unwrap_or_default());
        // A line is written as JSON, and its name also occurs in the list of tools that can be opened.
        let written = format!("{}{},", json!(line), json!(name));
        let (tokens, line_tokens) = (own_estimate_text(&raw), own_estimate_text(&written));
        Self { name, raw, tokens, line_tokens, line, form }
    }
}

/// Returns a tool as one line: its name, and the first sentence of its description.
fn line(name: &str, description: &str) -> String {
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = description.split_inclusive(". ").next().unwrap_or_default().trim_end();
    let short: String = sentence.chars().take(LINE).collect();
    let dots = if short.len() < sentence.len() { "…" } else { "" };
    format!("- {name}: {short}{dots}")
}

/// Returns the tool that opens others, in the form that most tools have; `None` if there is nothing to open.
pub(super) fn opener(tools: &[Tool], stubs: &[&Tool]) -> Option<String> {
    if stubs.is_empty() {
        return None;
    }
    let lines: Vec<&str> = stubs.iter().map(|tool| tool.line.as_str()).collect();
    let names: Vec<&str> = stubs.iter().filter_map(|tool| tool.name.as_deref()).collect();
    let description = format!("{WORDS}\n{}", lines.join("\n"));
    let items = json!({ "type": "string", "enum": names });
    let parameters = json!({
        "type": "object",
        "properties": { "names": { "type": "array", "items": items, "minItems": 1 } },
        "required": ["names"],
    });
    let count = |form| tools.iter().filter(|tool| tool.form == form).count();
    let form = [Form::Chat, Form::Messages, Form::Responses].into_iter().rev().max_by_key(|form| count(*form));
    let schema = match form.unwrap_or(Form::Chat) {
        Form::Chat => {
            json!({ "type": "function", "function": { "name": OPEN_TOOLS, "description": description, "parameters": parameters } })
        }
        Form::Messages => json!({ "name": OPEN_TOOLS, "description": description, "input_schema": parameters }),
        Form::Responses => {
            json!({ "type": "function", "name": OPEN_TOOLS, "description": description, "parameters": parameters })
        }
    };
    Some(schema.to_string())
}
