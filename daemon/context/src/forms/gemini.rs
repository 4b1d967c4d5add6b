//! Gemini's contents. A call is a `functionCall` part of the model. The user's next content has its result in
//! a `functionResponse` part. Most have no id: the n-th result of a function answers its n-th call in the
//! turn.

use std::borrow::Cow;
use std::collections::HashMap;

use super::object::{Object, Writer, compact, is_object, items, list, only_text, string};
use super::{BLOCK, ITEM, JOINED, METADATA_KEY};
use crate::json;
use crate::message::{Message, Role};

/// The possible names in a part, of which it has at least one.
const NAMES: [&str; 13] = [
    "text",
    "thought",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
    "functionCall",
    "function_call",
    "functionResponse",
    "function_response",
    "executableCode",
    "codeExecutionResult",
    "videoMetadata",
];

/// The beginning of the ids for calls that have none.
const ID: &str = "function/";
/// The name of the field that held the text of a result.
const KEY: &str = "_key";
/// The name of the field that held a call or a result, if it has the spelling of Protocol Buffers.
const SPELLED: &str = "_spelled";
/// The other fields of a part with a call or a result.
const PART: &str = "_part";

/// The number of calls or results without an id in a turn, by function.
pub(super) type Count = HashMap<String, usize>;

/// Whether a value is a list of parts.
pub(super) fn are_parts(parts: &str) -> bool {
    let is_part = |part: &&str| {
        let object = Object::of(part);
        object.some("type").is_none() && NAMES.into_iter().any(|name| object.some(name).is_some())
    };
    json::is_list(parts) && items(parts).iter().all(is_part)
}

/// Reads a content as messages. `results` counts the results of the turn so far.
pub(super) fn read(item: &str, results: &mut Count) -> Vec<String> {
    let object = Object::of(item);
    let (role, mut calls_of_turn) = (object.text("role").unwrap_or(Cow::Borrowed("user")), Count::new());
    let (mut content, mut calls, mut messages) = (Vec::new(), Vec::new(), Vec::new());
    let is_model = role == "model";
    if is_model {
        results.clear();
    }
    for part in items(object.get("parts").unwrap_or_default()) {
        let fields = Object::of(part);
        let either = |one: &'static str, other: &'static str| {
            fields.some(one).map(|value| (one, value)).or_else(|| fields.some(other).map(|value| (other, value)))
        };
        if let Some((name, value)) = either("functionCall", "function_call") {
            calls.push(call(&fields, name, value, &mut calls_of_turn));
        } else if let Some((name, value)) = either("functionResponse", "function_response") {
            messages.push(result(&fields, name, value, results));
        } else {
            content.push(chat_part(&fields, part));
        }
    }
    if !content.is_empty() || !calls.is_empty() || messages.is_empty() {
        let text = match (content.as_slice(), calls.is_empty()) {
            ([only], true) => only_text(only).map_or_else(|| list(&content), str::to_owned),
            _ => list(&content),
        };
        let message = Writer::new("role", if is_model { "assistant" } else { &role }).put("content", &text);
        let message = if calls.is_empty() { message } else { message.put("tool_calls", &list(&calls)) };
        let joined = (!messages.is_empty()).then_some("true");
        messages.push(message.put_some(JOINED, joined).end());
    }
    if let Some(first) = messages.first_mut() {
        let rest = object.without(&["role", "parts"]);
        *first = Writer::empty().put_all(Object::of(first).without(&[])).put_within(ITEM, rest).end();
    }
    messages
}

/// Returns the id of a call or result: its own, or one that is unique in its turn.
fn id(value: &Object<'_>, count: &mut Count) -> String {
    if let Some(id) = has_id(value) {
        return id.to_owned();
    }
    let name = value.text("name").unwrap_or_default();
    let number = count.entry(name.clone().into_owned()).or_default();
    *number += 1;
    json::encode(&format!("{ID}{name}/{number}"))
}

/// Returns the original id of a call or result.
fn has_id<'a>(value: &Object<'a>) -> Option<&'a str> {
    value.get("id").filter(|id| json::is_string(id) && *id != "\"\"")
}

/// Returns the fields of a call or result that are not read: other fields, and null.
fn unread<'s>(value: &'s Object<'_>, read: &'s [&str]) -> impl Iterator<Item = (&'s str, &'s str)> {
    let has_id = has_id(value).is_some();
    let is_read = move |name: &str, value: &str| (read.contains(&name) && value != "null") || (name == "id" && has_id);
    value.without(&[]).filter(move |(name, value)| !is_read(name, value))
}

/// Returns a field's name if it is not spelled as in JSON.
fn snake(field: &str) -> Option<&'static str> {
    match field {
        "function_call" => Some("\"function_call\""),
        "function_response" => Some("\"function_response\""),
        _ => None,
    }
}

fn call(part: &Object<'_>, field: &str, value: &str, count: &mut Count) -> String {
    let call = Object::of(value);
    let arguments = json::encode(&compact(call.some("args").unwrap_or("{}")));
    let function = Writer::empty().put_some("name", call.some("name")).put("arguments", &arguments).end();
    Writer::empty()
        .put("id", &id(&call, count))
        .put("type", "\"function\"")
        .put("function", &function)
        .put_some(SPELLED, snake(field))
        .put_within(PART, part.without(&[field]))
        .put_within(ITEM, unread(&call, &["name", "args"]))
        .end()
}

fn result(part: &Object<'_>, field: &str, value: &str, count: &mut Count) -> String {
    let result = Object::of(value);
    let response = result.some("response").unwrap_or("{}");
    let fields = Object::of(response);
    let mut all = fields.without(&[]);
    let only = all.next().filter(|_| all.next().is_none()).filter(|(_, value)| json::is_string(value));
    let (key, content) = match only {
        // Without a key a text is the output, unless it parses as a whole response.
        Some(("output", text)) if !is_object(&json::decode(text)) => (None, text.to_owned()),
        Some((key, text)) => (Some(json::encode(key)), text.to_owned()),
        None => (None, json::encode(&compact(response))),
    };
    Writer::new("role", "tool")
        .put("tool_call_id", &id(&result, count))
        .put_some("name", result.some("name"))
        .put("content", &content)
        .put_some(KEY, key.as_deref())
        .put_some(SPELLED, snake(field))
        .put_within(PART, part.without(&[field]))
        .put_within(BLOCK, unread(&result, &["name", "response"]))
        .end()
}

/// Returns a part with its type in chat completions; a part without such a type stays as it is.
fn chat_part(fields: &Object<'_>, part: &str) -> String {
    let mime = |name: &str| {
        let data = Object::of(fields.get(name).unwrap_or_default());
        data.text("mimeType").or_else(|| data.text("mime_type")).is_some_and(|mime| mime.starts_with("image/"))
    };
    if let Some(text) = fields.some("text") {
        if fields.get("thought") == Some("true") {
            let rest = fields.without(&["text", "thought"]);
            return Writer::new("type", "thinking").put("thinking", text).put_all(rest).end();
        }
        return Writer::new("type", "text").put("text", text).put_all(fields.without(&["text"])).end();
    }
    if ["inlineData", "inline_data", "fileData", "file_data"].into_iter().any(mime) {
        Writer::new("type", "image").put_all(fields.without(&[])).end()
    } else {
        part.to_owned()
    }
}

/// Returns a result with the name of the called function.
pub(super) fn answering(message: &Message, call: &Object<'_>) -> Message {
    let object = Object::of(message.raw());
    let function = Object::of(call.get("function").unwrap_or_default());
    let name = function.get("name").filter(|_| object.get("name").is_none());
    Message::of_json(Writer::empty().put_all(object.without(&[])).put_some("name", name).end())
}

/// Writes successive messages as contents: results, and the user's words with them, become one.
pub(super) fn write(messages: &[&Message]) -> Vec<String> {
    if messages.iter().any(|message| message.is(Role::Tool)) {
        vec![content(messages)]
    } else {
        messages.iter().map(|message| content(&[message])).collect()
    }
}

fn content(messages: &[&Message]) -> String {
    let mut parts = Vec::new();
    for message in messages {
        let object = Object::of(message.raw());
        if message.is(Role::Tool) {
            parts.push(result_part(&object))
        } else {
            parts.extend(own_parts(&object));
            parts.extend(items(object.get("tool_calls").unwrap_or_default()).into_iter().map(call_part));
        }
    }
    let role = match messages.first().map(|message| message.role()) {
        Some(Role::Assistant) => "model",
        Some(Role::Tool) | None => "user",
        Some(role) => role.as_str(),
    };
    let item = messages.iter().find_map(|message| Object::of(message.raw()).get(ITEM));
    let own = messages.first().map(|message| Object::of(message.raw()));
    let known = [
        "role",
        "content",
        "tool_calls",
        "tool_call_id",
        "name",
        KEY,
        SPELLED,
        PART,
        BLOCK,
        ITEM,
        JOINED,
        METADATA_KEY,
    ];
    Writer::new("role", role)
        .put("parts", &list(&parts))
        .put_all(own.iter().flat_map(|own| own.without(&known)))
        .put_fields(item)
        .end()
}

fn own_parts(object: &Object<'_>) -> Vec<String> {
    let content = object.get("content").unwrap_or_default();
    if json::is_string(content) {
        return if content == "\"\"" { Vec::new() } else { vec![Writer::empty().put("text", content).end()] };
    }
    items(content).into_iter().map(gemini_part).collect()
}

fn gemini_part(part: &str) -> String {
    let fields = Object::of(part);
    match &*fields.kind() {
        "text" => Writer::empty().put_some("text", fields.get("text")).put_all(fields.without(&["type", "text"])).end(),
        "thinking" => Writer::empty()
            .put_some("text", fields.get("thinking"))
            .put("thought", "true")
            .put_all(fields.without(&["type", "thinking"]))
            .end(),
        "image" => Writer::empty().put_all(fields.without(&["type"])).end(),
        _ => part.to_owned(),
    }
}

/// Returns the id, unless `id` generated it for a call without one.
fn own_id(id: Option<&str>) -> Option<&str> {
    id.filter(|id| !string(id).is_some_and(|id| id.starts_with(ID)))
}

/// Returns the function's name in an id generated for a call without one.
fn name_in(id: Option<&str>) -> Option<String> {
    let id = string(id?)?;
    let (name, _) = id.strip_prefix(ID)?.rsplit_once('/')?;
    Some(json::encode(name))
}

fn call_part(call: &str) -> String {
    let call = Object::of(call);
    let function = Object::of(call.get("function").unwrap_or_default());
    let arguments = function.get("arguments").map(json::text_form).unwrap_or_default();
    let arguments =
        if is_object(&arguments) { arguments.into_owned() } else { Writer::new("arguments", &arguments).end() };
    // A call that came without arguments has null among its unread fields.
    let are_null = arguments == "{}" && call.get(ITEM).is_some_and(|item| Object::of(item).get("args").is_some());
    let value = Writer::empty()
        .put_some("id", own_id(call.get("id")))
        .put_some("name", function.get("name"))
        .put_some("args", (!are_null).then_some(arguments.as_str()))
        .put_fields(call.get(ITEM))
        .end();
    let field = call.text(SPELLED).unwrap_or("functionCall".into());
    Writer::empty().put(&field, &value).put_fields(call.get(PART)).end()
}

fn result_part(object: &Object<'_>) -> String {
    let (id, content) = (object.get("tool_call_id"), object.get("content").unwrap_or("\"\""));
    let text = json::text_form(content);
    let response = match object.text(KEY) {
        Some(key) => Writer::empty().put(&key, content).end(),
        None if is_object(&text) => text.into_owned(),
        None => Writer::empty().put("output", content).end(),
    };
    let name = object.get("name").map(str::to_owned).or_else(|| name_in(id));
    let value = Writer::empty()
        .put_some("id", own_id(id))
        .put_some("name", name.as_deref())
        .put("response", &response)
        .put_fields(object.get(BLOCK))
        .end();
    let field = object.text(SPELLED).unwrap_or("functionResponse".into());
    Writer::empty().put(&field, &value).put_fields(object.get(PART)).end()
}
