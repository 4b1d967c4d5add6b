//! The list of programs whose conversations can be imported.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use herma_base::Failure;
use herma_transcripts::{
    Session, Tally, Transcript, antigravity, claude_code, cline, codex, copilot, cursor, gemini_cli, goose, grok, kimi,
    pi, qwen_code,
};
use serde_json::Value;

/// A program that keeps conversations.
#[derive(Debug)]
pub(super) struct Source {
    /// Its name in commands, which also prefixes the ids of its sessions.
    pub(super) name: &'static str,
    /// Its name for people.
    title: &'static str,
    /// Returns the files or folders that are read if no path is given. The argument is the home of an agent of the Hermes
    /// family.
    pub(super) roots: fn(&Path) -> Result<Vec<PathBuf>, Failure>,
    /// Returns whether a file with this name in such a folder belongs to the program.
    pub(super) has_file: fn(&str) -> bool,
    /// Whether the program also keeps memory files in its folders.
    pub(super) has_documents: bool,
    /// The format of the files.
    pub(super) format: Format,
    /// The provider of its models and the form of their requests, as the ledger names them, if it says what calls used.
    pub(super) provider: Option<(&'static str, &'static str)>,
}

/// Reads the content of a file into a session, given the name of the file. Counts what it leaves out.
pub(super) type ReadConversation = fn(&str, &Value, &mut Tally) -> Option<Session>;

/// The format of a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Format {
    /// JSON lines that the program appends. The function returns the reader of a file, given its name without the
    /// extension.
    Lines(fn(&str) -> Box<dyn Transcript>),
    /// The SQLite database of an agent of the Hermes family.
    Hermes,
    /// The SQLite database of OpenCode.
    OpenCode,
    /// The SQLite database of Goose, and the lines of its older files.
    Goose(fn(&str) -> Box<dyn Transcript>),
    /// A JSON file with one conversation.
    Conversation(ReadConversation),
    /// A JSON list of ChatGPT conversations. It may be read from standard input.
    Export,
}

/// All programs.
static SOURCES: [Source; 18] = [
    Source {
        name: "claude-code",
        title: "Claude Code",
        roots: |_| Ok(vec![folder("CLAUDE_CONFIG_DIR", ".claude")?.join("projects")]),
        has_file: |name| name.ends_with(".jsonl"),
        has_documents: true,
        format: Format::Lines(|name| Box::new(claude_code::Reader::new(name))),
        provider: Some(("anthropic", "anthropic_messages")),
    },
    Source {
        name: "codex",
        title: "Codex",
        roots: |_| {
            let folder = folder("CODEX_HOME", ".codex")?;
            Ok(vec![folder.join("sessions"), folder.join("archived_sessions"), folder.join("memories")])
        },
        has_file: |name| name.ends_with(".jsonl"),
        has_documents: true,
        format: Format::Lines(|name| Box::new(codex::Reader::new(name))),
        provider: Some(("openai", "codex_responses")),
    },
    Source {
        name: "qwen-code",
        title: "Qwen Code",
        roots: |_| Ok(vec![of("QWEN_RUNTIME_DIR").map_or_else(|| folder("QWEN_HOME", ".qwen"), Ok)?.join("projects")]),
        has_file: |name| name.ends_with(".jsonl"),
        has_documents: false,
        format: Format::Lines(|name| Box::new(qwen_code::Reader::new(name))),
        provider: Some(("qwen", "chat_completions")),
    },
    Source {
        name: "gemini-cli",
        title: "Gemini CLI",
        roots: |_| Ok(vec![of("GEMINI_CLI_HOME").map_or_else(user_home, Ok)?.join(".gemini/tmp")]),
        has_file: |name| name.starts_with("session") && name.ends_with(".jsonl"),
        has_documents: false,
        format: Format::Lines(|name| Box::new(gemini_cli::Reader::new(name))),
        provider: Some(("google", "chat_completions")),
    },
    Source {
        name: "pi",
        title: "pi",
        roots: |_| {
            let sessions = || Ok::<_, Failure>(folder("PI_CODING_AGENT_DIR", ".pi/agent")?.join("sessions"));
            Ok(vec![of("PI_CODING_AGENT_SESSION_DIR").map_or_else(sessions, Ok)?])
        },
        has_file: |name| name.ends_with(".jsonl"),
        has_documents: false,
        format: Format::Lines(|name| Box::new(pi::Reader::new(name))),
        provider: Some(("pi", "anthropic_messages")),
    },
    Source {
        name: "omp",
        title: "Oh My Pi",
        roots: |_| Ok(vec![user_home()?.join(".omp/agent/sessions")]),
        has_file: |name| name.ends_with(".jsonl"),
        has_documents: false,
        format: Format::Lines(|name| Box::new(pi::Reader::new(name))),
        provider: Some(("omp", "anthropic_messages")),
    },
    Source {
        name: "openclaw",
        title: "OpenClaw",
        roots: |_| Ok(vec![user_home()?.join(".openclaw/agents")]),
        // Copies for a way back have names like `ID.checkpoint.ID.jsonl`.
        has_file: |name| name.strip_suffix(".jsonl").is_some_and(|id| !id.contains('.')),
        has_documents: false,
        format: Format::Lines(|name| Box::new(pi::Reader::new(name))),
        provider: Some(("openclaw", "anthropic_messages")),
    },
    Source {
        name: "copilot",
        title: "GitHub's Copilot CLI",
        roots: |_| Ok(vec![user_home()?.join(".copilot/session-state")]),
        has_file: |name| name == "events.jsonl",
        has_documents: false,
        format: Format::Lines(|name| Box::new(copilot::Reader::new(name))),
        provider: None,
    },
    Source {
        name: "cursor",
        title: "Cursor's command line",
        roots: |_| Ok(vec![user_home()?.join(".cursor/projects")]),
        has_file: |name| name.ends_with(".jsonl"),
        has_documents: false,
        format: Format::Lines(|name| Box::new(cursor::Reader::new(name))),
        provider: None,
    },
    Source {
        name: "opencode",
        title: "OpenCode",
        roots: |_| {
            let data = of("XDG_DATA_HOME").map_or_else(|| Ok::<_, Failure>(user_home()?.join(".local/share")), Ok)?;
            Ok(vec![data.join("opencode/opencode.db")])
        },
        has_file: |name| name == "opencode.db",
        has_documents: false,
        format: Format::OpenCode,
        provider: Some(("opencode", "anthropic_messages")),
    },
    Source {
        name: "goose",
        title: "Goose",
        roots: |_| {
            let data = of("XDG_DATA_HOME").map_or_else(|| Ok::<_, Failure>(user_home()?.join(".local/share")), Ok)?;
            Ok(vec![data.join("goose/sessions")])
        },
        has_file: |name| name.ends_with(".jsonl") || name == "sessions.db",
        has_documents: false,
        format: Format::Goose(|name| Box::new(goose::Reader::new(name))),
        provider: None,
    },
    Source {
        name: "cline",
        title: "Cline",
        roots: |_| Ok(vec![user_home()?.join(".cline/data/sessions")]),
        has_file: |name| name.ends_with(".messages.json") || name == "api_conversation_history.json",
        has_documents: false,
        format: Format::Conversation(cline::read),
        provider: None,
    },
    Source {
        name: "roo",
        title: "Roo Code",
        roots: |_| {
            let words =
                "say where its tasks are: the folder globalStorage/rooveterinaryinc.roo-cline/tasks of the editor";
            Err(Failure::Usage(words.into()))
        },
        has_file: |name| name == "api_conversation_history.json",
        has_documents: false,
        format: Format::Conversation(cline::read),
        provider: None,
    },
    Source {
        name: "antigravity",
        title: "Antigravity",
        roots: |_| {
            let folder = user_home()?.join(".gemini");
            Ok(vec![folder.join("antigravity"), folder.join("antigravity-cli")])
        },
        has_file: |name| name == "transcript.jsonl",
        has_documents: false,
        format: Format::Lines(|name| Box::new(antigravity::Reader::new(name))),
        provider: None,
    },
    Source {
        name: "kimi",
        title: "Kimi Code",
        roots: |_| Ok(vec![user_home()?.join(".kimi-code/sessions")]),
        has_file: |name| name == "wire.jsonl",
        has_documents: false,
        format: Format::Lines(|name| Box::new(kimi::Reader::new(name))),
        provider: None,
    },
    Source {
        name: "grok",
        title: "Grok Build",
        roots: |_| Ok(vec![user_home()?.join(".grok/sessions")]),
        has_file: |name| name == "updates.jsonl",
        has_documents: false,
        format: Format::Lines(|name| Box::new(grok::Reader::new(name))),
        provider: None,
    },
    Source {
        name: "hermes",
        title: "An agent of the Hermes family",
        roots: |home| Ok(vec![home.join("state.db")]),
        has_file: |name| name == "state.db",
        has_documents: false,
        format: Format::Hermes,
        provider: None,
    },
    Source {
        name: "chatgpt",
        title: "An export of ChatGPT",
        roots: |_| {
            let words = "say where the export is: its conversations.json, a folder with it, or - for standard input";
            Err(Failure::Usage(words.into()))
        },
        has_file: |name| name.starts_with("conversations") && name.ends_with(".json"),
        has_documents: false,
        format: Format::Export,
        provider: None,
    },
];

impl Source {
    /// Returns the parser of a name on the command line.
    pub(super) fn parser() -> impl TypedValueParser<Value = &'static Self> {
        let values = SOURCES.iter().map(|source| PossibleValue::new(source.name).help(source.title));
        PossibleValuesParser::new(values).try_map(|name| Self::named(&name).ok_or("there is no such program"))
    }

    /// Returns the source with a name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        SOURCES.iter().find(|source| source.name == name)
    }
}

/// Returns the folder that a variable names, or the folder with this name in the user's home.
fn folder(variable: &str, name: &str) -> Result<PathBuf, Failure> {
    of(variable).map_or_else(|| Ok(user_home()?.join(name)), Ok)
}

fn user_home() -> Result<PathBuf, Failure> {
    of("HOME").ok_or_else(|| Failure::Usage("say which folder; there is no HOME".into()))
}

/// Returns the folder that a variable names.
fn of(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}
