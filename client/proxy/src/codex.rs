//! Codex: the request for a summary.
//!
//! Codex describes each request in the header `x-codex-turn-metadata`, as JSON (seen in 0.171). `request_kind` is
//! `turn` or `compaction`. If a compaction asks the model for a text, `compaction.implementation` is `responses`. Other
//! implementations return an item that only the provider can read, so the proxy leaves them to the provider.

use serde_json::Value;

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

/// Returns the compaction that a request with this metadata asks for. Returns `None` for any other request, and for a
/// compaction whose answer is not a text.
#[must_use]
pub fn compaction(metadata: &str) -> Option<Compaction> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_compaction_by_text_of_the_session_itself_is_answered() {
        let metadata = |kind: &str, by: &str, session: &str, thread: &str| {
            json!({ "request_kind": kind, "session_id": session, "thread_id": thread, "compaction": { "implementation": by }, "context_window_id": "w" })
                .to_string()
        };
        let good = metadata("compaction", "responses", "s", "s");
        assert_eq!(compaction(&good), Some(Compaction { session: "s".into(), window: Some("w".into()) }));
        for metadata in [
            metadata("turn", "responses", "s", "s"),
            metadata("compaction", "responses_compact", "s", "s"),
            metadata("compaction", "responses", "s", "of a subagent"),
            r#"{"request_kind":"compaction"}"#.to_owned(),
            "no JSON".to_owned(),
            String::new(),
        ] {
            assert_eq!(compaction(&metadata), None, "{metadata}");
        }
    }
}
