//! Detects the form of an item.

use super::object::{Object, items};
use super::{Form, gemini, responses};

/// Returns the form of an item.
///
/// # Errors
/// Returns the reason if it is not a message.
pub(super) fn form(item: &str) -> Result<Form, String> {
    let kind_of_json = match item.trim_start().as_bytes().first() {
        Some(b'{') => None,
        Some(b'[') => Some("a list"),
        Some(b'"') => Some("a string"),
        Some(b'n') => Some("null"),
        Some(b't' | b'f') => Some("a boolean"),
        _ => Some("a number"),
    };
    if let Some(other) = kind_of_json {
        return Err(format!("it is {other}, not an object"));
    }
    let object = Object::of(item);
    let (role, kind) = (object.text("role").unwrap_or_default(), object.kind());
    if responses::is_item(&kind, object.some("role").is_some()) {
        return Ok(Form::Responses);
    }
    if let Some(parts) = object.some("parts").filter(|_| object.some("content").is_none()) {
        return if gemini::are_parts(parts) {
            Ok(Form::Gemini)
        } else {
            Err("its `parts` are none of Gemini's".to_owned())
        };
    }
    if role == "function" || (object.some("function_call").is_some()) {
        return Ok(Form::FunctionCall);
    }
    if let Some(content) = object.get("content") {
        if let Some(form) = form_of_parts(content)? {
            return Ok(form);
        }
        if object.get("role").is_some() || kind.is_empty() {
            return Ok(Form::Chat);
        }
    }
    if object.get("role").is_some() || object.get("tool_calls").is_some() {
        Ok(Form::Chat)
    } else {
        Err(without_role(&object, &kind))
    }
}

/// Returns the form of a content's parts, if it is not that of chat completions.
fn form_of_parts(content: &str) -> Result<Option<Form>, String> {
    let mut found = None;
    for part in items(content).into_iter().filter(|part| part.starts_with('{')) {
        let object = Object::of(part);
        match &*object.kind() {
            "tool_use" | "tool_result" => return Ok(Some(Form::Anthropic)),
            "input_text" | "output_text" | "input_image" | "input_file" => found = Some(Form::Responses),
            "" if object.get("toolUse").is_some() || object.get("toolResult").is_some() => {
                return Err("its content is in the form of Bedrock's Converse".to_owned());
            }
            _ => {}
        }
    }
    Ok(found)
}

fn without_role(object: &Object<'_>, kind: &str) -> String {
    if !kind.is_empty() {
        let kind: String = kind.chars().take(40).collect();
        return format!("it has no role, and its type {kind:?} is none of an item");
    }
    let names: Vec<String> = object.names().take(5).map(|name| name.chars().take(40).collect()).collect();
    if names.is_empty() {
        "it is an empty object".to_owned()
    } else {
        format!("it has neither a role nor a content, but {}", names.join(", "))
    }
}
