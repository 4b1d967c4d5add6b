//! The list of programs whose conversations can be imported.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use herma_base::Failure;
use herma_transcripts::{
    Session, Tally, Transcript, antigravity, claude_code, cline, codex, copilot, cursor, gemini_cli, goose, grok, kimi,
    pi, qwen_code,
};
use serde_json::Value;

use super::ids;

/// The name of aider's history.
const AIDER: &str = ".aider.chat.history.md";

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
    /// Returns the id of the session in a file, unless the file itself names another.
    pub(super) id: fn(&Path) -> String,
    /// Whether the program also keeps memory files in its folders.
    pub(super) has_documents: bool,
    /// The format of the files.
    pub(super) format: Format,
    /// The provider of its models and the form of their requests, as the ledger names them, if it says what calls used.
    pub(super) provider: Option<(&'static str, &'static str)>,
}

/// Reads the content of a file into a session, given its id. Counts what it leaves out.
pub(super) type ReadConversation = fn(&str, &Value, &mut Tally) -> Option<Session>;

/// The program whose tables a database has.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tables {
    Cursor,
    Goose,
    Hermes,
    OpenClaw,
    OpenCode,
    Zed,
}

/// The format of a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Format {
    /// JSON lines that the program appends. The function returns the reader of a file, given the session's id.
    Lines(fn(&str) -> Box<dyn Transcript>),
    /// A SQLite database.
    Database(Tables),
    /// A SQLite database, and the lines of older files.
    DatabaseOrLines(Tables, fn(&str) -> Box<dyn Transcript>),
    /// The Markdown of aider, with several conversations.
    Aider,
    /// A JSON file with one conversation.
    Conversation(ReadConversation),
    /// A JSON list of ChatGPT conversations. It may be read from standard input.
    Export,
}

/// All programs.
static SOURCES: [Source; 20] = [
    Source::new(
        "claude-code",
        "Claude Code",
        |_| Ok(vec![folder("CLAUDE_CONFIG_DIR", ".claude")?.join("projects")]),
        |name| name.ends_with(".jsonl"),
        Format::Lines(|name| Box::new(claude_code::Reader::new(name))),
    )
    .with_documents()
    .with_provider("anthropic", "anthropic_messages"),
    Source::new(
        "codex",
        "Codex",
        |_| {
            let folder = folder("CODEX_HOME", ".codex")?;
            Ok(vec![folder.join("sessions"), folder.join("archived_sessions"), folder.join("memories")])
        },
        |name| name.ends_with(".jsonl"),
        Format::Lines(|name| Box::new(codex::Reader::new(name))),
    )
    .with_documents()
    .with_provider("openai", "codex_responses"),
    Source::new(
        "qwen-code",
        "Qwen Code",
        |_| Ok(vec![of("QWEN_RUNTIME_DIR").map_or_else(|| folder("QWEN_HOME", ".qwen"), Ok)?.join("projects")]),
        |name| name.ends_with(".jsonl"),
        Format::Lines(|name| Box::new(qwen_code::Reader::new(name))),
    )
    .with_provider("qwen", "chat_completions"),
    Source::new(
        "gemini-cli",
        "Gemini CLI",
        |_| Ok(vec![of("GEMINI_CLI_HOME").map_or_else(user_home, Ok)?.join(".gemini/tmp")]),
        |name| name.starts_with("session") && name.ends_with(".jsonl"),
        Format::Lines(|name| Box::new(gemini_cli::Reader::new(name))),
    )
    .with_provider("google", "chat_completions"),
    Source::new(
        "pi",
        "pi",
        |_| {
            let sessions = || Ok::<_, Failure>(folder("PI_CODING_AGENT_DIR", ".pi/agent")?.join("sessions"));
            Ok(vec![of("PI_CODING_AGENT_SESSION_DIR").map_or_else(sessions, Ok)?])
        },
        |name| name.ends_with(".jsonl"),
        Format::Lines(|name| Box::new(pi::Reader::new(name))),
    )
    .with_provider("pi", "anthropic_messages"),
    Source::new(
        "omp",
        "Oh My Pi",
        |_| Ok(vec![user_home()?.join(".omp/agent/sessions"), data()?.join("omp/sessions")]),
        |name| name.ends_with(".jsonl"),
        Format::Lines(|name| Box::new(pi::Reader::new(name))),
    )
    .with_provider("omp", "anthropic_messages"),
    Source::new(
        "openclaw",
        "OpenClaw",
        |_| Ok(vec![user_home()?.join(".openclaw/agents")]), // Copies for a way back have names like `ID.checkpoint.ID.jsonl`.
        |name| name.strip_suffix(".jsonl").is_some_and(|id| !id.contains('.')) || name == "openclaw-agent.sqlite",
        Format::DatabaseOrLines(Tables::OpenClaw, |name| Box::new(pi::Reader::new(name))),
    )
    .with_provider("openclaw", "anthropic_messages"),
    Source::new(
        "copilot",
        "GitHub's Copilot CLI",
        |_| Ok(vec![user_home()?.join(".copilot/session-state")]),
        |name| name == "events.jsonl",
        Format::Lines(|name| Box::new(copilot::Reader::new(name))),
    )
    .with_id(ids::of_folder),
    Source::new(
        "cursor",
        "Cursor: its command line and its editor",
        |_| Ok(vec![user_home()?.join(".cursor/projects"), settings()?.join("Cursor/User/globalStorage/state.vscdb")]),
        |name| name.ends_with(".jsonl") || name == "state.vscdb",
        Format::DatabaseOrLines(Tables::Cursor, |name| Box::new(cursor::Reader::new(name))),
    ),
    Source::new(
        "opencode",
        "OpenCode",
        |_| Ok(vec![data()?.join("opencode/opencode.db")]),
        |name| name == "opencode.db",
        Format::Database(Tables::OpenCode),
    )
    .with_provider("opencode", "anthropic_messages"),
    Source::new(
        "goose",
        "Goose",
        |_| Ok(vec![data()?.join("goose/sessions")]),
        |name| name.ends_with(".jsonl") || name == "sessions.db",
        Format::DatabaseOrLines(Tables::Goose, |name| Box::new(goose::Reader::new(name))),
    ),
    Source::new(
        "cline",
        "Cline",
        |_| Ok(vec![user_home()?.join(".cline/data/sessions")]),
        |name| name.ends_with(".messages.json") || name == "api_conversation_history.json",
        Format::Conversation(cline::read),
    )
    .with_id(ids::of_cline),
    Source::new(
        "roo",
        "Roo Code",
        |_| {
            let words =
                "say where its tasks are: the folder globalStorage/rooveterinaryinc.roo-cline/tasks of the editor";
            Err(Failure::Usage(words.into()))
        },
        |name| name == "api_conversation_history.json",
        Format::Conversation(cline::read),
    )
    .with_id(ids::of_cline),
    Source::new(
        "antigravity",
        "Antigravity",
        |_| {
            let folder = user_home()?.join(".gemini");
            Ok(vec![folder.join("antigravity"), folder.join("antigravity-cli")])
        },
        |name| name == "transcript.jsonl",
        Format::Lines(|name| Box::new(antigravity::Reader::new(name))),
    )
    .with_id(ids::of_antigravity),
    Source::new(
        "kimi",
        "Kimi Code",
        |_| Ok(vec![user_home()?.join(".kimi-code/sessions")]),
        |name| name == "wire.jsonl",
        Format::Lines(|name| Box::new(kimi::Reader::new(name))),
    )
    .with_id(ids::of_kimi),
    Source::new(
        "grok",
        "Grok Build",
        |_| Ok(vec![user_home()?.join(".grok/sessions")]),
        |name| name == "updates.jsonl",
        Format::Lines(|name| Box::new(grok::Reader::new(name))),
    )
    .with_id(ids::of_folder),
    Source::new(
        "zed",
        "Zed",
        |_| Ok(vec![data()?.join("zed/threads")]),
        |name| name == "threads.db",
        Format::Database(Tables::Zed),
    ),
    Source::new(
        "aider",
        "aider",
        |_| {
            let folder = std::env::current_dir().map_err(|error| Failure::File(error.to_string()))?;
            let history = folder.ancestors().map(|folder| folder.join(AIDER)).find(|path| path.is_file());
            let words = || format!("say where the history is: there is no {AIDER} in this folder or above it");
            Ok(vec![history.ok_or_else(|| Failure::Usage(words()))?])
        },
        |name| name == AIDER,
        Format::Aider,
    ),
    Source::new(
        "hermes",
        "An agent of the Hermes family",
        |home| Ok(vec![home.join("state.db")]),
        |name| name == "state.db",
        Format::Database(Tables::Hermes),
    ),
    Source::new(
        "chatgpt",
        "An export of ChatGPT",
        |_| {
            let words = "say where the export is: its conversations.json, a folder with it, or - for standard input";
            Err(Failure::Usage(words.into()))
        },
        |name| name.starts_with("conversations") && name.ends_with(".json"),
        Format::Export,
    ),
];

impl Source {
    /// Describes a program whose files are named after their sessions.
    const fn new(
        name: &'static str,
        title: &'static str,
        roots: fn(&Path) -> Result<Vec<PathBuf>, Failure>,
        has_file: fn(&str) -> bool,
        format: Format,
    ) -> Self {
        Self { name, title, roots, has_file, id: ids::of_file, has_documents: false, format, provider: None }
    }

    const fn with_id(self, id: fn(&Path) -> String) -> Self {
        Self { id, ..self }
    }

    const fn with_documents(self) -> Self {
        Self { has_documents: true, ..self }
    }

    const fn with_provider(self, provider: &'static str, api_mode: &'static str) -> Self {
        Self { provider: Some((provider, api_mode)), ..self }
    }

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

/// Returns the folder for the data of programs.
fn data() -> Result<PathBuf, Failure> {
    folder("XDG_DATA_HOME", ".local/share")
}

/// Returns the folder for the settings of programs.
fn settings() -> Result<PathBuf, Failure> {
    if cfg!(target_os = "macos") {
        Ok(user_home()?.join("Library/Application Support"))
    } else {
        folder("XDG_CONFIG_HOME", ".config")
    }
}

fn user_home() -> Result<PathBuf, Failure> {
    of("HOME").ok_or_else(|| Failure::Usage("say which folder; there is no HOME".into()))
}

/// Returns the folder that a variable names.
fn of(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}
