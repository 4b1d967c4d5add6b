//! Items of OpenAI's Responses: a message, a thought, a call and a result are one item each. Successive
//! thoughts, texts and calls are one turn of the assistant, because a provider refuses a thought without its
//! continuation.

use super::object::{Object, Writer, compact, is_object, items, list, string, with_handoff_first};
use super::{ITEM, METADATA_KEY};
use crate::json;
use crate::message::{Message, Role};

/// Items that a result answers, each with the field for the tool's input.
const CALLS: [(&str, &str); 6] = [
    ("function_call", "arguments"),
    ("custom_tool_call", "input"),
    ("local_shell_call", "action"),
    ("shell_call", "action"),
    ("apply_patch_call", "operation"),
    ("computer_call", "action"),
];

/// The suffix of a result's type after that of its call.
const OUTPUT: &str = "_output";

/// Items of the assistant's turn that have no result.
const NOTES: [&str; 13] = [
    "reasoning",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "compaction",
    "compaction_summary",
    "tool_search_call",
    "tool_search_output",
    "item_reference",
];

/// The user's answer to an approval request of an MCP server.
const APPROVAL: &str = "mcp_approval_response";

/// The role of an item in a turn.
#[derive(PartialEq, Eq)]
enum Part {
    /// A message of the assistant.
    Text,
    Note,
    Call,
    /// A message of another role, or a result.
    Other,
}

/// Whether an object with this type is an item of Responses and of no other form.
pub(super) fn is_item(kind: &str, has_role: bool) -> bool {
    match kind {
        "message" => has_role,
        kind => NOTES.contains(&kind) || kind == APPROVAL || input_of(kind).is_some() || call_of(kind).is_some(),
    }
}

/// Returns the field with the input of a call of this type.
fn input_of(kind: &str) -> Option<&'static str> {
    CALLS.iter().find(|(call, _)| *call == kind).map(|(_, input)| *input)
}

/// Returns the type of the call that a result of this type answers.
fn call_of(kind: &str) -> Option<&'static str> {
    let call = kind.strip_suffix(OUTPUT)?;
    CALLS.iter().map(|(name, _)| *name).find(|name| *name == call)
}

fn part(item: &str) -> Part {
    let object = Object::of(item);
    let kind = object.kind();
    match &*kind {
        kind if NOTES.contains(&kind) => Part::Note,
        kind if input_of(kind).is_some() => Part::Call,
        "message" | "" if object.text("role").as_deref() == Some("assistant") => Part::Text,
        _ => Part::Other,
    }
}

/// Returns the number of items in the first turn: one, or all of one turn of the assistant.
pub(super) fn turn(items: &[String]) -> usize {
    let (mut has_text, mut has_call) = (false, false);
    for (at, item) in items.iter().enumerate() {
        match part(item) {
            Part::Other => return at.max(1),
            // A thought after a text begins the next turn.
            Part::Note if has_text && !has_call => return at,
            Part::Text if has_text => return at,
            Part::Note => {}
            Part::Text => has_text = true,
            Part::Call => has_call = true,
        }
    }
    items.len()
}

/// Reads the items of a turn as a message.
pub(super) fn read(items: &[String]) -> String {
    match items {
        [only] if part(only) == Part::Other => other(only),
        turn => assistant(turn),
    }
}

fn other(item: &str) -> String {
    let object = Object::of(item);
    let kind = object.kind();
    if let Some(call) = call_of(&kind) {
        let rest =
            object.without(&["call_id", "output"]).filter(|(name, _)| *name != "type" || call != "function_call");
        return Writer::new("role", "tool")
            .put_some("tool_call_id", object.get("call_id"))
            .put("content", &in_chat(object.get("output").unwrap_or("null")))
            .put_within(ITEM, rest)
            .end();
    }
    if kind == APPROVAL {
        return Writer::new("role", "user").put("content", &list(&[item])).end();
    }
    Writer::empty()
        .put_some("role", object.get("role"))
        .put("content", &in_chat(object.get("content").unwrap_or("null")))
        .put_within(ITEM, object.without(&["role", "content"]))
        .end()
}

fn assistant(turn: &[String]) -> String {
    let (mut parts, mut calls): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut own = None;
    for item in turn {
        let object = Object::of(item);
        match part(item) {
            Part::Call => calls.push(call(&object)),
            Part::Note | Part::Other => parts.push(item.clone()),
            Part::Text => {
                let content = in_chat(object.get("content").unwrap_or("[]"));
                match string(&content) {
                    Some(text) => parts.push(crate::message::text_part(&text)),
                    None => parts.extend(items(&content).into_iter().map(str::to_owned)),
                }
                own = Some(item);
            }
        }
    }
    let message = Writer::new("role", "assistant").put("content", &list(&with_handoff_first(parts)));
    let message = if calls.is_empty() { message } else { message.put("tool_calls", &list(&calls)) };
    let own = own.map(|item| Object::of(item));
    message.put_within(ITEM, own.iter().flat_map(|own| own.without(&["role", "content"]))).end()
}

fn call(object: &Object<'_>) -> String {
    let kind = object.kind();
    let input = input_of(&kind).unwrap_or("arguments");
    let arguments = object.get(input).map_or_else(
        || "\"\"".to_owned(),
        |value| if json::is_string(value) { value.to_owned() } else { json::encode(&compact(value)) },
    );
    let name = object.get("name").map_or_else(|| json::encode(&kind), str::to_owned);
    let function = Writer::empty().put("name", &name).put("arguments", &arguments).end();
    let mapped = ["call_id", "name", input];
    let rest = object.without(&mapped).filter(|(name, _)| *name != "type" || kind != "function_call");
    Writer::empty()
        .put_some("id", object.get("call_id").or_else(|| object.get("id")))
        .put("type", "\"function\"")
        .put("function", &function)
        .put_within(ITEM, rest)
        .end()
}

/// Renames the texts of a content as in chat completions.
fn in_chat(content: &str) -> String {
    renamed(content, |kind| matches!(kind, "input_text" | "output_text").then_some("text"))
}

/// Renames the texts of a content as in Responses for this role.
fn in_responses(content: &str, role: &Role) -> String {
    let own = if *role == Role::Assistant { "output_text" } else { "input_text" };
    renamed(content, |kind| (kind == "text").then_some(own))
}

fn renamed(content: &str, name: impl Fn(&str) -> Option<&'static str>) -> String {
    if !json::is_list(content) {
        return content.to_owned();
    }
    let parts: Vec<String> = items(content)
        .into_iter()
        .map(|part| {
            let object = Object::of(part);
            match name(&object.kind()) {
                Some(kind) => Writer::new("type", kind).put_all(object.without(&["type"])).end(),
                None => part.to_owned(),
            }
        })
        .collect();
    list(&parts)
}

/// Returns a result with the type that answers this call.
pub(super) fn answering(message: &Message, call: &Object<'_>) -> Message {
    let kind = call.get(ITEM).and_then(|rest| Object::of(rest).text("type"));
    let kind = kind.map(|kind| json::encode(&format!("{kind}{OUTPUT}")));
    let object = Object::of(message.raw());
    let rest = kind.iter().map(|kind| ("type", kind.as_str()));
    Message::of_json(Writer::empty().put_all(object.without(&[])).put_within(ITEM, rest).end())
}

/// Writes a message as items.
pub(super) fn write(message: &Message) -> Vec<String> {
    let object = Object::of(message.raw());
    let item = object.get(ITEM);
    let content = object.get("content").unwrap_or("null");
    if message.is(Role::Tool) {
        let has_type = item.is_some_and(|item| Object::of(item).get("type").is_some());
        let kind = (!has_type).then_some("\"function_call_output\"");
        return vec![
            Writer::empty()
                .put_some("type", kind)
                .put_some("call_id", object.get("tool_call_id"))
                .put("output", &in_responses(if content == "null" { "\"\"" } else { content }, message.role()))
                .put_fields(item)
                .end(),
        ];
    }
    let parts = items(content);
    let is_item = |part: &&str| {
        let kind = Object::of(part).kind();
        NOTES.contains(&&*kind) || kind == APPROVAL
    };
    let (notes, texts): (Vec<&str>, Vec<&str>) = parts.into_iter().partition(is_item);
    let mut items_of_turn: Vec<String> = notes.iter().map(|note| (*note).to_owned()).collect();
    let texts = if json::is_list(content) {
        (!texts.is_empty() || (notes.is_empty() && message.tool_calls().is_empty())).then(|| list(&texts))
    } else {
        (content != "null").then(|| content.to_owned())
    };
    if let Some(texts) = texts {
        items_of_turn.push(
            Writer::empty()
                .put_some("role", object.get("role"))
                .put("content", &in_responses(&texts, message.role()))
                .put_all(object.without(&["role", "content", "tool_calls", ITEM, METADATA_KEY]))
                .put_fields(item)
                .end(),
        );
    }
    items_of_turn.extend(items(object.get("tool_calls").unwrap_or_default()).into_iter().map(call_item));
    items_of_turn
}

fn call_item(call: &str) -> String {
    let call = Object::of(call);
    let function = Object::of(call.get("function").unwrap_or_default());
    let item = call.get(ITEM);
    let kind = item.and_then(|item| Object::of(item).text("type"));
    let kind = kind.as_deref().unwrap_or("function_call");
    let input = input_of(kind).unwrap_or("arguments");
    let arguments = function.get("arguments").unwrap_or("\"\"");
    let text = json::text_form(arguments);
    let is_text = matches!(input, "arguments" | "input");
    let value = if is_text || !is_object(&text) { arguments } else { &text };
    let name = function.get("name").filter(|name| string(name).as_deref() != Some(kind));
    let own_type = (kind == "function_call").then_some("\"function_call\"");
    Writer::empty()
        .put_some("type", own_type)
        .put_some("call_id", call.get("id"))
        .put_some("name", name)
        .put(input, value)
        .put_fields(item)
        .end()
}
