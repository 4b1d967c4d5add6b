//! Anthropic's messages API.

use reqwest::header::{HeaderName, HeaderValue};
use serde::Serialize;
use serde_json::Value;

use super::endpoint::{Endpoint, Message};
use super::{Call, Failure, FailureKind, Written, reply};

/// The header for the key.
const KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The header for the API version, and the version.
const VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));

/// The first part of each path, unless the base URL ends with it.
const ROOT: &str = "v1";

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: [Message<'a>; 1],
    max_tokens: u64,
}

/// Writes a summary.
pub(super) async fn write(endpoint: &Endpoint, call: Call<'_>) -> Result<Written, Failure> {
    let model = endpoint.model(call.model, call.main).ok_or_else(|| {
        Failure::no_provider(format_args!(
            "no model is named in [summarizer.anthropic], and the session's runtime is another one"
        ))
    })?;
    let request = Request { model: &model, messages: [Message::of_user(call.prompt)], max_tokens: call.max_tokens };
    let mut headers = endpoint.key_header(KEY, "")?;
    headers.push(VERSION);
    let path = [ROOT, "messages"];
    let path = if endpoint.ends_in(ROOT) { &path[1..] } else { &path[..] };
    let text = summary(&endpoint.post(path, headers, &request).await?)?;
    Ok(Written { text, model })
}

fn summary(body: &Value) -> Result<String, Failure> {
    let Some(text) = body.get("content").and_then(reply::text_of) else {
        return Err(match reply::complaint(body) {
            Some(words) => Failure::new(FailureKind::Other, words),
            None => Failure::new(FailureKind::Json, "bad JSON: the answer has no content"),
        });
    };
    let why = body.get("stop_reason").and_then(Value::as_str);
    reply::summary(&text, &why.map_or_else(String::new, |why| format!(": stop_reason {why}")))
}
