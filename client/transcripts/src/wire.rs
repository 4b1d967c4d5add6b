//! The messages of a request to a model, and of its answer: Anthropic's messages, OpenAI's responses and chat
//! completions. No I/O.

use serde_json::Value;

use crate::anthropic::{self, Tools};
use crate::parts::{self, string};
use crate::{Tally, elements};

/// Elements that agents add to the user's words.
const CONTEXT: [&str; 4] = ["system-reminder", "environment_details", "environment_context", "user_instructions"];

/// Returns the messages of the items from a position on. The items before tell the names of the tools whose results come
/// later.
#[must_use]
pub fn messages<'a>(items: impl IntoIterator<Item = &'a Value>, from: usize) -> Vec<String> {
    let (mut tools, mut tally) = (Tools::new(), Tally::default());
    let said = items.into_iter().map(|item| of_item(item, &mut tools, &mut tally)).skip(from);
    said.flatten().collect()
}

fn of_item(item: &Value, tools: &mut Tools, tally: &mut Tally) -> Vec<String> {
    let content = item.get("content").unwrap_or(&Value::Null);
    let one = |message: Option<String>| message.into_iter().collect();
    match (string(item, "type").unwrap_or("message"), string(item, "role")) {
        ("message", Some("assistant")) => {
            let calls = item.get("tool_calls").map(parts::each).unwrap_or_default();
            if calls.is_empty() {
                one(anthropic::assistant(content, tools, tally))
            } else {
                one(called(content, calls, tools, tally))
            }
        }
        ("message", Some("tool" | "function")) => {
            let id = string(item, "tool_call_id").or_else(|| string(item, "name")).unwrap_or_default();
            one(Some(result(id, content, tools, tally)))
        }
        ("message", Some("user")) => anthropic::messages(item, words, tools, tally),
        (kind, _) if kind.ends_with("_output") => {
            let id = string(item, "call_id").unwrap_or_default();
            one(Some(result(id, item.get("output").unwrap_or(&Value::Null), tools, tally)))
        }
        (kind, _) if kind.ends_with("_call") && item.get("call_id").is_some() => {
            let (id, name) = (string(item, "call_id").unwrap_or_default(), string(item, "name").unwrap_or(kind));
            let arguments = ["arguments", "input", "action"].iter().find_map(|field| item.get(*field));
            tools.insert(id.to_owned(), name.to_owned());
            one(parts::assistant("", vec![parts::call(id, name, arguments.unwrap_or(&Value::Null))]))
        }
        (kind, _) => {
            tally.add(kind);
            Vec::new()
        }
    }
}

/// Returns a message of the assistant with calls in the form of chat completions.
fn called(content: &Value, calls: &[Value], tools: &mut Tools, tally: &mut Tally) -> Option<String> {
    let call = |call: &Value| {
        let function = call.get("function").unwrap_or(&Value::Null);
        let (id, name) = (string(call, "id").unwrap_or_default(), string(function, "name").unwrap_or_default());
        tools.insert(id.to_owned(), name.to_owned());
        parts::call(id, name, function.get("arguments").unwrap_or(&Value::Null))
    };
    let calls = calls.iter().map(call).collect();
    parts::assistant(&parts::text(content, tally), calls)
}

fn result(id: &str, content: &Value, tools: &Tools, tally: &mut Tally) -> String {
    parts::result(id, tools.get(id).map(String::as_str), &parts::text(content, tally))
}

/// Returns what the user said in a part; `None` if the agent added all of it.
fn words(text: &str) -> Option<&str> {
    let (said, added) = elements::without(text, &CONTEXT);
    (added == 0 || !said.is_empty()).then_some(said)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_api_says_the_same() {
        let arguments = "{\"path\":\"/\"}";
        let anthropic = json!([
            { "role": "user", "content": [
                { "type": "text", "text": "<system-reminder>\nx\n</system-reminder>" }, { "type": "text", "text": "look" },
            ] },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "hm" },
                { "type": "tool_use", "id": "c", "name": "ls", "input": { "path": "/" } },
            ] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": "a b" }] },
            { "role": "assistant", "content": [{ "type": "text", "text": "two" }] },
        ]);
        let chat = json!([
            { "role": "user", "content": "look" },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "c", "type": "function", "function": { "name": "ls", "arguments": arguments } },
            ] },
            { "role": "tool", "tool_call_id": "c", "content": [{ "type": "text", "text": "a b" }] },
            { "role": "assistant", "content": "two" },
        ]);
        let responses = json!([
            { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "look" }] },
            { "type": "reasoning", "encrypted_content": "x" },
            { "type": "function_call", "call_id": "c", "name": "ls", "arguments": arguments },
            { "type": "function_call_output", "call_id": "c", "output": "a b" },
            { "role": "assistant", "content": [{ "type": "output_text", "text": "two" }] },
        ]);
        let read = |items: &Value, from| -> Vec<Value> {
            let said = messages(items.as_array().unwrap(), from);
            said.iter().map(|message| serde_json::from_str(message).unwrap()).collect()
        };
        let call = json!({ "id": "c", "type": "function", "function": { "name": "ls", "arguments": arguments } });
        let expected = [
            json!({ "role": "user", "content": "look" }),
            json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
            json!({ "role": "tool", "tool_call_id": "c", "name": "ls", "content": "a b" }),
            json!({ "role": "assistant", "content": "two" }),
        ];
        for (items, second) in [(anthropic, 2), (chat, 2), (responses, 3)] {
            assert_eq!(read(&items, 0), expected, "{items}");
            assert_eq!(read(&items, second), expected[2..], "{items}");
        }
    }

    #[test]
    fn what_is_no_message_is_left_out() {
        for item in [
            json!(7),
            json!({}),
            json!({ "type": "item_reference", "id": "x" }),
            json!({ "role": "critic", "content": "x" }),
        ] {
            assert_eq!(messages([&item], 0), Vec::<String>::new(), "{item}");
        }
    }
}
