//! What a client says with an event. Pure.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Chars of a session's id.
const ID: usize = 64;

/// An agent client that calls hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Client {
    /// Anthropic's Claude Code
    ClaudeCode,
    /// OpenAI's Codex CLI
    Codex,
}

impl Client {
    /// The client that names itself so to an MCP server.
    pub fn named_by_mcp(name: &str) -> Option<Self> {
        match name {
            "claude-code" => Some(Self::ClaudeCode),
            "codex-mcp-client" => Some(Self::Codex),
            _ => None,
        }
    }

    /// As it stands in commands, and before the ids of its sessions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }
}

/// An event in the life of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Name {
    /// A session begins, goes on, or goes on after a compaction
    SessionStart,
    /// The user said something
    UserPromptSubmit,
    /// A tool answered
    PostToolUse,
    /// The client is about to compact the conversation itself
    PreCompact,
    /// A turn is over
    Stop,
    /// A subagent is done
    SubagentStop,
    /// A session ends
    SessionEnd,
    /// Claude Code's plugin asks for a shorter conversation
    Compact,
}

impl Name {
    /// Those that stand in a client's settings.
    pub const fn of(client: Client) -> &'static [Self] {
        use Name::{PostToolUse, PreCompact, SessionEnd, SessionStart, Stop, SubagentStop, UserPromptSubmit};
        match client {
            Client::ClaudeCode => {
                &[SessionStart, UserPromptSubmit, PostToolUse, PreCompact, Stop, SubagentStop, SessionEnd]
            }
            Client::Codex => &[SessionStart, UserPromptSubmit, PostToolUse, PreCompact, Stop, SessionEnd],
        }
    }

    /// As it stands in a command.
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

    /// As clients call it.
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

    /// Seconds that a client is told to wait. herma itself gives up before, and the client goes on then.
    pub const fn limit_s(self, client: Client) -> u32 {
        match (self, client) {
            (Self::PreCompact, _) => 25,
            // Codex takes no more for the end of a session.
            (Self::SessionEnd, Client::Codex) => 3,
            _ => 5,
        }
    }

    /// Whether it may take longer than the others.
    pub const fn is_compaction(self) -> bool {
        matches!(self, Self::PreCompact | Self::Compact)
    }
}

/// What a client said. What is missing or odd is as if it had not been said.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    /// The client's id of the session.
    pub(super) id: String,
    /// The file that the client adds the conversation to.
    pub(super) transcript: Option<PathBuf>,
    /// That of a subagent, with its id.
    pub(super) subagent: Option<(String, PathBuf)>,
    /// How a session began, or why it ended.
    pub(super) reason: Option<String>,
    /// The model.
    pub(super) model: Option<String>,
    /// What the user wants of a compaction.
    pub(super) focus: Option<String>,
    /// The whole of it.
    pub(super) value: Value,
}

/// Reads an event. What says no session is of the `current` one, a client's id and its transcript.
///
/// # Errors
/// It is no JSON object, or is of no session.
pub(super) fn read(client: Client, text: &[u8], current: Option<(&str, Option<&Path>)>) -> Result<Event, String> {
    let value = json(text).map_err(|error| format!("the event is no JSON: {error}"))?;
    let string = |name: &str| value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let id = string("session_id").or(current.map(|(id, _)| id)).filter(|id| is_id(id));
    let id = id.ok_or("the event names no session")?.to_owned();
    let path = |name: &str| string(name).map(PathBuf::from).filter(|path| is_transcript(path));
    let agent = string("agent_id").filter(|id| is_id(id) && string("agent_type").is_some());
    let subagent = match client {
        Client::ClaudeCode => agent.zip(path("agent_transcript_path")).map(|(id, path)| (id.to_owned(), path)),
        Client::Codex => None,
    };
    Ok(Event {
        id,
        transcript: path("transcript_path").or_else(|| current.and_then(|(_, path)| path).map(Path::to_owned)),
        subagent,
        reason: string("source").or_else(|| string("reason")).map(str::to_owned),
        model: string("model").map(str::to_owned),
        focus: string("custom_instructions").or_else(|| string("instructions")).map(str::to_owned),
        value,
    })
}

/// JSON; bytes that are no UTF-8, and half a character that programs in JavaScript cut off, count as one that is not known.
fn json(text: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(text).or_else(|error| {
        let text = String::from_utf8_lossy(text);
        let whole = herma_json::replace_lone_surrogates(&text).map_or_else(|| text.clone(), |(text, _)| text.into());
        serde_json::from_str(&whole).map_err(|_| error)
    })
}

/// Whether an id can stand in the name of a file.
pub(super) fn is_id(id: &str) -> bool {
    id.len() <= ID && id.starts_with(|first: char| first.is_ascii_alphanumeric()) && id.bytes().all(is_name)
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Whether a path can be that of a transcript.
fn is_transcript(path: &Path) -> bool {
    path.is_absolute() && path.extension().is_some_and(|ending| ending == "jsonl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_and_what_is_odd_in_it_left_out() {
        let read = |text: &str| read(Client::ClaudeCode, text.as_bytes(), None);
        let event = read(
            r#"{"session_id":"a-1","transcript_path":"/t/a.jsonl","source":"resume","model":"m","agent_id":"x",
                "agent_type":"Explore","agent_transcript_path":"/t/x.jsonl","custom_instructions":null}"#,
        );
        let event = event.unwrap();
        assert_eq!(event.id, "a-1");
        assert_eq!(event.transcript, Some("/t/a.jsonl".into()));
        assert_eq!(event.subagent, Some(("x".into(), "/t/x.jsonl".into())));
        assert_eq!((event.reason.as_deref(), event.model.as_deref(), event.focus), (Some("resume"), Some("m"), None));
        let odd =
            read(r#"{"session_id":"a","transcript_path":"t.jsonl","source":7,"agent_id":"../x","model":""}"#).unwrap();
        assert_eq!((odd.transcript, odd.subagent, odd.reason, odd.model), (None, None, None, None));
        for text in ["", "[]", "{}", r#"{"session_id":"../../x"}"#, r#"{"session_id":""}"#, r#"{"session_id":7}"#] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_names_no_session_is_of_the_current_one() {
        let current = Some(("a", Some(Path::new("/t/a.jsonl"))));
        let event = read(Client::ClaudeCode, b"{}", current).unwrap();
        assert_eq!((event.id.as_str(), event.transcript), ("a", Some("/t/a.jsonl".into())));
    }

    #[test]
    fn a_summarizer_is_no_subagent() {
        let text = r#"{"session_id":"a","agent_id":"x","agent_type":"","agent_transcript_path":"/t/x.jsonl"}"#;
        assert_eq!(read(Client::ClaudeCode, text.as_bytes(), None).unwrap().subagent, None);
    }
}
