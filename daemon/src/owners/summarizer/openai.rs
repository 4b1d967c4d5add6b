//! The chat completions API, as OpenAI and most local servers offer it.

use reqwest::header::AUTHORIZATION;
use serde::Serialize;
use serde_json::Value;

use super::endpoint::{Endpoint, Message};
use super::{Call, Failure, FailureKind, Written, reply};

/// The replacement of `max_tokens` in newer models of OpenAI. They refuse a request with `max_tokens`, with a status of
/// 400 and an error that contains this name.
const NEWER_LIMIT: &str = "max_completion_tokens";

/// The status of a request with invalid content.
const BAD_REQUEST: u16 = 400;

#[derive(Serialize)]
struct Request<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    messages: [Message<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
}

/// Writes a summary. If the request is refused because the model wants its limit under the newer name, it is sent again
/// with that name.
pub(super) async fn write(endpoint: &Endpoint, call: Call<'_>) -> Result<Written, Failure> {
    let model = endpoint.model(call.model, call.main);
    if model.is_none() && endpoint.follows_main(call.model) {
        return Err(Failure::no_provider(format_args!("the model is \"main\", but the session names no model")));
    }
    let request = Request {
        model: model.as_deref(),
        messages: [Message::of_user(call.prompt)],
        max_tokens: Some(call.max_tokens),
        max_completion_tokens: None,
    };
    let body = match send(endpoint, &request).await {
        Err(failure) if failure.status == Some(BAD_REQUEST) && failure.text.contains(NEWER_LIMIT) => {
            let request = Request { max_tokens: None, max_completion_tokens: Some(call.max_tokens), ..request };
            send(endpoint, &request).await?
        }
        other => other?,
    };
    let text = summary(&body)?;
    let answered = || body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Written { text, model: model.unwrap_or_else(answered) })
}

async fn send(endpoint: &Endpoint, request: &Request<'_>) -> Result<Value, Failure> {
    let headers = endpoint.key_header(AUTHORIZATION, "Bearer ")?;
    endpoint.post(&["chat", "completions"], headers, request).await
}

fn summary(body: &Value) -> Result<String, Failure> {
    let content = body.pointer("/choices/0/message").map(|message| message.get("content").unwrap_or(&Value::Null));
    let Some(text) = content.and_then(reply::text_of) else {
        return Err(match reply::complaint(body) {
            Some(words) => Failure::new(FailureKind::Other, words),
            None => Failure::new(FailureKind::Json, "bad JSON: the answer has no choices[0].message.content"),
        });
    };
    let why = body.pointer("/choices/0/finish_reason").and_then(Value::as_str);
    reply::summary(&text, &why.map_or_else(String::new, |why| format!(": finish_reason {why}")))
}
