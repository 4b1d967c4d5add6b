//! Codex: the request for a summary, and the answer to it.
//!
//! Codex describes each request in the header `x-codex-turn-metadata`, as JSON (seen in 0.171). `request_kind` is
//! `turn` or `compaction`. If a compaction asks the model for a text, `compaction.implementation` is `responses`. Other
//! implementations return an item that only the provider can read, so the proxy leaves them to the provider.

use serde_json::{Value, json};

/// The header that describes a request.
pub const METADATA: &str = "x-codex-turn-metadata";

/// The compaction implementation whose answer is a text.
const BY_TEXT: &str = "responses";

/// A request for the summary of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    /// Codex's id of the session.
    pub session: String,
    /// Codex's id of the window that ends. A repeated request has the same id. `None` if the request names no window.
    pub window: Option<String>,
}

/// Returns the compaction that a request asks for. Returns `None` for any other request, and for a compaction whose
/// answer is not a text.
#[must_use]
pub fn compaction(method: &str, path: &str, metadata: &str) -> Option<Compaction> {
    if method != "POST" || !path.ends_with("/responses") {
        return None;
    }
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    let word = |path: &str| metadata.pointer(path).and_then(Value::as_str);
    if word("/request_kind") != Some("compaction") || word("/compaction/implementation") != Some(BY_TEXT) {
        return None;
    }
    let session = word("/session_id")?;
    // Another thread of the session is a separate conversation.
    let window = word("/context_window_id").or_else(|| word("/window_id"));
    (word("/thread_id") == Some(session))
        .then(|| Compaction { session: session.to_owned(), window: window.map(str::to_owned) })
}

/// Returns whether a request wants its answer as a stream of events.
#[must_use]
pub fn is_stream(body: &[u8]) -> bool {
    /// All other fields are ignored, whatever their size.
    #[derive(serde::Deserialize)]
    struct Wanted {
        stream: bool,
    }
    serde_json::from_slice::<Wanted>(body).is_ok_and(|wanted| wanted.stream)
}

/// Returns the events of an answer with this text.
#[must_use]
pub fn events(id: &str, text: &str) -> String {
    let response = |status: &str, output: Value, usage: Value| json!({ "id": format!("resp_{id}"), "object": "response", "status": status, "output": output, "usage": usage });
    let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
    let item = json!({
        "type": "message",
        "id": format!("msg_{id}"),
        "role": "assistant",
        "status": "completed",
        "content": content,
    });
    let usage = json!({
        "input_tokens": 0,
        "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": 0,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": 0,
    });
    let events = [
        json!({ "type": "response.created", "response": response("in_progress", json!([]), Value::Null) }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": response("completed", json!([item]), usage) }),
    ];
    let line = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_compaction_by_text_of_the_session_itself_is_answered() {
        let metadata = |kind: &str, by: &str, session: &str, thread: &str| {
            json!({ "request_kind": kind, "session_id": session, "thread_id": thread, "compaction": { "implementation": by }, "context_window_id": "w" })
                .to_string()
        };
        let good = metadata("compaction", "responses", "s", "s");
        assert_eq!(
            compaction("POST", "/v1/responses", &good),
            Some(Compaction { session: "s".into(), window: Some("w".into()) })
        );
        for (method, path, metadata) in [
            ("GET", "/v1/responses", good.as_str()),
            ("POST", "/v1/responses/compact", &good),
            ("POST", "/v1/responses", &metadata("turn", "responses", "s", "s")),
            ("POST", "/v1/responses", &metadata("compaction", "responses_compact", "s", "s")),
            ("POST", "/v1/responses", &metadata("compaction", "responses", "s", "of a subagent")),
            ("POST", "/v1/responses", r#"{"request_kind":"compaction"}"#),
            ("POST", "/v1/responses", "no JSON"),
            ("POST", "/v1/responses", ""),
        ] {
            assert_eq!(compaction(method, path, metadata), None, "{method} {path} {metadata}");
        }
    }

    #[test]
    fn an_answer_is_a_stream_of_events_with_the_text() {
        let text = "the \"handoff\"\nof two lines";
        let events = events("1", text);
        let data: Vec<Value> = events
            .split("\n\n")
            .filter_map(|event| event.split_once("\ndata: "))
            .map(|(_, data)| serde_json::from_str(data).unwrap_or_default())
            .collect();
        assert_eq!(data.len(), 4);
        assert_eq!(data[2]["item"]["content"][0]["text"], text);
        assert_eq!(data[3]["response"]["output"][0], data[2]["item"]);
        assert!(is_stream(br#"{"stream": true}"#));
        assert!(!is_stream(br#"{"stream": false}"#) && !is_stream(b"{") && !is_stream(b"(\xb5/\xfd"));
    }
}
