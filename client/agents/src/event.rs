//! The events of a session and their data. No I/O.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The longest id of a session, in chars.
const ID: usize = 64;

/// An event in the life of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum EventName {
    /// A session begins, is resumed, or continues after a compaction
    SessionStart,
    /// The user sent a message
    UserPromptSubmit,
    /// A tool returned its output
    PostToolUse,
    /// The agent is about to compact the conversation by itself
    PreCompact,
    /// A turn has ended
    Stop,
    /// A subagent has finished
    SubagentStop,
    /// A session ends
    SessionEnd,
    /// Claude Code's plugin asks for a compacted conversation
    Compact,
}

impl EventName {
    /// Returns its name in a command.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::UserPromptSubmit => "user-prompt-submit",
            Self::PostToolUse => "post-tool-use",
            Self::PreCompact => "pre-compact",
            Self::Stop => "stop",
            Self::SubagentStop => "subagent-stop",
            Self::SessionEnd => "session-end",
            Self::Compact => "compact",
        }
    }

    /// Returns its name in the settings of agents.
    #[must_use]
    pub const fn hook(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PostToolUse => "PostToolUse",
            Self::PreCompact => "PreCompact",
            Self::Stop => "Stop",
            Self::SubagentStop => "SubagentStop",
            Self::SessionEnd => "SessionEnd",
            Self::Compact => "session.compact",
        }
    }

    /// Returns whether the event is a compaction, which may take longer than other events.
    #[must_use]
    pub const fn is_compaction(self) -> bool {
        matches!(self, Self::PreCompact | Self::Compact)
    }
}

/// An event. A field that is missing or malformed is `None`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    /// The agent's id of the session.
    pub(crate) id: String,
    /// The file to which the agent adds the conversation.
    pub(crate) transcript: Option<PathBuf>,
    /// The way in which a session began, or the reason why it ended.
    pub(crate) reason: Option<String>,
    /// The model.
    pub(crate) model: Option<String>,
    /// The context length of the model in tokens.
    pub(crate) window: Option<u64>,
    /// The session that this one came out of.
    pub(crate) parent: Option<String>,
    /// The user's instructions for a compaction.
    pub(crate) focus: Option<String>,
    /// The whole event.
    pub(crate) value: Value,
}

/// Parses an event. An event without a session belongs to the `current` one, given by the agent's id and its
/// transcript.
///
/// # Errors
/// It is not a JSON object, or names no session.
pub(crate) fn read(text: &[u8], current: Option<(&str, Option<&Path>)>) -> Result<Event, String> {
    let value = json(text).map_err(|error| format!("the event is no JSON: {error}"))?;
    let string = |name: &str| value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let id = string("session_id").or(current.map(|(id, _)| id)).filter(|id| is_id(id));
    let id = id.ok_or("the event names no session")?.to_owned();
    Ok(Event {
        id,
        transcript: path_of(&value, "transcript_path")
            .or_else(|| current.and_then(|(_, path)| path).map(Path::to_owned)),
        reason: string("source").or_else(|| string("reason")).map(str::to_owned),
        model: string("model").map(str::to_owned),
        window: value.get("context_window").and_then(Value::as_u64).filter(|window| *window > 0),
        parent: id_of(&value, "parent_session_id").map(str::to_owned),
        focus: string("custom_instructions").or_else(|| string("instructions")).map(str::to_owned),
        value,
    })
}

/// Returns the id and the transcript of the subagent of an event. The agent that writes a summary has no type, and is
/// none.
pub(crate) fn subagent(event: &Value) -> Option<(String, PathBuf)> {
    event.get("agent_type")?.as_str().filter(|kind| !kind.is_empty())?;
    Some((id_of(event, "agent_id")?.to_owned(), path_of(event, "agent_transcript_path")?))
}

/// Returns a field of an event with an id that is valid in a file name.
fn id_of<'a>(event: &'a Value, name: &str) -> Option<&'a str> {
    event.get(name)?.as_str().filter(|id| is_id(id))
}

/// Returns the field of an event with the path of a transcript.
fn path_of(event: &Value, name: &str) -> Option<PathBuf> {
    event.get(name)?.as_str().map(PathBuf::from).filter(|path| is_transcript(path))
}

/// Parses JSON. Bytes that are not UTF-8 and lone surrogates, which JavaScript programs may cut off, become replacement
/// characters.
fn json(text: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(text).or_else(|error| {
        let text = String::from_utf8_lossy(text);
        let whole = herma_json::replace_lone_surrogates(&text).map_or_else(|| text.clone(), |(text, _)| text.into());
        serde_json::from_str(&whole).map_err(|_| error)
    })
}

/// Returns whether an id is valid in a file name.
pub(crate) fn is_id(id: &str) -> bool {
    id.len() <= ID && id.starts_with(|first: char| first.is_ascii_alphanumeric()) && id.bytes().all(is_name)
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Returns whether a path can be the path of a transcript.
fn is_transcript(path: &Path) -> bool {
    path.is_absolute() && path.extension().is_some_and(|ending| ending == "jsonl")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_read_and_what_is_odd_in_it_left_out() {
        let read = |text: &str| read(text.as_bytes(), None);
        let event = read(
            r#"{"session_id":"a-1","transcript_path":"/t/a.jsonl","source":"resume","model":"m","agent_id":"x",
                "agent_type":"Explore","agent_transcript_path":"/t/x.jsonl","custom_instructions":null}"#,
        );
        let event = event.unwrap();
        assert_eq!(event.id, "a-1");
        assert_eq!(event.transcript, Some("/t/a.jsonl".into()));
        assert_eq!((event.reason.as_deref(), event.model.as_deref(), event.focus), (Some("resume"), Some("m"), None));
        let odd =
            read(r#"{"session_id":"a","transcript_path":"t.jsonl","source":7,"agent_id":"../x","model":""}"#).unwrap();
        assert_eq!((odd.transcript, odd.reason, odd.model), (None, None, None));
        for text in ["", "[]", "{}", r#"{"session_id":"../../x"}"#, r#"{"session_id":""}"#, r#"{"session_id":7}"#] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_subagent_has_a_type() {
        let event = |kind: Value| json!({ "agent_id": "x", "agent_type": kind, "agent_transcript_path": "/t/x.jsonl" });
        assert_eq!(subagent(&event(json!("Explore"))), Some(("x".into(), "/t/x.jsonl".into())));
        for kind in [json!(""), json!(7), Value::Null] {
            assert_eq!(subagent(&event(kind)), None);
        }
        let odd = json!({ "agent_id": "../x", "agent_type": "Explore", "agent_transcript_path": "/t/x.jsonl" });
        assert_eq!(subagent(&odd), None);
    }

    #[test]
    fn what_names_no_session_is_of_the_current_one() {
        let current = Some(("a", Some(Path::new("/t/a.jsonl"))));
        let event = read(b"{}", current).unwrap();
        assert_eq!((event.id.as_str(), event.transcript), ("a", Some("/t/a.jsonl".into())));
    }
}
