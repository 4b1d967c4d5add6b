//! The three APIs of models that the proxy reads: which one a request belongs to, and the parts that they have in
//! common. No I/O.
//!
//! * [`request`]: what a request has of a conversation.
//! * [`answer`]: what the model said, from an answer that is whole or a stream of events.
//! * `frames`: what an agent puts in front of every conversation.
//! * [`reply`]: an answer that the proxy gives itself.

pub mod answer;
mod frames;
pub mod reply;
pub mod request;

use serde_json::Value;

/// An API of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Anthropic's messages.
    Messages,
    /// OpenAI's responses.
    Responses,
    /// OpenAI's chat completions, which most other providers have, too.
    ChatCompletions,
}

impl Api {
    /// Returns the API of a request by its method and the end of its path; `None` if it asks no model.
    #[must_use]
    pub fn of(method: &str, path: &str) -> Option<Self> {
        let path = path.trim_end_matches('/');
        match () {
            () if method != "POST" => None,
            () if path.ends_with("/chat/completions") => Some(Self::ChatCompletions),
            () if path.ends_with("/responses") => Some(Self::Responses),
            () if path.ends_with("/messages") => Some(Self::Messages),
            () => None,
        }
    }

    /// Returns the API's name in the ledger.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Messages => "anthropic_messages",
            Self::Responses => "codex_responses",
            Self::ChatCompletions => "chat_completions",
        }
    }
}

/// Returns the texts of an item's content, joined by line ends: a text, or a list of parts.
#[must_use]
pub fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let of = |part: &Value| match part {
                Value::String(text) => Some(text.clone()),
                part => part.get("text").and_then(Value::as_str).map(str::to_owned),
            };
            parts.iter().filter_map(of).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Returns a text of an object.
fn word<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

/// Returns the items of a list of an object; none if it has no such list.
fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_is_known_by_method_and_path() {
        for (method, path, api) in [
            ("POST", "/v1/messages", Some(Api::Messages)),
            ("POST", "/v1/messages/", Some(Api::Messages)),
            ("POST", "/responses", Some(Api::Responses)),
            ("POST", "/openai/v1/chat/completions", Some(Api::ChatCompletions)),
            ("GET", "/v1/messages", None),
            ("POST", "/v1/messages/count_tokens", None),
            ("POST", "/v1/responses/compact", None),
            ("POST", "/v1/completions", None),
            ("POST", "/v1/messages/batches", None),
        ] {
            assert_eq!(Api::of(method, path), api, "{method} {path}");
        }
    }
}
