//! Anthropic's messages. A call is a `tool_use` block of the assistant. The user's next message has its
//! result in a `tool_result` block, with the user's own words after all results.

use super::object::{Object, Writer, compact, is_handoff, is_object, items, list, only_text, with_handoff_first};
use super::{BLOCK, ITEM, JOINED, METADATA_KEY};
use crate::json;
use crate::message::{Message, Role};

/// Reads an item with calls or results as messages.
pub(super) fn read(item: &str) -> Vec<String> {
    let object = Object::of(item);
    let blocks = items(object.get("content").unwrap_or_default());
    let kind = |block: &&str| Object::of(block).kind().into_owned();
    if object.text("role").as_deref() == Some("assistant") {
        return vec![assistant(&object, &blocks)];
    }
    let (results, others): (Vec<&str>, Vec<&str>) = blocks.iter().partition(|block| kind(block) == "tool_result");
    let mut messages: Vec<String> = results.into_iter().map(result).collect();
    if !others.is_empty() || messages.is_empty() {
        let content = match (others.as_slice(), messages.is_empty()) {
            // The form of a single text, so that the message is the same with results and without.
            ([only], false) => only_text(only).map_or_else(|| list(&others), str::to_owned),
            _ => list(&others),
        };
        let role = object.get("role").unwrap_or("\"user\"");
        let joined = (!messages.is_empty()).then_some("true");
        messages.push(Writer::empty().put("role", role).put("content", &content).put_some(JOINED, joined).end());
    }
    if let Some(first) = messages.first_mut() {
        let rest = object.without(&["role", "content"]);
        *first = Writer::empty().put_all(Object::of(first).without(&[])).put_within(ITEM, rest).end();
    }
    messages
}

fn assistant(object: &Object<'_>, blocks: &[&str]) -> String {
    let (calls, others): (Vec<&str>, Vec<&str>) =
        blocks.iter().partition(|block| Object::of(block).kind() == "tool_use");
    let others = with_handoff_first(others);
    let calls: Vec<String> = calls.into_iter().map(call).collect();
    let message = Writer::new("role", "assistant").put("content", &list(&others));
    let message = if calls.is_empty() { message } else { message.put("tool_calls", &list(&calls)) };
    message.put_within(ITEM, object.without(&["role", "content"])).end()
}

fn call(block: &str) -> String {
    let block = Object::of(block);
    let function = Writer::empty()
        .put_some("name", block.get("name"))
        .put("arguments", &json::encode(&compact(block.get("input").unwrap_or("{}"))))
        .end();
    Writer::empty()
        .put_some("id", block.get("id"))
        .put("type", "\"function\"")
        .put("function", &function)
        .put_within(ITEM, block.without(&["type", "id", "name", "input"]))
        .end()
}

fn result(block: &str) -> String {
    let block = Object::of(block);
    Writer::new("role", "tool")
        .put_some("tool_call_id", block.get("tool_use_id"))
        .put("content", block.get("content").unwrap_or("null"))
        .put_within(BLOCK, block.without(&["type", "tool_use_id", "content"]))
        .end()
}

/// Writes successive messages as items: results, and the user's words with them, become one.
pub(super) fn write(messages: &[&Message]) -> Vec<String> {
    let has_result = messages.iter().any(|message| message.is(Role::Tool));
    if !has_result {
        return messages.iter().map(|message| alone(message)).collect();
    }
    let mut blocks = Vec::new();
    for message in messages {
        if message.is(Role::Tool) { blocks.push(result_block(message)) } else { blocks.extend(blocks_of(message)) }
    }
    // Results must come first.
    blocks.sort_by_key(|block| Object::of(block).kind() != "tool_result");
    let item = messages.iter().find_map(|message| Object::of(message.raw()).get(ITEM));
    vec![Writer::new("role", "user").put("content", &list(&blocks)).put_fields(item).end()]
}

fn alone(message: &Message) -> String {
    let object = Object::of(message.raw());
    let content = if message.is(Role::Assistant) && !message.tool_calls().is_empty() {
        list(&thoughts_first(blocks_of(message).into_iter().chain(calls_of(&object)).collect()))
    } else {
        match object.get("content") {
            Some(content) if json::is_list(content) => {
                list(&thoughts_first(items(content).into_iter().map(str::to_owned).collect()))
            }
            Some(content) => content.to_owned(),
            None => "[]".to_owned(),
        }
    };
    Writer::empty()
        .put_some("role", object.get("role"))
        .put("content", &content)
        .put_all(object.without(&["role", "content", "tool_calls", ITEM, JOINED, METADATA_KEY]))
        .put_fields(object.get(ITEM))
        .end()
}

/// Returns the blocks of a message's own content.
fn blocks_of(message: &Message) -> Vec<String> {
    let object = Object::of(message.raw());
    match object.get("content") {
        Some(content) if json::is_list(content) => items(content).into_iter().map(str::to_owned).collect(),
        Some(content) if json::is_string(content) && content != "\"\"" => {
            vec![Writer::new("type", "text").put("text", content).end()]
        }
        _ => Vec::new(),
    }
}

fn calls_of<'a>(object: &Object<'a>) -> impl Iterator<Item = String> + use<'a> {
    items(object.get("tool_calls").unwrap_or_default()).into_iter().map(|call| {
        let call = Object::of(call);
        let function = Object::of(call.get("function").unwrap_or_default());
        let arguments = function.get("arguments").map(json::text_form).unwrap_or_default();
        let input =
            if is_object(&arguments) { arguments.into_owned() } else { Writer::new("arguments", &arguments).end() };
        Writer::new("type", "tool_use")
            .put_some("id", call.get("id"))
            .put_some("name", function.get("name"))
            .put("input", &input)
            .put_fields(call.get(ITEM))
            .end()
    })
}

fn result_block(message: &Message) -> String {
    let object = Object::of(message.raw());
    Writer::new("type", "tool_result")
        .put_some("tool_use_id", object.get("tool_call_id"))
        .put_some("content", object.get("content").filter(|content| *content != "null"))
        .put_fields(object.get(BLOCK))
        .end()
}

/// Moves thoughts before the text, as required.
fn thoughts_first(mut blocks: Vec<String>) -> Vec<String> {
    let is_thought = |block: &String| matches!(&*Object::of(block).kind(), "thinking" | "redacted_thinking");
    if blocks.first().is_some_and(is_handoff) {
        let behind = blocks.iter().skip(1).take_while(|block| is_thought(block)).count();
        blocks.get_mut(..=behind).unwrap_or_default().rotate_left(1);
    }
    blocks
}
