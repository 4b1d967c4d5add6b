//! What the model said: the items, the id and the usage in an answer that is whole, or in a stream of events.

use serde_json::{Map, Value, json};

use super::{Api, list, word};

/// What the model said.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Said {
    /// The id of the answer.
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The items, in the form in which the agent sends them again.
    pub items: Vec<Value>,
    /// The provider's count of tokens.
    pub usage: Option<Value>,
}

/// Reads an answer. Returns `None` if it is an error, broke off, or can't be parsed.
#[must_use]
pub fn read(api: Api, is_stream: bool, body: &[u8]) -> Option<Said> {
    if !is_stream {
        return whole(api, serde_json::from_slice(body).ok()?);
    }
    let events = events(body);
    match api {
        Api::Messages => messages(&events),
        Api::ChatCompletions => chunks(&events),
        Api::Responses => {
            let is_end =
                |event: &&Value| matches!(word(event, "type"), Some("response.completed" | "response.incomplete"));
            let last = events.iter().find(is_end)?;
            let mut said = whole(api, last.get("response")?.clone())?;
            if said.items.is_empty() {
                // Some servers have the items only in their own events.
                let done = |event: &&Value| word(event, "type") == Some("response.output_item.done");
                said.items = events.iter().filter(done).filter_map(|event| event.get("item").cloned()).collect();
            }
            Some(said)
        }
    }
}

fn whole(api: Api, mut body: Value) -> Option<Said> {
    let items = match api {
        Api::Messages => vec![json!({ "role": "assistant", "content": body.get_mut("content")?.take() })],
        Api::ChatCompletions => vec![body.pointer_mut("/choices/0/message")?.take()],
        Api::Responses => body.get_mut("output")?.as_array_mut().map(std::mem::take)?,
    };
    let text = |name: &str| word(&body, name).map(str::to_owned);
    Some(Said { id: text("id"), model: text("model"), items, usage: usage(&body) })
}

fn usage(body: &Value) -> Option<Value> {
    body.get("usage").filter(|usage| usage.is_object()).cloned()
}

/// Returns the data of a stream of server-sent events (HTML standard, 9.2), without those that are no JSON.
fn events(body: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(body);
    let mut found = Vec::new();
    let mut data = String::new();
    // An event without an empty line behind it is not complete.
    for line in text.split_inclusive('\n').map(|line| line.trim_end_matches(['\n', '\r'])) {
        if line.is_empty() {
            found.extend(serde_json::from_str(&data));
            data.clear();
        } else if let Some(more) = line.strip_prefix("data:") {
            data.push_str(more.strip_prefix(' ').unwrap_or(more));
            data.push('\n');
        }
    }
    found
}

/// Reads a stream of Anthropic's messages.
fn messages(events: &[Value]) -> Option<Said> {
    let mut said = Said::default();
    let mut blocks: Vec<Block> = Vec::new();
    let mut usage = Map::new();
    let mut is_whole = false;
    for event in events {
        match word(event, "type")? {
            "message_start" => {
                let message = event.get("message")?;
                let text = |name: &str| word(message, name).map(str::to_owned);
                (said.id, said.model) = (text("id"), text("model"));
                usage.extend(object(message, "usage"));
            }
            "content_block_start" => blocks.push(Block::new(event.get("content_block")?.clone())),
            "content_block_delta" => blocks.last_mut()?.add(event.get("delta")?),
            "message_delta" => usage.extend(object(event, "usage").into_iter().filter(|(_, count)| !count.is_null())),
            "message_stop" => is_whole = true,
            "error" => return None,
            _ => {}
        }
    }
    said.usage = (!usage.is_empty()).then_some(Value::Object(usage));
    said.items =
        vec![json!({ "role": "assistant", "content": blocks.into_iter().map(Block::done).collect::<Vec<_>>() })];
    is_whole.then_some(said)
}

fn object(value: &Value, name: &str) -> Map<String, Value> {
    value.get(name).and_then(Value::as_object).cloned().unwrap_or_default()
}

/// A block of a message that is being streamed.
struct Block {
    block: Value,
    input: String,
}

impl Block {
    const fn new(block: Value) -> Self {
        Self { block, input: String::new() }
    }

    fn add(&mut self, delta: &Value) {
        for name in ["text", "thinking", "signature"] {
            if let Some(more) = word(delta, name) {
                let text = word(&self.block, name).unwrap_or_default().to_owned() + more;
                if let Some(block) = self.block.as_object_mut() {
                    drop(block.insert(name.to_owned(), Value::String(text)));
                }
            }
        }
        self.input.push_str(word(delta, "partial_json").unwrap_or_default());
    }

    fn done(mut self) -> Value {
        let input = serde_json::from_str(&self.input).ok().zip(self.block.as_object_mut());
        if let Some((input, block)) = input {
            drop(block.insert("input".to_owned(), input));
        }
        self.block
    }
}

/// Reads a stream of chat completions.
fn chunks(events: &[Value]) -> Option<Said> {
    let mut said = Said::default();
    let mut content = String::new();
    let mut calls: Vec<(u64, Value)> = Vec::new();
    let mut is_whole = false;
    for event in events {
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return None;
        }
        let text = |name: &str| word(event, name).map(str::to_owned);
        said.id = said.id.or_else(|| text("id"));
        said.model = said.model.or_else(|| text("model"));
        said.usage = usage(event).or(said.usage);
        let Some(choice) = list(event, "choices").first() else { continue };
        is_whole |= word(choice, "finish_reason").is_some();
        let Some(delta) = choice.get("delta") else { continue };
        content.push_str(word(delta, "content").unwrap_or_default());
        for part in list(delta, "tool_calls") {
            add_call(&mut calls, part);
        }
    }
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into_iter().map(|(_, call)| call).collect();
    }
    said.items = vec![message];
    is_whole.then_some(said)
}

/// Adds a piece of a call to the call that it continues.
fn add_call(calls: &mut Vec<(u64, Value)>, part: &Value) {
    let index = part.get("index").and_then(Value::as_u64).unwrap_or(calls.len() as u64);
    let at = calls.iter().position(|(other, _)| *other == index).unwrap_or_else(|| {
        calls.push((index, json!({ "id": "", "type": "function", "function": { "name": "", "arguments": "" } })));
        calls.len() - 1
    });
    let Some((_, call)) = calls.get_mut(at) else { return };
    for path in ["/id", "/function/name", "/function/arguments"] {
        let more = part.pointer(path).and_then(Value::as_str).unwrap_or_default();
        if let Some(Value::String(text)) = call.pointer_mut(path) {
            text.push_str(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(events: &[Value]) -> Vec<u8> {
        let line = |event: &Value| format!("event: {}\ndata: {event}\n\n", word(event, "type").unwrap_or("x"));
        events.iter().map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn a_stream_says_what_the_whole_answer_says() {
        let called = json!({ "type": "tool_use", "id": "t", "name": "ls", "input": { "path": "/" } });
        let content = json!([{ "type": "text", "text": "hello" }, called]);
        let whole_body =
            json!({ "id": "m", "model": "x", "content": content, "usage": { "input_tokens": 7, "output_tokens": 3 } });
        let events = stream(&[
            json!({ "type": "message_start", "message": { "id": "m", "model": "x", "usage": { "input_tokens": 7, "output_tokens": 1 } } }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
            json!({ "type": "ping" }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "hel" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "lo" } }),
            json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "tool_use", "id": "t", "name": "ls", "input": {} } }),
            json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": "{\"pa" } }),
            json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": "th\":\"/\"}" } }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "input_tokens": null, "output_tokens": 3 } }),
            json!({ "type": "message_stop" }),
        ]);
        let said = read(Api::Messages, false, whole_body.to_string().as_bytes()).unwrap();
        assert_eq!(said.items, [json!({ "role": "assistant", "content": content })]);
        assert_eq!(read(Api::Messages, true, &events), Some(said.clone()));
        let crlf = String::from_utf8(events.clone()).unwrap().replace('\n', "\r\n");
        assert_eq!(read(Api::Messages, true, crlf.as_bytes()), Some(said));
        // What broke off is not kept, wherever it did.
        let end = events.len() - "\n".len();
        for cut in (0..end).step_by(7) {
            assert_eq!(read(Api::Messages, true, &events[..cut]), None, "{cut}");
        }
    }

    #[test]
    fn chat_completions_join_the_pieces_of_calls() {
        let chunk = |delta: Value, end: Value| json!({ "id": "c", "model": "x", "choices": [{ "index": 0, "delta": delta, "finish_reason": end }] });
        let call = |index: u64, more: Value| {
            let mut call = json!({ "index": index });
            call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({ "tool_calls": [call] })
        };
        let mut events = stream(&[
            chunk(json!({ "role": "assistant", "content": "I " }), Value::Null),
            chunk(json!({ "content": "look" }), Value::Null),
            chunk(call(0, json!({ "id": "a", "function": { "name": "ls", "arguments": "" } })), Value::Null),
            chunk(call(1, json!({ "id": "b", "function": { "name": "cat", "arguments": "{}" } })), Value::Null),
            chunk(call(0, json!({ "function": { "arguments": "{\"x\":1}" } })), json!("tool_calls")),
            json!({ "id": "c", "choices": [], "usage": { "prompt_tokens": 4 } }),
        ]);
        events.extend_from_slice(b"data: [DONE]\n\n");
        let said = read(Api::ChatCompletions, true, &events).unwrap();
        let function = |id: &str, name: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
        let calls = json!([function("a", "ls", "{\"x\":1}"), function("b", "cat", "{}")]);
        assert_eq!(said.items, [json!({ "role": "assistant", "content": "I look", "tool_calls": calls })]);
        assert_eq!((said.id.as_deref(), said.usage), (Some("c"), Some(json!({ "prompt_tokens": 4 }))));
        let refused = stream(&[json!({ "error": { "message": "overloaded" } })]);
        assert_eq!(read(Api::ChatCompletions, true, &refused), None);
    }

    #[test]
    fn responses_are_read_from_their_last_event() {
        let item =
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "hi" }] });
        let completed = |output: Value| json!({ "type": "response.completed", "response": { "id": "r", "output": output, "usage": { "input_tokens": 2 } } });
        let done = json!({ "type": "response.output_item.done", "item": item });
        for events in [vec![completed(json!([item]))], vec![done.clone(), completed(json!([]))]] {
            let said = read(Api::Responses, true, &stream(&events)).unwrap();
            assert_eq!((said.id.as_deref(), &said.items), (Some("r"), &vec![item.clone()]));
        }
        assert_eq!(read(Api::Responses, true, &stream(&[done])), None);
        for body in ["", "[]", "{\"error\":{}}", "{\"output\":7}"] {
            assert_eq!(read(Api::Responses, false, body.as_bytes()), None, "{body}");
        }
    }
}
