//! An answer that the proxy gives itself: one text of the assistant, in the form that the request wants. Its usage is 0,
//! because no model was asked, and agents add up what they are billed.

use serde_json::{Value, json};

use super::Api;
use super::request::Asked;

/// An answer: its content type and its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The header `content-type`.
    pub content_type: &'static str,
    /// The body.
    pub body: String,
}

/// Returns the answer with a text to a request. `id` is a part of its ids, and `now` the time in Unix seconds.
#[must_use]
pub fn reply(asked: &Asked, id: &str, text: &str, now: u64) -> Reply {
    let said = Text { id, model: asked.model.as_deref().unwrap_or("herma"), text, now };
    let (whole, events) = match asked.api {
        Api::Messages => messages(&said),
        Api::ChatCompletions => chat(&said, asked.wants_usage),
        Api::Responses => responses(&said),
    };
    if !asked.is_stream {
        return Reply { content_type: "application/json", body: whole.to_string() };
    }
    let line = |event: &Value| match event.get("type").and_then(Value::as_str) {
        Some(name) => format!("event: {name}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    };
    let mut body: String = events.iter().map(line).collect();
    if asked.api == Api::ChatCompletions {
        body.push_str("data: [DONE]\n\n");
    }
    Reply { content_type: "text/event-stream", body }
}

/// The content of an answer.
struct Text<'a> {
    id: &'a str,
    model: &'a str,
    text: &'a str,
    now: u64,
}

/// Returns the whole answer and its events, in the form of Anthropic's messages.
fn messages(said: &Text<'_>) -> (Value, Vec<Value>) {
    let Text { id, model, text, .. } = *said;
    let usage = json!({
        "input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
    });
    let message = |content: Value, reason: Value| {
        json!({ "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": model, "content": content,
                "stop_reason": reason, "stop_sequence": null, "usage": usage })
    };
    let events = vec![
        json!({ "type": "message_start", "message": message(json!([]), Value::Null) }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn", "stop_sequence": null },
                "usage": { "output_tokens": 0 } }),
        json!({ "type": "message_stop" }),
    ];
    (message(json!([{ "type": "text", "text": text }]), json!("end_turn")), events)
}

/// Returns the whole answer and its events, in the form of chat completions.
fn chat(said: &Text<'_>, wants_usage: bool) -> (Value, Vec<Value>) {
    let Text { id, model, text, now } = *said;
    let usage = json!({ "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0 });
    let answer = |object: &str, choices: Value| json!({ "id": format!("chatcmpl-{id}"), "object": object, "created": now, "model": model, "choices": choices });
    let chunk = |delta: Value, reason: Value| {
        answer("chat.completion.chunk", json!([{ "index": 0, "delta": delta, "finish_reason": reason }]))
    };
    let message = json!({ "role": "assistant", "content": text });
    let mut whole = answer(
        "chat.completion",
        json!([{ "index": 0, "message": message, "logprobs": null, "finish_reason": "stop" }]),
    );
    whole["usage"] = usage.clone();
    let mut events = vec![chunk(message, Value::Null), chunk(json!({}), json!("stop"))];
    if wants_usage {
        let mut last = answer("chat.completion.chunk", json!([]));
        last["usage"] = usage;
        events.push(last);
    }
    (whole, events)
}

/// Returns the whole answer and its events, in the form of responses.
fn responses(said: &Text<'_>) -> (Value, Vec<Value>) {
    let Text { id, model, text, now } = *said;
    let part = json!({ "type": "output_text", "text": text, "annotations": [] });
    let item = |status: &str, content: Value| json!({ "type": "message", "id": format!("msg_{id}"), "role": "assistant", "status": status, "content": content });
    let done = item("completed", json!([part]));
    let response = |status: &str, output: Value, usage: Value| {
        json!({ "id": format!("resp_{id}"), "object": "response", "created_at": now, "model": model, "status": status,
                "output": output, "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "usage": usage })
    };
    let usage = json!({
        "input_tokens": 0, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": 0, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 0,
    });
    let whole = response("completed", json!([done]), usage);
    let at = |kind: &str, more: Value| {
        let mut event = json!({ "type": kind, "item_id": format!("msg_{id}"), "output_index": 0, "content_index": 0 });
        if let (Some(event), Value::Object(more)) = (event.as_object_mut(), more) {
            event.extend(more);
        }
        event
    };
    let empty = json!({ "type": "output_text", "text": "", "annotations": [] });
    let mut events = vec![
        json!({ "type": "response.created", "response": response("in_progress", json!([]), Value::Null) }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item("in_progress", json!([])) }),
        at("response.content_part.added", json!({ "part": empty })),
        at("response.output_text.delta", json!({ "delta": text })),
        at("response.output_text.done", json!({ "text": text })),
        at("response.content_part.done", json!({ "part": part })),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": done }),
        json!({ "type": "response.completed", "response": whole }),
    ];
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    (whole, events)
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;
    use crate::api::{answer, text};

    #[test]
    fn an_answer_of_the_proxy_reads_like_one_of_the_model() {
        let words = "the \"handoff\"\nof two lines, and \u{1f600}";
        for api in [Api::Messages, Api::ChatCompletions, Api::Responses] {
            for is_stream in [true, false] {
                let body = json!({ "model": "m", "stream": is_stream, "messages": [], "input": [] });
                let asked = Asked::read(api, &HeaderMap::new(), body.to_string().as_bytes()).unwrap();
                let reply = reply(&asked, "1", words, 7);
                assert_eq!(reply.content_type == "text/event-stream", is_stream);
                let said = answer::read(api, is_stream, reply.body.as_bytes()).unwrap();
                assert_eq!(text(&said.items[0]["content"]), words, "{api:?} {is_stream}");
                assert_eq!(said.items[0]["role"], "assistant");
            }
        }
    }
}
